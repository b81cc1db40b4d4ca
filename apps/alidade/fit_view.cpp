#include "fit_view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "alidade/spec/printable_text.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

void require_fit_level(double level) {
    if (level >= 0 && level < 1) return;
    throw UserError(
        fmt::format("--fit-level is {}; must be at least 0 and less than 1", level),
        {"the command line", "it is the probability that a model which is right is called contradicted",
         "--fit-level 0.01, or 0 for no check"});
}

std::optional<ModelFit> fit_of(const Problem& problem, const Counts& counts, double level) {
    // Of linear MDPs it is the regressions that find a contradiction.
    if (level == 0 || problem.is_linear() || problem.misspecification() > 0 ||
        problem.features().kind() != FeatureKind::base_models)
        return std::nullopt;
    return check_model(problem.features(), counts, problem.homogeneous(), level);
}

ordered_json to_json(const ModelFit& fit, const Problem& problem) {
    ordered_json object;
    object["log_evidence"] = fit.log_evidence;
    object["threshold"] = fit.threshold;
    object["level"] = fit.level;
    object["contradicted"] = fit.contradicted;
    if (!fit.worst) return object;
    ordered_json worst;
    worst["step"] = fit.worst->step ? ordered_json(*fit.worst->step) : ordered_json();
    worst["state"] = fit.worst->state;
    worst["action"] = fit.worst->action;
    worst["log_evidence"] = fit.worst->log_evidence;
    worst["visits"] = fit.worst->visits;
    worst["successor"] = fit.worst->successor;
    worst["seen"] = fit.worst->seen;
    worst["expected"] = fit.worst->expected;
    worst["state_name"] = problem.state_name(fit.worst->state);
    worst["action_name"] = problem.action_name(fit.worst->action);
    object["worst"] = std::move(worst);
    return object;
}

std::string describe(const ModelFit& fit, const Problem& problem, const Console& console) {
    const std::string numbers =
        fmt::format("(log evidence {:.1f}, contradicted from {:.1f})", fit.log_evidence, fit.threshold);
    if (!fit.contradicted)
        return fmt::format("{} the data do not contradict the mixture {}\n", console.bold("Model check:"),
                           numbers);
    std::string text = fmt::format(
        "{} the data CONTRADICT the mixture {}\n"
        "  Were every transition law a mixture of the base models, this would happen with probability {} at\n"
        "  most. Every bound assumes it: do not rely on them.\n",
        console.bold("Model check:"), numbers, fit.level);
    const Misfit& worst = *fit.worst;
    return text +
           fmt::format(
               "  Worst: {}, {}, {}: {} was seen {} times in {}, where the best weights expect {:.1f}.\n",
               worst.step ? fmt::format("step {}", *worst.step) : "all steps",
               printable(problem.state_name(worst.state)), printable(problem.action_name(worst.action)),
               printable(problem.state_name(worst.successor)), with_commas(worst.seen),
               with_commas(worst.visits), worst.expected);
}

}  // namespace alidade::app
