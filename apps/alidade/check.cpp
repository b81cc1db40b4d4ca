#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "alidade/explore/explorer.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/inspection.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "numbers.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

/// What a replan costs.
struct ReplanCost {
    double seconds = 0;  ///< of all steps
    Step measured = 0;   ///< steps that were timed; the time of the others is taken to be in proportion
};

/// Times the first policy; of very many steps, that of a shorter problem.
ReplanCost replan_cost(const Problem& problem) {
    constexpr Index pairs_timed = 200'000;
    constexpr Step least_timed = 64;
    Task task = task_of(problem);
    const Step horizon = task.horizon;
    task.horizon = std::min(horizon, std::max(least_timed, pairs_timed / problem.shape().pairs()));
    Explorer explorer(task, {});
    const auto begin = std::chrono::steady_clock::now();
    explorer.ask();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {seconds * static_cast<double>(horizon) / static_cast<double>(task.horizon), task.horizon};
}

/// Bytes of this machine's memory; 0 where it does not say.
std::int64_t machine_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? std::int64_t{pages} * size : 0;
}

std::string describe_cost(const Problem& problem, std::int64_t bytes, const ReplanCost& cost) {
    const std::int64_t there = machine_memory();
    std::string text = fmt::format("  memory        about {}{}\n", memory_size(bytes),
                                   there > 0 && bytes > there
                                       ? fmt::format(", more than the {} of this machine", memory_size(there))
                                       : "");
    return text + fmt::format("  time          about {} for one replan, on one thread{}\n",
                              duration(cost.seconds),
                              cost.measured < problem.shape().horizon
                                  ? fmt::format(", judged by {} steps", with_commas(cost.measured))
                                  : "");
}

std::string names_of(const std::vector<Index>& indices, const std::function<std::string(Index)>& name) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, indices.size()); ++i)
        text += (i == 0 ? "" : ", ") + printable(name(indices[i]));
    return indices.size() > most ? text + ", ..." : text;
}

/// Learned steps that were inspected one by one.
Step learned_shown(const Problem& problem, const Inspection& found) {
    return std::min(problem.shape().learned_steps(), static_cast<Step>(found.steps.size()));
}

/// Learned steps at which the weights cannot be told apart though they can elsewhere.
std::vector<Step> dim_steps(const Problem& problem, const Inspection& found) {
    std::vector<Step> steps;
    if (problem.homogeneous()) return steps;
    for (Step h = 0; h < learned_shown(problem, found); ++h)
        if (found.steps[static_cast<std::size_t>(h)].rank < found.rank) steps.push_back(h);
    return steps;
}

/// Lengths are for signed features to have right; those of base models are known.
bool has_signed_features(const Problem& problem) {
    return !problem.is_linear() && problem.features().kind() == FeatureKind::general;
}

ordered_json object_of(const Problem& problem, const Norms& norms) {
    ordered_json object;
    object["largest_feature"] = {norms.features.lower, norms.features.upper};
    object["features_are_unit"] = norms.features_are_unit();
    object["norm_bound"] = norms.norm_bound;
    object["scaled_norm_bound"] = norms.scaled_norm_bound();
    object["largest_weights"] = problem.truth() ? ordered_json(norms.weights) : ordered_json();
    return object;
}

ordered_json object_of(const Problem& problem, const Inspection& found, double seconds) {
    ordered_json object;
    object["usable"] = true;
    object["row_sums"] = "ok";
    object["reachable_states"] = ordered_json::array();
    object["ranks"] = ordered_json::array();
    for (const StepInspection& step : found.steps) object["reachable_states"].push_back(step.reachable);
    for (Step h = 0; h < learned_shown(problem, found); ++h)
        object["ranks"].push_back(found.steps[static_cast<std::size_t>(h)].rank);
    object["unreachable_states"] = found.unreachable;
    object["dimension"] = found.dimension;
    object["rank"] = found.rank;
    object["weights_identifiable"] = found.rank == found.dimension && dim_steps(problem, found).empty();
    object["collinear"] = found.collinear;
    object["misspecification"] = problem.misspecification();
    object["memory_bytes"] = found.bytes;
    object["replan_seconds"] = seconds;
    object["truth_known"] = problem.truth_known();
    if (has_signed_features(problem)) object["norms"] = object_of(problem, measure_norms(problem));
    return object;
}

std::string describe_reach(const Problem& problem, const Inspection& found) {
    std::string counts;
    constexpr std::size_t most = 16;
    for (std::size_t h = 0; h < std::min(most, found.steps.size()); ++h)
        counts += fmt::format("{}{}", h == 0 ? "" : " ", found.steps[h].reachable);
    if (found.steps.size() > most) counts += " ...";
    std::string text =
        fmt::format("  reachability  of {} states, by step: {}\n", problem.shape().states, counts);
    if (!found.unreachable.empty())
        text += fmt::format("                never reached within the horizon: {}\n",
                            names_of(found.unreachable, [&](Index s) { return problem.state_name(s); }));
    return text;
}

