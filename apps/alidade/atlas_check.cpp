#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "alidade/audit/atlas_audit.hpp"
#include "alidade/spec/printable_text.hpp"
#include "atlas_view.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "objective_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct AtlasCheckArguments {
    std::string folder, run;
    int threads = 0;
};

/// Bounds are computed again from the same evidence; they may differ by what other machines round otherwise.
constexpr double rounding_allowed = 1e-9;

int atlas_check(const AtlasCheckArguments& given, const Console& console) {
    const AtlasRecord record = read_atlas_argument(given.folder);
    const Run run = open_run(given.run);
    require_run_of(record, run);
    const Threads threads = thread_count(given.threads);
    const Knowledge knowledge = load_run(run, threads).knowledge;
    const Objectives objectives = rewards_of(record.objectives);
    const Atlas& atlas = record.atlas;
    const double excess = recheck(atlas, knowledge, objectives, threads);
    const bool same_data = knowledge.episodes == atlas.episodes;
    const bool follows = excess <= rounding_allowed * static_cast<double>(atlas.horizon) &&
                         knowledge.learned->delta() <= atlas.failure_probability;
    std::optional<AtlasAudit> truth;
    if (run.problem().truth_known()) truth = audit(atlas, knowledge, objectives, run.problem());
    const bool broken = truth && truth->truth_in_confidence_set && truth->violations > 0;
    if (console.json()) {
        ordered_json object;
        object["covers"] = true;
        object["follows"] = follows;
        object["excess"] = excess;
        object["episodes"] = knowledge.episodes;
        object["atlas_episodes"] = atlas.episodes;
        if (truth)
            object["truth"] = {{"checks", truth->checks},
                               {"violations", truth->violations},
                               {"worst_loss", truth->worst_loss},
                               {"truth_in_confidence_set", truth->truth_in_confidence_set}};
        console.object(object);
    } else {
        std::string text = fmt::format("{} {}\n  cells   cover all weights asked for, without a gap\n",
                                       console.bold("Checked"), printable(given.folder));
        text += follows
                    ? fmt::format("  bounds  all {} follow from the run's data\n",
                                  with_commas(std::ssize(atlas.cells) * atlas.objectives))
                    : fmt::format("  bounds  DO NOT FOLLOW from the run's data: one is {} too small{}\n",
                                  upper_bound(excess),
                                  same_data ? "" : " (the run has other data than when the atlas was made)");
        if (follows && !same_data)
            text += fmt::format("          (the atlas was made after {} episodes; the run has {})\n",
                                with_commas(atlas.episodes), with_commas(knowledge.episodes));
        if (truth)
            text += fmt::format(
                "  truth   {} losses of the simulated truth compared: {} above their bound, the largest "
                "{}{}\n",
                with_commas(truth->checks), truth->violations, rounded(truth->worst_loss),
                truth->truth_in_confidence_set ? ""
                                               : "; this is one of the rare runs whose sets miss the truth");
        console.result(text);
    }
    return follows && !broken ? 0 : 1;
}

}  // namespace

void add_atlas_check(CLI::App& atlas, Chosen& chosen) {
    CLI::App* command = atlas.add_subcommand(
        "check", "Compute every bound of an atlas again from a run's data, and check that its cells cover");
    const auto given = std::make_shared<AtlasCheckArguments>();
    command->add_option("ATLAS", given->folder, "Folder of an atlas")->required();
    command->add_option("RUN", given->run, "The run that it was made of")->required();
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "Exit code: 0, 1 if a bound does not follow or is broken, 2 if the file is no sound atlas.");
    command->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return atlas_check(*given, console); };
    });
}

}  // namespace alidade::app
