#include "alidade/explore/run_contradiction.hpp"

#include <fmt/format.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/counts.hpp"

namespace alidade {

std::string to_string(ContradictionKind kind) {
    switch (kind) {
        case ContradictionKind::impossible_transition:
            return "impossible-transition";
        case ContradictionKind::empty_confidence_set:
            return "empty-confidence-set";
        case ContradictionKind::model_check:
            break;
    }
    return "model-check";
}

ContradictionKind parse_contradiction_kind(std::string_view name) {
    for (const ContradictionKind kind :
         {ContradictionKind::impossible_transition, ContradictionKind::empty_confidence_set})
        if (to_string(kind) == name) return kind;
    expects(name == to_string(ContradictionKind::model_check),
            "kind of contradiction '{}'; must be impossible-transition, empty-confidence-set or model-check",
            name);
    return ContradictionKind::model_check;
}

RunContradiction impossible_transition(const ModelContradiction& error, std::int64_t episodes) {
    RunContradiction found{ContradictionKind::impossible_transition, error.what(), episodes};
    if (const auto* seen = dynamic_cast<const ImpossibleTransition*>(&error)) {
        found.step = seen->step();
        found.state = seen->state();
        found.action = seen->action();
        found.successor = seen->successor();
    }
    return found;
}

std::optional<RunContradiction> contradiction_of(const ModelFit& fit, std::int64_t episodes) {
    // Were some mixture right, the evidence would ever reach the threshold with probability `level` at most,
    // however often one looks (Ville) [likelihood §7].
    if (!fit.contradicted) return std::nullopt;
    RunContradiction found;
    found.what = fmt::format(
        "the evidence against every mixture of the base models is e^{:.1f}; were one of them right, it would "
        "ever reach e^{:.1f} with probability {} at most",
        fit.log_evidence, fit.threshold, fit.level);
    found.episodes = episodes;
    found.level = fit.level;
    found.log_evidence = fit.log_evidence;
    found.threshold = fit.threshold;
    if (!fit.worst) return found;
    found.step = fit.worst->step;
    found.state = fit.worst->state;
    found.action = fit.worst->action;
    found.successor = fit.worst->successor;
    return found;
}

std::optional<RunContradiction> contradiction_of(const MisspecificationBound& bound, double assumed,
                                                 std::int64_t episodes) {
    if (!(bound.lower > assumed)) return std::nullopt;
    RunContradiction found;
    // Of laws that may change with time only the smaller bound is proved [docs/algorithms/model-check.md,
    // Theorem 4].
    const bool any_laws = bound.varying > assumed;
    const double proved = any_laws ? bound.varying : bound.lower;
    found.what = fmt::format(
        "some transition law is farther than {:.4f}, in total variation, from every mixture of the base "
        "models, with probability {}{}; at most {:.4g} was assumed",
        std::floor(1e4 * proved) / 1e4, 1 - bound.level,
        any_laws ? "" : ", if each state and action has one law a step that does not change with time",
        assumed);
    found.episodes = episodes;
    found.level = bound.level;
    found.step = bound.step;
    return found;
}

}  // namespace alidade
