#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "alidade/spec/printable_text.hpp"
#include "atlas_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "misspecification_view.hpp"
#include "numbers.hpp"
#include "objective_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct AtlasArguments {
    std::string folder, output, certificates;
    ObjectiveFlags objectives;
    std::optional<double> loss;
    FitFlags fit;
    MisspecificationFlags off;
    int threads = 0;
    bool full = false;
};

AtlasOptions atlas_options(const AtlasArguments& given, const std::vector<AtlasObjective>& objectives,
                           const Shape& shape) {
    AtlasOptions options;
    // A hundredth of what can be had.
    options.loss = given.loss.value_or(static_cast<double>(shape.horizon) / 100);
    if (!given.certificates.empty())
        options.certificates = parse_count(given.certificates, "--certificates", 1);
    options.threads = thread_count(given.threads);
    add_region(given.objectives, objectives, options);
    return options;
}

int atlas(const AtlasArguments& given, const Console& console) {
    if (given.folder.empty())
        throw UserError("no run is given", {"the command line", "an atlas is made of what a run knows",
                                            "alidade atlas RUN --objective NAME --objective NAME"});
    const Run run = open_run(given.folder);
    std::vector<AtlasObjective> objectives = choose_objectives(given.objectives, run.problem(), console);
    const AtlasOptions options = atlas_options(given, objectives, run.problem().shape());
    if (!given.output.empty() && std::filesystem::exists(given.output) && !holds_atlas(given.output) &&
        !std::filesystem::is_empty(given.output))
        throw UserError(fmt::format("'{}' exists and is no atlas", given.output),
                        {"-o", "writing there would destroy what is there", "-o ANOTHER_FOLDER"});
    const AssumedError assumed = assumed_of(given.off);
    const Knowledge knowledge = load_run(run, options.threads, assumed).knowledge;
    const Standing standing = standing_of(run, given.fit, assumed);
    insist(standing, console);
    const Interruption interruption;
    const auto begin = std::chrono::steady_clock::now();
    const AtlasRecord record =
        atlas_of_run(run, knowledge, std::move(objectives), options, console, interruption);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!given.output.empty()) write_atlas_folder(given.output, record, run.problem());
    if (console.json()) {
        ordered_json object = to_json(record, given.full);
        add_standing(object, standing, run.problem());
        if (!given.output.empty()) object["atlas"] = given.output;
        object["seconds"] = seconds;
        object["threads"] = options.threads.count();
        console.object(object);
    } else {
        const Task task = assuming(task_of(run.problem(), run.options()), assumed);
        std::string text = describe(record, seconds, console) + describe_assumed(task) +
                           describe_contradiction(standing, run.problem(), console);
        if (given.output.empty()) {
            text += "  To keep the plans, add -o FOLDER.\n";
        } else {
            std::string weights;
            for (std::size_t i = 0; i < record.objectives.size(); ++i)
                weights += fmt::format("{}{:.3g}", i == 0 ? "" : ",",
                                       1.0 / static_cast<double>(record.objectives.size()));
            text += fmt::format(
                "  Atlas written to {} (pictures: front.svg, weights.svg)\n{}  alidade atlas policy {} "
                "--weights {} --run "
                "{}\n",
                printable(given.output), console.bold("Next"), shell_path(given.output), weights,
                shell_path(given.folder));
        }
        console.result(text);
    }
    return standing.exit_code(exit_code(record.atlas));
}

}  // namespace

void add_atlas(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand(
        "atlas", "Plans for every weighting of several objectives, with one bound for all of them");
    const auto given = std::make_shared<AtlasArguments>();
    command->add_option("RUN", given->folder, "Folder of a run");
    add_objective_flags(*command, given->objectives);
    command->add_option(
        "--loss", given->loss,
        "What a plan may lose at most, in rewards; 0: as little as the data allow [horizon/100]");
    command->add_option("--certificates", given->certificates, "Budget, like 20000 or 2e4 [20000]");
    command->add_option("-o,--output", given->output, "Write plans, cells and pictures to this folder");
    add_fit_flags(*command, given->fit);
    add_misspecification_flags(*command, given->off);
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    command->add_flag("--full", given->full, "With --json: corners, cells and tree as well");
    add_output_flags(*command, chosen);
    add_atlas_policy(*command, chosen);
    add_atlas_check(*command, chosen);
    command->require_subcommand(0, 1);
    command->footer(
        "'Whatever the weighting' is not 'whatever the reward': for that, alidade certify RUN. Exit code: 0 "
        "the loss is met\n"
        "(with --loss 0: the data are the limit), 3 it is not, 4 the data contradict the model, 130 "
        "interrupted: the atlas\n"
        "that was found by then is valid. docs/atlas.md says what is promised.");
    command->callback([=, &chosen] {
        if (command->get_subcommands().empty())
            chosen.work = [given](const Console& console) { return atlas(*given, console); };
    });
}

}  // namespace alidade::app
