#include "fit_view.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "alidade/error.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/spec/printable_text.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t suspects_shown = 5;
/// Of rows that are listed, what may be right in expectation.
constexpr double right_share = 0.05;
/// For which rows are listed where nothing was assumed: for all that are true at once
/// [docs/algorithms/model-check.md, Lemma 3].
constexpr std::array usual_errors{0.3, 0.2, 0.1, 0.05, 0.02, 0.01};

/// "0.8" or "30": one digit of a percentage, since the rest would pretend to be known.
std::string one_digit_of_percent(double share) {
    if (!(share > 0)) return "0";
    const double percent = 100 * share, scale = std::pow(10, std::floor(std::log10(percent)));
    return fmt::format("{:.6g}", std::round(percent / scale) * scale);
}

/// Rounded down, as a lower bound must be.
std::string lower_percent(double share) {
    const double percent = 100 * share, scale = std::pow(10, std::floor(std::log10(percent)) - 1);
    return fmt::format("{:.6g}", std::floor(percent / scale) * scale);
}

ordered_json object_of(const Misfit& misfit, const Problem& problem) {
    ordered_json object;
    object["step"] = misfit.step ? ordered_json(*misfit.step) : ordered_json();
    object["state"] = misfit.state;
    object["action"] = misfit.action;
    object["log_evidence"] = misfit.log_evidence;
    object["visits"] = misfit.visits;
    object["successor"] = misfit.successor;
    object["seen"] = misfit.seen;
    object["expected"] = misfit.expected;
    object["state_name"] = problem.state_name(misfit.state);
    object["action_name"] = problem.action_name(misfit.action);
    return object;
}

std::string in_words(const Misfit& misfit, const Problem& problem) {
    return fmt::format("{}, {}, {}: {} was seen {} times in {}, where the best weights expect {:.1f}",
                       misfit.step ? fmt::format("step {}", *misfit.step) : "all steps",
                       printable(problem.state_name(misfit.state)),
                       printable(problem.action_name(misfit.action)),
                       printable(problem.state_name(misfit.successor)), with_commas(misfit.seen),
                       with_commas(misfit.visits), misfit.expected);
}

std::string describe_suspects(const CheckedFit& checked, const Problem& problem) {
    const auto first =
        std::ranges::find_if(checked.suspects, [](const SuspectRows& list) { return !list.rows.empty(); });
    if (first == checked.suspects.end()) return {};
    const SuspectRows& last = checked.suspects.back();
    const auto rows_are = [](const SuspectRows& list) {
        return list.rows.size() == 1 ? std::string("1 row is")
                                     : fmt::format("{} rows are", with_commas(std::ssize(list.rows)));
    };
    std::string text = fmt::format(
        "  {} off if no law is off by more than {:.4g} % (of those listed {:.4g} % at most are\n"
        "  right, on average):\n",
        rows_are(*first), 100 * first->misspecification, 100 * right_share);
    for (std::size_t i = 0; i < std::min(suspects_shown, first->rows.size()); ++i)
        text += fmt::format("    {}\n", in_words(first->rows[i], problem));
    if (first->rows.size() > suspects_shown) text += "    ... (all of them with --json)\n";
    if (last.rows.size() > first->rows.size())
        text += fmt::format("  {} off if no law is off by more than {:.4g} % (all of them with --json).\n",
                            rows_are(last), 100 * last.misspecification);
    return text;
}

std::string describe_where(const CheckedFit& checked, const Problem& problem) {
    std::string text;
    if (checked.bound && checked.bound->lower > 0)
        text += fmt::format(
            "  The data say that the model is off by at least {} % somewhere (confidence {}), if each state "
            "and action\n"
            "  has one law a step{}. They cannot say that it is off by no more.\n",
            lower_percent(checked.bound->lower), 1 - checked.bound->level,
            checked.bound->varying > 0 ? fmt::format(", and by {} % even if laws change with time",
                                                     lower_percent(checked.bound->varying))
                                       : "");
    if (checked.fit.worst) text += fmt::format("  Worst: {}.\n", in_words(*checked.fit.worst, problem));
    return text + describe_suspects(checked, problem);
}

/// Lists of rows that are off, for what was assumed; where nothing was, for what is not refuted of the usual.
std::vector<SuspectRows> suspects_in(const Task& task, const Counts& counts, double lower) {
    if (counts.shape().learned_steps() == 0) return {};
    std::vector<double> zetas;
    if (task.misspecification > 0)
        zetas.push_back(task.misspecification);
    else
        std::ranges::copy_if(usual_errors, std::back_inserter(zetas), [&](double z) { return z > lower; });
    return suspect_rows(task, counts, zetas, right_share);
}

}  // namespace

