#include "atlas_view.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "alidade/spec/printable_text.hpp"
#include "atlas_picture.hpp"
#include "numbers.hpp"
#include "objective_choice.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t plans_shown = 12;

std::string weights_text(const std::vector<double>& weights) {
    std::string text;
    for (const double w : weights) text += fmt::format("{}{:.3g}", text.empty() ? "" : ", ", w);
    return text;
}

std::string count_in_words(Index count) {
    constexpr const char* words[] = {"two", "three", "four", "five", "six", "seven", "eight"};
    return words[count - 2];
}

bool in_rewards(const AtlasRecord& record) {
    return std::ranges::any_of(
        record.objectives, [](const AtlasObjective& objective) { return objective.scale != RewardScale{}; });
}

Table plans_table(const AtlasRecord& record) {
    std::vector<Table::Column> columns{{"plan"}, {"weights"}, {"loss ≤"}};
    for (const AtlasObjective& objective : record.objectives)
        columns.push_back({objective.name + (objective.sense == Sense::minimise ? " (min)" : "")});
    Table table(std::move(columns));
    for (std::size_t i = 0; i < std::min(plans_shown, record.atlas.policies.size()); ++i) {
        const AtlasPolicy& policy = record.atlas.policies[i];
        std::vector<std::string> cells{std::to_string(i + 1), fmt::format("{:.0f} %", 100 * policy.share),
                                       upper_bound(policy.loss_bound)};
        for (std::size_t k = 0; k < policy.values.size(); ++k) {
            const Interval value = record.objectives[k].in_unit(policy.values[k]);
            cells.push_back(fmt::format("[{}, {}]", lower_bound(value.lower), upper_bound(value.upper)));
        }
        table.add(std::move(cells));
    }
    return table;
}

}  // namespace

AtlasRecord atlas_of_run(const Run& run, const Knowledge& knowledge, std::vector<AtlasObjective> objectives,
                         AtlasOptions options, const Console& console, const Interruption& interruption) {
    bool drawn = false;
    options.interrupted = [&] { return interruption.requested(); };
    options.observe = [&](const AtlasProgress& progress) {
        if (!console.progress()) return;
        fmt::print(stderr, "\r\x1b[K{} certificates | {} cells done, {} open",
                   with_commas(progress.certificates), with_commas(progress.cells),
                   with_commas(progress.open));
        std::fflush(stderr);
        drawn = true;
    };
    Atlas atlas = explaining({"the command line", "an atlas is made of weights and certificates",
                              "alidade atlas --help says what each flag takes"},
                             [&] { return make_atlas(knowledge, rewards_of(objectives), options); });
    if (drawn) fmt::print(stderr, "\r\x1b[K");
    return {std::move(atlas), std::move(objectives), run.problem_hash()};
}

AtlasRecord read_atlas_argument(const std::string& folder) {
    return explaining_file(
        (std::filesystem::path(folder) / "atlas.json").string(),
        {fmt::format("atlas '{}'", folder), "nothing is said of an atlas that is not sound",
         "alidade atlas RUN --objective ... -o FOLDER makes one"},
        [&] { return read_atlas(folder); });
}

void require_run_of(const AtlasRecord& record, const Run& run) {
    if (record.problem == run.problem_hash()) return;
    throw UserError(
        "the atlas is of another problem than the run",
        {fmt::format("run folder '{}'", run.folder().string()),
         "bounds of one system say nothing about another", "name the run that the atlas was made of"});
}

void write_atlas_folder(const std::string& folder, const AtlasRecord& record, const Problem& problem) {
    std::optional<MixtureModel> truth;
    if (problem.truth_known() && !problem.is_linear() && !problem.foreign()) truth = problem.true_model();
    writing([&] { write_atlas(folder, record, atlas_pictures(record, truth)); });
}

