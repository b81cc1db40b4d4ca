#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "alidade/problem/inspection.hpp"
#include "bound_rows.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct BoundArguments {
    std::string source, features, horizon, states, episodes;
    std::optional<double> epsilon, delta, norm_bound;
    bool normalise = false;
};

constexpr double default_delta = 0.1;
constexpr double doubling = 1;

std::string_view kind_name(BoundRow::Kind kind) {
    switch (kind) {
        case BoundRow::Kind::sufficient:
            return "sufficient";
        case BoundRow::Kind::necessary:
            return "necessary";
        case BoundRow::Kind::rate:
            break;
    }
    return "rate";
}

UserError missing(std::string_view flag, std::string_view meaning) {
    return UserError(
        fmt::format("{} is not given", flag),
        {"the command line of alidade bound", fmt::format("{}, and every bound needs it", meaning),
         "alidade bound --features 5 --horizon 5 --epsilon 0.5, or alidade bound PROBLEM"});
}

BoundQuestion question_of(const BoundArguments& given) {
    BoundQuestion asked;
    BoundSetting& setting = asked.setting;
    std::optional<Problem> problem;
    if (!given.source.empty()) problem = load_problem_argument(given.source, given.normalise);
    if (!given.features.empty())
        setting.features = parse_count(given.features, "--features", 1);
    else if (problem)
        setting.features =
            problem->is_linear() ? problem->pair_features().features() : problem->features().features();
    else
        throw missing("--features", "it is the number of base models");
    if (!given.horizon.empty())
        setting.horizon = parse_count(given.horizon, "--horizon", 1);
    else if (problem)
        setting.horizon = problem->shape().horizon;
    else
        throw missing("--horizon", "it is the number of steps in an episode");
    const ProblemTarget target = problem ? problem->target() : ProblemTarget{};
    const auto epsilon = given.epsilon ? given.epsilon : target.epsilon;
    if (!epsilon) throw missing("--epsilon", "it is the largest loss that is acceptable");
    asked.epsilon = *epsilon;
    setting.delta = given.delta.value_or(target.delta.value_or(default_delta));
    const bool signed_features =
        problem && !problem->is_linear() && problem->features().kind() != FeatureKind::base_models;
    setting.norm_bound =
        given.norm_bound.value_or(signed_features ? measure_norms(*problem).scaled_norm_bound()
                                                  : base_model_norm_bound(setting.features));
    if (!given.states.empty())
        asked.states = parse_count(given.states, "--states", 1);
    else if (problem)
        asked.states = problem->shape().states;
    if (!given.episodes.empty())
        asked.episodes = static_cast<double>(parse_count(given.episodes, "--episodes", 1));
    asked.pooled = problem && problem->homogeneous();
    asked.inexact = problem && problem->misspecification() > 0;
    return asked;
}

void require_valid(const BoundQuestion& asked) {
    const BoundSetting& setting = asked.setting;
    const auto refuse = [](std::string what, std::string why, std::string fix) {
        throw UserError(what, {"the command line of alidade bound", std::move(why), std::move(fix)});
    };
    if (!(setting.delta > 0 && setting.delta < 1))
        refuse(fmt::format("--delta is {}; must lie strictly between 0 and 1", setting.delta),
               "delta is the probability that the bounds may fail: 0 cannot be had and 1 claims nothing",
               "--delta 0.1");
    if (!(asked.epsilon > 0 && asked.epsilon <= static_cast<double>(setting.horizon)))
        refuse(fmt::format("--epsilon is {}; must be greater than 0 and at most the horizon, {}",
                           asked.epsilon, setting.horizon),
               "no finite number of episodes gives a loss of 0, and no loss can exceed the horizon",
               "--epsilon 0.5, in units of reward over a whole episode");
    if (!(setting.norm_bound >= 1 && std::isfinite(setting.norm_bound)))
        refuse(fmt::format("--norm-bound is {}; must be at least 1", setting.norm_bound),
               "weights that make probabilities sum to 1 have a norm of at least 1",
               "leave --norm-bound out: it is sqrt(d), right for d base models");
}

/// The end of the run whose policies are counted: as asked, or when it must have met the target.
double last_episode(const BoundQuestion& asked) {
    return asked.episodes ? *asked.episodes : sharp_episodes(asked.setting, asked.epsilon, doubling);
}