void require_fit_level(double level) {
    if (level >= 0 && level < 1) return;
    throw UserError(
        fmt::format("--fit-level is {}; must be at least 0 and less than 1", level),
        {"the command line", "it is the probability that a model which is right is called contradicted",
         "--fit-level 0.01, or 0 for no check"});
}

std::vector<BaseKernel> read_suspects(const std::vector<std::string>& files) {
    std::vector<BaseKernel> kernels;
    for (const std::string& file : files)
        explaining({"the command line", "--suspect names a kernel that may be mixed into the truth",
                    "--suspect KERNEL.npz, in any format that base models are read in, or .npy of shape "
                    "(states, actions, states)"},
                   [&] { kernels.push_back(read_base_kernel(file)); });
    return kernels;
}

std::optional<CheckedFit> fit_of(const Task& task, const Counts& counts, double level,
                                 const std::vector<BaseKernel>& suspects) {
    // Of linear MDPs it is the regressions that find a contradiction.
    if (level == 0 || task.linear != nullptr || task.features->kind() != FeatureKind::base_models)
        return std::nullopt;
    const FeatureMap& features = *task.features;
    CheckedFit checked{
        explaining({"the command line", "a suspected kernel must fit the problem",
                    "--suspect KERNEL.npz with a row for each state and action"},
                   [&] { return check_model(features, counts, task.homogeneous, level, suspects); }),
        task.misspecification, std::nullopt};
    // Where nothing is found there is nothing to bound: the bound asks for more than the check.
    if (!checked.fit.contradicted) return checked;
    checked.bound = misspecification_lower(features, counts, task.homogeneous, level);
    checked.suspects = suspects_in(task, counts, checked.bound->lower);
    return checked;
}

ordered_json to_json(const CheckedFit& checked, const Problem& problem) {
    const ModelFit& fit = checked.fit;
    ordered_json object;
    object["log_evidence"] = fit.log_evidence;
    object["threshold"] = fit.threshold;
    object["level"] = fit.level;
    object["contradicted"] = fit.contradicted;
    object["kt"] = fit.kt;
    object["unseen"] = fit.unseen;
    object["best"] = ordered_json::array();
    for (const Evidence& one : fit.best)
        object["best"].push_back({{"alternative", one.alternative},
                                  {"parameter", one.parameter},
                                  {"step", one.step ? ordered_json(*one.step) : ordered_json()},
                                  {"log_evidence", one.log_evidence}});
    if (fit.worst) object["worst"] = object_of(*fit.worst, problem);
    if (!fit.contradicted) return object;
    object["suspects"] = ordered_json::array();
    std::set<std::tuple<std::optional<Step>, State, Action>> known;
    for (const SuspectRows& list : checked.suspects)
        for (const Misfit& misfit : list.rows)
            if (known.emplace(misfit.step, misfit.state, misfit.action).second) {
                object["suspects"].push_back(object_of(misfit, problem));
                object["suspects"].back()["within"] = list.misspecification;
            }
    return object;
}

std::string describe(const CheckedFit& checked, const Problem& problem, const Console& console) {
    const ModelFit& fit = checked.fit;
    const std::string numbers =
        fmt::format("(log evidence {:.1f}, alarm at {:.1f})", fit.log_evidence, fit.threshold);
    const std::string title = console.bold("Model check:");
    if (!fit.contradicted)
        return fmt::format("{} nothing found {}. Errors below about {} % cannot be seen in these data.\n",
                           title, numbers, one_digit_of_percent(fit.unseen));
    if (checked.contradicted() && checked.assumed > 0)
        return fmt::format(
                   "{} the data CONTRADICT that the truth is off the mixture by {:.4g} at most {}\n"
                   "  Every bound assumes it: do not rely on them.\n",
                   title, checked.assumed, numbers) +
               describe_where(checked, problem);
    if (checked.assumed > 0)
        return fmt::format("{} the data are off the mixture {}; {:.4g} was allowed for\n", title, numbers,
                           checked.assumed) +
               describe_where(checked, problem);
    return fmt::format(
               "{} the data CONTRADICT the mixture {}\n"
               "  Were every transition law a mixture of the base models, this would happen with probability "
               "{} at\n"
               "  most. Every bound assumes it: do not rely on them.\n",
               title, numbers, fit.level) +
           describe_where(checked, problem);
}

}  // namespace alidade::app
