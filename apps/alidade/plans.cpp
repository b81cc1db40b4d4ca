#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "alidade/files/policy_file.hpp"
#include "alidade/run/run.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "reward_batch.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct PlansArguments {
    std::string folder, name, output;
    FitFlags fit;
};

ordered_json object_of(const KeptPlan& plan, const Shape& shape) {
    ordered_json object;
    object["name"] = plan.name;
    object["reward"] = plan.reward_name;
    object["planner"] = plan.planner;
    object["episodes"] = plan.episodes;
    object.update(to_json(plan.certificate, shape, plan.reward.scale));
    object["method"] = best_method(plan.certificate);
    object["delta"] = plan.certificate.failure_probability;
    return object;
}

std::string table_of(const std::vector<KeptPlan>& plans, const Shape& shape) {
    std::vector<Table::Column> columns{{"plan", Table::Align::left},
                                       {"reward", Table::Align::left},
                                       {"planner", Table::Align::left},
                                       {"episodes"}};
    for (Table::Column& column : certificate_columns()) columns.push_back(std::move(column));
    Table table(std::move(columns));
    for (const KeptPlan& plan : plans) {
        std::vector<std::string> cells{plan.name, plan.reward_name, plan.planner,
                                       std::to_string(plan.episodes)};
        for (std::string& cell : certificate_cells(plan.certificate, shape, plan.reward.scale))
            cells.push_back(std::move(cell));
        table.add(std::move(cells));
    }
    return table.text();
}

/// One plan alone, if it is asked for by name.
std::vector<KeptPlan> plans_asked_for(const Run& run, const PlansArguments& given) {
    std::vector<KeptPlan> plans = run.kept_plans();
    if (given.name.empty()) return plans;
    std::string names;
    for (const KeptPlan& plan : plans) names += (names.empty() ? "" : ", ") + plan.name;
    std::erase_if(plans, [&](const KeptPlan& plan) { return plan.name != given.name; });
    if (plans.empty())
        throw UserError(
            fmt::format("the run keeps no plan '{}'", given.name),
            {fmt::format("run folder '{}'", given.folder),
             names.empty() ? "it keeps none" : "it keeps " + names,
             fmt::format("alidade plan {} --reward FILE_OR_NAME --keep NAME", shell_path(given.folder))});
    return plans;
}

int plans(const PlansArguments& given, const Console& console) {
    if (!given.output.empty() && given.name.empty())
        throw UserError(
            "-o is given without the name of a plan",
            {"the command line", "one policy is written to one file", "alidade plans RUN NAME -o plan.json"});
    const Run run = open_run(given.folder);
    const Shape& shape = run.problem().shape();
    const std::vector<KeptPlan> found = plans_asked_for(run, given);
    // Bounds that were kept before the data spoke against the model are no bounds any more.
    const Standing standing = standing_of(run, given.fit);
    insist(standing, console);
    if (!given.output.empty()) writing([&] { write_policy(given.output, found.front().policy); });
    if (console.json()) {
        ordered_json object;
        object["plans"] = ordered_json::array();
        for (const KeptPlan& plan : found) object["plans"].push_back(object_of(plan, shape));
        if (!given.output.empty()) object["file"] = given.output;
        add_standing(object, standing, run.problem());
        console.object(object);
        return standing.exit_code(0);
    }
    if (found.empty()) {
        console.result(
            fmt::format("The run keeps no plan. To keep one: alidade plan {} --reward FILE_OR_NAME "
                        "--keep NAME\n",
                        shell_path(given.folder)));
        return standing.exit_code(0);
    }
    std::string text =
        fmt::format("{} {}\n", found.size(), console.bold(found.size() == 1 ? "plan" : "plans")) +
        table_of(found, shape) +
        "  Bounds are those of the moment when a plan was kept; they hold still, all at once, with "
        "the run's probability.\n";
    if (!given.output.empty()) text += fmt::format("  Policy written to {}\n", printable(given.output));
    text += describe_contradiction(standing, run.problem(), console);
    console.result(text);
    return standing.exit_code(0);
}

}  // namespace

void add_plans(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("plans", "Show the plans that are kept in a run");
    const auto given = std::make_shared<PlansArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("NAME", given->name, "Only the plan that was kept under this name");
    command->add_option("-o,--output", given->output, "Write that plan's policy to this .json file");
    add_fit_flags(*command, given->fit);
    add_output_flags(*command, chosen);
    command->footer(
        "alidade plan --keep NAME keeps one.\n"
        "Exit code 4 if the data contradict the model: then no bound is to be relied on.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return plans(*given, console); }; });
}

}  // namespace alidade::app