std::string headline(const AtlasRecord& record) {
    const Atlas& atlas = record.atlas;
    if (atlas.vacuous())
        return fmt::format("vacuous: nothing better than {} is known for some weightings", atlas.horizon);
    return fmt::format("at most {}, whatever the weighting of the {}", upper_bound(atlas.loss_bound),
                       count_in_words(atlas.objectives));
}

std::string obstacle(const AtlasRecord& record) {
    const Atlas& atlas = record.atlas;
    const std::string where = weights_text(atlas.floor_weights);
    switch (atlas.limit) {
        case AtlasLimit::target:
            return {};
        case AtlasLimit::data:
            if (atlas.asked == 0 || atlas.floor <= atlas.asked)
                return fmt::format("the data allow no less: {} at weights {}", upper_bound(atlas.floor),
                                   where);
            return fmt::format("the data allow no less than {} at weights {}; roughly {} episodes would do",
                               upper_bound(atlas.floor), where,
                               with_commas(static_cast<std::int64_t>(std::min(
                                   9e15, static_cast<double>(std::max<std::int64_t>(1, atlas.episodes)) *
                                             std::pow(atlas.floor / atlas.asked, 2)))));
        case AtlasLimit::budget:
            return "the budget of certificates is spent; a larger --certificates goes further";
        case AtlasLimit::resolution:
            return "weights would have to be told apart more finely than makes sense";
        case AtlasLimit::interrupted:
            break;
    }
    return "interrupted; what was found is valid";
}

std::string describe(const AtlasRecord& record, double seconds, const Console& console) {
    const Atlas& atlas = record.atlas;
    std::string text = fmt::format(
        "{} of {}\n  loss       {}  (any reward at all: {})\n", console.bold("Atlas"),
        printable(objective_names(record.objectives)), headline(record),
        atlas.reward_free >= static_cast<double>(atlas.horizon) ? "vacuous" : upper_bound(atlas.reward_free));
    text +=
        fmt::format("  plans      {}, in {} cell{}; {} certificates in {}\n",
                    with_commas(std::ssize(atlas.policies)), with_commas(std::ssize(atlas.cells)),
                    atlas.cells.size() == 1 ? "" : "s", with_commas(atlas.certificates), duration(seconds));
    const std::string way = obstacle(record);
    if (atlas.asked > 0)
        text +=
            fmt::format("  asked for  {}: {}\n", rounded(atlas.asked),
                        way.empty() ? fmt::format("met; the data stand in the way from {} on, at weights {}",
                                                  upper_bound(atlas.floor), weights_text(atlas.floor_weights))
                                    : "not met; " + way);
    else
        text +=
            fmt::format("  asked for  as little as possible: {}\n", way.empty() ? "nothing is lost" : way);
    text += "\n" + plans_table(record).text();
    if (atlas.policies.size() > plans_shown)
        text += fmt::format("  and {} more, in front.csv\n", atlas.policies.size() - plans_shown);
    text += fmt::format(
        "  For any weights the plan of their cell loses at most the number on its line, and all lines hold "
        "at\n"
        "  once, with probability {:.6g}. Values are of the plan on the real system.\n",
        1 - atlas.failure_probability);
    if (in_rewards(record))
        text +=
            "  Weights are of the objectives mapped onto [0, 1], and so are losses; values are in their own "
            "units.\n";
    return text;
}

ordered_json to_json(const AtlasRecord& record, bool whole) {
    ordered_json object = ordered_json::parse(atlas_text(record));
    if (whole) return object;
    for (const char* key : {"corners", "tree", "outer"}) object.erase(key);
    object["cells"] = record.atlas.cells.size();
    return object;
}

int exit_code(const Atlas& atlas) {
    if (atlas.limit == AtlasLimit::interrupted) return 130;
    if (atlas.limit == AtlasLimit::target || (atlas.asked == 0 && atlas.limit == AtlasLimit::data)) return 0;
    return 3;
}

}  // namespace alidade::app