std::string describe_weights(const Problem& problem, const Inspection& found) {
    const bool collinear = problem.shape().learned_steps() > 0 && found.rank < found.dimension;
    if (problem.is_linear())
        return fmt::format("  features      {} of {} directions can be seen where the start leads{}\n",
                           found.rank, found.dimension,
                           collinear ? "; laws that differ in others alone cannot be told apart" : "");
    const std::vector<Step> dim = dim_steps(problem, found);
    if (!collinear && dim.empty()) return "  base models   independent: all weights can be identified\n";
    std::string text;
    if (collinear)
        text += fmt::format(
            "  base models   collinear where the start leads: {} of {} directions can be seen.\n"
            "                Weights of {} are not identifiable; predictions still are.\n",
            found.rank, found.dimension, names_of(found.collinear, [&](Index i) {
                return "'" + problem.features().names()[static_cast<std::size_t>(i)] + "'";
            }));
    if (!dim.empty())
        text += fmt::format(
            "  {}   too few states are reachable to tell all weights apart at {} of {} steps: {}.\n"
            "                Weights are not identifiable there; predictions still are.\n",
            collinear ? "           " : "base models", dim.size(), problem.shape().learned_steps(),
            names_of(dim, [](Index h) { return std::to_string(h); }));
    return text;
}

/// "1.25", or the interval that it is proved to lie in.
std::string bracket_text(const WidthBracket& bracket) {
    const bool exact = bracket.upper <= bracket.lower * (1 + 1e-9);
    return exact ? fmt::format("{:.6g}", bracket.upper)
                 : fmt::format("between {:.6g} and {:.6g}", bracket.lower, bracket.upper);
}

/// Signed features: what the rows are, how long features and weights are, and what follows if too long.
/// Longer weights than B are no problem's: they are refused when it is read.
std::string describe_norms(const Problem& problem) {
    const Norms norms = measure_norms(problem);
    const FeatureMap& map = problem.features();
    std::string text = fmt::format(
        "  rows          of signed features, which weights of norm up to {:.6g} mix{}\n", norms.norm_bound,
        problem.truth() ? "; with the true ones every row is a distribution" : "");
    text +=
        fmt::format("  features      largest |phi_V| over V in [0, 1]: {}{}\n", bracket_text(norms.features),
                    norms.features_are_unit() ? ", at most 1 as the theorems have it" : "");
    if (!norms.features_are_unit())
        text += fmt::format(
            "                {} than the 1 that the theorems have, at {}, {}.\n"
            "                Confidence sets and certificates hold as they are; the theorems' sample sizes "
            "are\n"
            "                for features divided by this, with norm bound {:.6g} (alidade bound counts "
            "so).\n",
            norms.features.lower > 1 ? "More" : "Perhaps more",
            printable(problem.state_name(norms.pair / map.actions())),
            printable(problem.action_name(norms.pair % map.actions())), norms.scaled_norm_bound());
    if (problem.truth())
        text += fmt::format(
            "  weights       largest |theta| of the truth: {:.6g}, at most the norm bound {:.6g}\n",
            norms.weights, norms.norm_bound);
    return text;
}

int check(const std::string& source, bool normalise, const Console& console) {
    const Problem problem = load_problem_argument(source, normalise);
    const Inspection found = inspect(problem);
    const ReplanCost cost = replan_cost(problem);
    if (console.json()) {
        console.object(object_of(problem, found, cost.seconds));
        return 0;
    }
    std::string text = fmt::format("{} {}\n", console.bold(problem.name()), "is usable");
    text += problem.is_linear()
                ? "  rows          features of norm at most 1; the truth, if known, is a law everywhere\n"
            : has_signed_features(problem)
                ? describe_norms(problem)
                : "  rows          every base model is a probability distribution everywhere\n";
    text += describe_reach(problem, found) + describe_weights(problem, found);
    if (problem.misspecification() > 0)
        text += fmt::format(
            "  mixture       off by at most {:.4g} in total variation; no number of episodes makes up for "
            "that\n",
            problem.misspecification());
    text += describe_cost(problem, found.bytes, cost);
    if (!problem.truth_known()) text += "  truth         not known, so it cannot be simulated or audited\n";
    if (problem.foreign())
        text += fmt::format(
            "  truth         {:.4g} of it is no mixture of the base models: off by up to {:.4g} in total "
            "variation\n",
            problem.foreign()->share, problem.true_misspecification());
    const ProblemSystem system = problem_system(source);
    if (!system.command.empty())
        text += fmt::format("  system        run by the command '{}'\n", fmt::join(system.command, " "));
    if (!system.system.empty()) text += fmt::format("  system        {}\n", printable(system.system));
    console.result(text);
    return 0;
}

struct CheckArguments {
    std::string source;
    bool normalise = false;
};

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("check", "Say whether a problem is usable and what it will cost");
    const auto given = std::make_shared<CheckArguments>();
    command
        ->add_option("PROBLEM", given->source,
                     "A folder, a problem.toml, or builtin:NAME?parameter=value&...")
        ->required();
    command->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*command, chosen);
    command->callback([=, &chosen] {
        chosen.work = [given](const Console& console) {
            return check(given->source, given->normalise, console);
        };
    });
}

}  // namespace alidade::app