ordered_json object_of(const BoundQuestion& asked, const std::vector<BoundRow>& rows,
                       const std::vector<CoveringBound>& coverings) {
    const BoundSetting& setting = asked.setting;
    ordered_json object;
    object["features"] = setting.features;
    object["horizon"] = setting.horizon;
    object["epsilon"] = asked.epsilon;
    object["delta"] = setting.delta;
    object["norm_bound"] = setting.norm_bound;
    if (asked.states) object["states"] = *asked.states;
    if (asked.episodes) object["episodes"] = *asked.episodes;
    object["bounds"] = ordered_json::array();
    for (const BoundRow& row : rows) {
        ordered_json entry;
        entry["name"] = row.name;
        entry["kind"] = kind_name(row.kind);
        entry["constants"] = row.constants;
        entry["episodes"] = row.episodes;
        entry["vacuous_below"] = row.vacuous_below ? ordered_json(*row.vacuous_below) : ordered_json();
        if (asked.episodes) {
            entry["guarantee"] = row.guarantee ? ordered_json(*row.guarantee) : ordered_json();
            if (row.kind == BoundRow::Kind::sufficient)
                entry["vacuous"] = *row.guarantee >= row.most.value_or(static_cast<double>(setting.horizon));
        }
        entry["assumes"] = row.assumes;
        object["bounds"].push_back(std::move(entry));
    }
    object["coverings"] = ordered_json::array();
    for (const CoveringBound& each : coverings)
        object["coverings"].push_back({{"name", each.row.name},
                                       {"episodes", each.episodes},
                                       {"radius", each.meeting.radius},
                                       {"meets_at_states", each.meeting.states}});
    if (asked.base_models) {
        const double end = last_episode(asked);
        object["doubling"] = {{"episodes", end},
                              {"policies", std::floor(sharp_policies(setting, end, doubling))}};
    }
    return object;
}

/// A number of episodes in three digits, rounded so that what is claimed stays true.
std::string episodes_text(double episodes, BoundRow::Kind kind) {
    constexpr double largest_written_out = 1e6;
    if (episodes < largest_written_out) return with_commas(static_cast<std::int64_t>(std::ceil(episodes)));
    const double unit = std::pow(10.0, std::floor(std::log10(episodes)) - 2);
    const double digits = episodes / unit;
    const double whole = kind == BoundRow::Kind::sufficient  ? std::ceil(digits)
                         : kind == BoundRow::Kind::necessary ? std::floor(digits)
                                                             : std::round(digits);
    return fmt::format("{:.2e}", whole * unit);
}

std::string demand_text(const BoundRow& row) {
    if (row.kind == BoundRow::Kind::necessary && row.episodes == 0) return "no claim";
    constexpr std::string_view marks[] = {"", "≥ ", "~ "};
    return std::string(marks[static_cast<std::size_t>(row.kind)]) + episodes_text(row.episodes, row.kind);
}

std::string guarantee_text(const BoundRow& row, Index horizon) {
    if (!row.guarantee) return "-";
    if (row.kind == BoundRow::Kind::necessary)
        return *row.guarantee > 0 ? "≥ " + lower_bound(*row.guarantee) : "no claim";
    return *row.guarantee >= row.most.value_or(static_cast<double>(horizon))
               ? "vacuous"
               : "≤ " + upper_bound(*row.guarantee);
}

/// Up to how many states the radius that counts them is the smaller one.
std::string meeting_text(const BoundQuestion& asked, const std::vector<CoveringBound>& coverings) {
    std::string text = "Linear MDPs: the radius for S states is the smaller one up to ";
    for (const CoveringBound& each : coverings) {
        if (&each != coverings.data()) text += ", and up to ";
        text += fmt::format("S = {}, where it meets that of '{}', {:.4g} H after {} episodes",
                            episodes_text(each.meeting.states, BoundRow::Kind::necessary), each.row.title,
                            each.meeting.radius / static_cast<double>(asked.setting.horizon),
                            episodes_text(each.episodes, BoundRow::Kind::rate));
    }
    return text + ".";
}

