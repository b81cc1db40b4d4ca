#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "alidade/problem/norms.hpp"
#include "alidade/theory/bounds.hpp"
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

/// What the theorems are asked.
struct Question {
    BoundSetting setting;
    double epsilon = 0;
    std::optional<Index> states;
    std::optional<double> episodes;
    bool base_models = true;
    bool pooled = false;   ///< the problem has one set of weights for all steps
    bool inexact = false;  ///< its truth may be off the mixture
};

/// One theorem's answer.
struct Row {
    enum class Kind { sufficient, necessary, rate };
    std::string name;       ///< key in JSON
    std::string title;      ///< what a person reads
    std::string constants;  ///< whose they are
    std::string assumes;
    Kind kind = Kind::sufficient;
    double episodes = 0;                  ///< demanded for epsilon
    std::optional<double> vacuous_below;  ///< K below which the guarantee is H or more
    std::optional<double> guarantee;      ///< epsilon after the given episodes
};

constexpr double default_delta = 0.1;
constexpr double doubling = 1;

std::string_view kind_name(Row::Kind kind) {
    switch (kind) {
        case Row::Kind::sufficient:
            return "sufficient";
        case Row::Kind::necessary:
            return "necessary";
        case Row::Kind::rate:
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

Question question_of(const BoundArguments& given) {
    Question asked;
    BoundSetting& setting = asked.setting;
    std::optional<Problem> problem;
    if (!given.source.empty()) problem = load_problem_argument(given.source, given.normalise);
    if (!given.features.empty())
        setting.features = parse_count(given.features, "--features", 1);
    else if (problem)
        setting.features = problem->features().features();
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
    const bool signed_features = problem && problem->features().kind() != FeatureKind::base_models;
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

void require_valid(const Question& asked) {
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

/// A theorem whose guarantee after K episodes and whose least K for an accuracy are these functions.
template <class Guarantee, class Episodes>
Row sufficient(const Question& asked, Row row, Guarantee guarantee, Episodes episodes) {
    row.kind = Row::Kind::sufficient;
    row.episodes = episodes(asked.epsilon);
    row.vacuous_below = episodes(static_cast<double>(asked.setting.horizon));
    if (asked.episodes) row.guarantee = guarantee(*asked.episodes);
    return row;
}

Row bernstein_row(const Question& asked, Row row, BernsteinRadii radii) {
    return sufficient(
        asked, std::move(row), [&](double k) { return bernstein_guarantee(asked.setting, k, radii); },
        [&](double e) { return bernstein_episodes(asked.setting, e, radii); });
}

std::vector<Row> upper_rows(const Question& asked) {
    const BoundSetting& setting = asked.setting;
    std::vector<Row> rows;
    rows.push_back(sufficient(
        asked,
        {"theorem-1", "Theorem 1", "paper", "Algorithm 1 as printed; linear mixture with |theta| <= B"},
        [&](double k) { return hoeffding_guarantee(setting, k); },
        [&](double e) { return hoeffding_episodes(setting, e); }));
    rows.push_back(bernstein_row(asked,
                                 {"theorem-2-printed", "Theorem 2, printed radii", "ours",
                                  "Algorithm 2, repaired; the printed radii are not proved for small K or "
                                  "d > H^2, and may fail with probability 11 delta/8"},
                                 BernsteinRadii::printed));
    rows.push_back(bernstein_row(asked,
                                 {"theorem-2-safe", "Theorem 2, safe radii", "ours",
                                  "Algorithm 2, repaired, with radii that are valid at every K"},
                                 BernsteinRadii::safe));
    if (asked.base_models)
        rows.push_back(sufficient(
            asked,
            {"sharp", "Algorithm 1, sharp", "ours",
             fmt::format("base models, weights of each step; explore --replan every --delta {:.4g} --target "
                         "{:.4g}, with exact widths and a certificate at each policy, has stopped by then",
                         setting.delta / 2, asked.epsilon)},
            [&](double k) { return sharp_guarantee(setting, k); },
            [&](double e) { return sharp_episodes(setting, e); }));
    if (asked.states)
        rows.push_back(sufficient(
            asked,
            {"linear-mdp", "Linear MDP", "ours",
             fmt::format("another model: P = mu(s').phi(s,a), {} states; Algorithms 3 and 4, repaired",
                         *asked.states)},
            [&](double k) { return linear_mdp_guarantee(setting, *asked.states, k); },
            [&](double e) { return linear_mdp_episodes(setting, *asked.states, e); }));
    return rows;
}

std::vector<Row> rows_of(const Question& asked) {
    const BoundSetting& setting = asked.setting;
    std::vector<Row> rows = upper_rows(asked);
    Row lower{"theorem-3", "Theorem 3", "ours",
              "any algorithm, on the worst linear mixture of this size, with signed features"};
    lower.kind = Row::Kind::necessary;
    lower.episodes = lower_bound_episodes(setting, asked.epsilon);
    if (asked.episodes) lower.guarantee = lower_bound_accuracy(setting, *asked.episodes);
    rows.push_back(std::move(lower));
    Row rate{"theorem-3-rate", "Theorem 3, rate", "none", "d^2 H^3/epsilon^2, with 1 for the paper's C"};
    rate.kind = Row::Kind::rate;
    rate.episodes = lower_bound_rate(setting, asked.epsilon);
    rows.push_back(std::move(rate));
    Row linear{"linear-mdp-rate", "Linear MDP, rate", "none",
               "d^3 H^4 log(dH/(delta epsilon))/epsilon^2, with 1 for the paper's c_K"};
    linear.kind = Row::Kind::rate;
    linear.episodes = linear_mdp_printed_episodes(setting, asked.epsilon, 1);
    rows.push_back(std::move(linear));
    return rows;
}

/// The end of the run whose policies are counted: as asked, or when it must have met the target.
double last_episode(const Question& asked) {
    return asked.episodes ? *asked.episodes : sharp_episodes(asked.setting, asked.epsilon, doubling);
}

ordered_json object_of(const Question& asked, const std::vector<Row>& rows) {
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
    for (const Row& row : rows) {
        ordered_json entry;
        entry["name"] = row.name;
        entry["kind"] = kind_name(row.kind);
        entry["constants"] = row.constants;
        entry["episodes"] = row.episodes;
        entry["vacuous_below"] = row.vacuous_below ? ordered_json(*row.vacuous_below) : ordered_json();
        if (asked.episodes) {
            entry["guarantee"] = row.guarantee ? ordered_json(*row.guarantee) : ordered_json();
            if (row.kind == Row::Kind::sufficient)
                entry["vacuous"] = *row.guarantee >= static_cast<double>(setting.horizon);
        }
        entry["assumes"] = row.assumes;
        object["bounds"].push_back(std::move(entry));
    }
    if (asked.base_models) {
        const double end = last_episode(asked);
        object["doubling"] = {{"episodes", end},
                              {"policies", std::floor(sharp_policies(setting, end, doubling))}};
    }
    return object;
}

/// A number of episodes in three digits, rounded so that what is claimed stays true.
std::string episodes_text(double episodes, Row::Kind kind) {
    constexpr double largest_written_out = 1e6;
    if (episodes < largest_written_out) return with_commas(static_cast<std::int64_t>(std::ceil(episodes)));
    const double unit = std::pow(10.0, std::floor(std::log10(episodes)) - 2);
    const double digits = episodes / unit;
    const double whole = kind == Row::Kind::sufficient  ? std::ceil(digits)
                         : kind == Row::Kind::necessary ? std::floor(digits)
                                                        : std::round(digits);
    return fmt::format("{:.2e}", whole * unit);
}

std::string demand_text(const Row& row) {
    if (row.kind == Row::Kind::necessary && row.episodes == 0) return "no claim";
    constexpr std::string_view marks[] = {"", "≥ ", "~ "};
    return std::string(marks[static_cast<std::size_t>(row.kind)]) + episodes_text(row.episodes, row.kind);
}

std::string guarantee_text(const Row& row, Index horizon) {
    if (!row.guarantee) return "-";
    if (row.kind == Row::Kind::necessary)
        return *row.guarantee > 0 ? "≥ " + lower_bound(*row.guarantee) : "no claim";
    return *row.guarantee >= static_cast<double>(horizon) ? "vacuous" : "≤ " + upper_bound(*row.guarantee);
}

std::string text_of(const Question& asked, const std::vector<Row>& rows, const Console& console) {
    const BoundSetting& setting = asked.setting;
    std::string text = console.bold(
        fmt::format("Episodes for a loss of at most {:.4g}, whatever the reward, with probability {:.4g}",
                    asked.epsilon, 1 - setting.delta));
    text += fmt::format("\n  d = {} features, H = {} steps, B = {:.4g}\n\n", setting.features,
                        setting.horizon, setting.norm_bound);
    std::vector<Table::Column> columns{{"theorem", Table::Align::left}, {"episodes"}, {"vacuous below"}};
    if (asked.episodes)
        columns.push_back({fmt::format("loss after {}", episodes_text(*asked.episodes, Row::Kind::rate))});
    columns.push_back({"constants", Table::Align::left});
    columns.push_back({"assumes", Table::Align::left});
    Table table(columns);
    for (const Row& row : rows) {
        std::vector<std::string> cells{
            row.title, demand_text(row),
            row.vacuous_below ? episodes_text(*row.vacuous_below, Row::Kind::sufficient) : "-"};
        if (asked.episodes) cells.push_back(guarantee_text(row, setting.horizon));
        cells.push_back(row.constants);
        cells.push_back(row.assumes);
        table.add(std::move(cells));
    }
    text += table.text(console.width()) + "\n";
    text += paragraph(
        "'vacuous below': with fewer episodes the theorem allows a loss of H or more, which says nothing. "
        "constants: 'paper' are in its theorem or proof, 'ours' are of a repaired or new proof, 'none' "
        "are unknown, so that the row is a rate and not a bound. All of it is known before any data; what a "
        "run has really learned is in its certificate, as a rule far smaller: alidade explore.",
        console.width());
    if (asked.base_models) {
        const double end = last_episode(asked);
        text += paragraph(
            fmt::format(
                "With --replan doubling a run computes at most {} policies in {} episodes.",
                episodes_text(std::floor(sharp_policies(setting, end, doubling)), Row::Kind::sufficient),
                episodes_text(end, Row::Kind::rate)),
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
    const Question asked = question_of(given);
    require_valid(asked);
    const std::vector<Row> rows =
        explaining({"the command line of alidade bound", "the bounds cannot be computed for such sizes",
                    "--features, --horizon and --epsilon of the system you have"},
                   [&] { return rows_of(asked); });
    if (console.json())
        console.object(object_of(asked, rows));
    else
        console.result(text_of(asked, rows, console));
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
    command->add_option("--states", given->states, "S, for the theorem on linear MDPs");
    command->add_option("--episodes", given->episodes, "Say also what each theorem guarantees after so many");
    command->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*command, chosen);
    command->footer("Formulas and proofs: docs/bounds.md.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return bound(*given, console); }; });
}

}  // namespace alidade::app