std::string text_of(const BoundQuestion& asked, const std::vector<BoundRow>& rows,
                    const std::vector<CoveringBound>& coverings, const Console& console) {
    const BoundSetting& setting = asked.setting;
    std::string text = console.bold(
        fmt::format("Episodes for a loss of at most {:.4g}, whatever the reward, with probability {:.4g}",
                    asked.epsilon, 1 - setting.delta));
    text += fmt::format("\n  d = {} features, H = {} steps, B = {:.4g}\n\n", setting.features,
                        setting.horizon, setting.norm_bound);
    std::vector<Table::Column> columns{{"theorem", Table::Align::left}, {"episodes"}, {"vacuous below"}};
    if (asked.episodes)
        columns.push_back(
            {fmt::format("loss after {}", episodes_text(*asked.episodes, BoundRow::Kind::rate))});
    columns.push_back({"constants", Table::Align::left});
    columns.push_back({"assumes", Table::Align::left});
    Table table(columns);
    for (const BoundRow& row : rows) {
        std::vector<std::string> cells{
            row.title, demand_text(row),
            row.vacuous_below ? episodes_text(*row.vacuous_below, BoundRow::Kind::sufficient) : "-"};
        if (asked.episodes) cells.push_back(guarantee_text(row, setting.horizon));
        cells.push_back(row.constants);
        cells.push_back(row.assumes);
        table.add(std::move(cells));
    }
    text += table.text(console.width()) + "\n";
    text += paragraph(
        "'vacuous below': with fewer episodes the theorem allows a loss of H or more (of a total of at most "
        "1: "
        "of 1), which says nothing. "
        "constants: 'paper' are in its theorem or proof, 'cited' in a lemma of others, 'ours' are of a "
        "repaired or new proof, 'none' "
        "are unknown, so that the row is a rate and not a bound. All of it is known before any data; what a "
        "run has really learned is in its certificate, as a rule far smaller: alidade explore.",
        console.width());
    text += paragraph(meeting_text(asked, coverings), console.width());
    if (asked.base_models) {
        const double end = last_episode(asked);
        text += paragraph(
            fmt::format(
                "With --replan doubling a run computes at most {} policies in {} episodes.",
                episodes_text(std::floor(sharp_policies(setting, end, doubling)), BoundRow::Kind::sufficient),
                episodes_text(end, BoundRow::Kind::rate)),
            console.width());
    }
    if (setting.horizon == 1)
        text += paragraph("With one step there is nothing to learn: no transition matters to any reward.",
                          console.width());
    if (asked.pooled)
        text +=
            paragraph("This problem pools its steps; the theorems do not, and ask for more than it needs.",
                      console.width());
    if (asked.inexact)
        text += paragraph(
            "This problem's truth may be off the mixture; the theorems assume that it is not, and do not "
            "hold "
            "for it.",
            console.width());
    return text;
}

int bound(const BoundArguments& given, const Console& console) {
    const BoundQuestion asked = question_of(given);
    require_valid(asked);
    std::vector<CoveringBound> coverings;
    std::vector<BoundRow> rows;
    explaining({"the command line of alidade bound", "the bounds cannot be computed for such sizes",
                "--features, --horizon and --epsilon of the system you have"},
               [&] {
                   coverings = coverings_of(asked);
                   rows = rows_of(asked, coverings);
               });
    if (console.json())
        console.object(object_of(asked, rows, coverings));
    else
        console.result(text_of(asked, rows, coverings, console));
    return 0;
}

}  // namespace

void add_bound(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("bound", "Say how many episodes each theorem asks for");
    const auto given = std::make_shared<BoundArguments>();
    command->add_option(
        "PROBLEM", given->source,
        "Sizes and target from a folder, a problem.toml, or builtin:NAME?parameter=value&...");
    command->add_option("--features", given->features, "d: base models, or features");
    command->add_option("--horizon", given->horizon, "H: steps of an episode");
    command->add_option("--epsilon", given->epsilon, "Largest acceptable loss, in (0, H]");
    command->add_option("--delta", given->delta,
                        "Failure probability (0.1 unless the problem says otherwise)");
    command->add_option("--norm-bound", given->norm_bound,
                        "B, bound of the weights' norm (sqrt(d), for base models)");
    command->add_option("--states", given->states, "S, for the bound for linear MDPs that counts states");
    command->add_option("--episodes", given->episodes, "Say also what each theorem guarantees after so many");
    command->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*command, chosen);
    command->footer("Formulas and proofs: docs/bounds.md.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return bound(*given, console); }; });
}

}  // namespace alidade::app
