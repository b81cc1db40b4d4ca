#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "alidade/certify/misspecification_bound.hpp"
#include "alidade/certify/model_fit.hpp"
#include "alidade/error.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What spoke against the model.
enum class ContradictionKind {
    impossible_transition,  ///< a transition that no base model can produce
    empty_confidence_set,   ///< a projection beyond the radius, or sets without a common point
    model_check,            ///< the evidence against every mixture [check_model]
};
/// "impossible-transition", "empty-confidence-set" or "model-check".
std::string to_string(ContradictionKind kind);
/// The kind of such a name. Throws InvalidArgument for another.
ContradictionKind parse_contradiction_kind(std::string_view name);

/// That the data of a run contradict its model, so that its bounds are not to be relied on. More data do not
/// undo it: what is impossible once is impossible, and the sets and the evidence are valid at all times at
/// once, so that to have crossed them at any time is what is improbable.
struct RunContradiction {
    ContradictionKind kind = ContradictionKind::model_check;
    std::string what;            ///< in words
    std::int64_t episodes = 0;   ///< of the run when it was found
    std::optional<Step> step;    ///< where, if that is known; none also where steps are pooled
    std::optional<State> state;  ///< where, if that is known
    std::optional<Action> action;
    std::optional<State> successor;      ///< the impossible one, or the one seen too often
    std::optional<double> level;         ///< of the model check, in (0, 1)
    std::optional<double> log_evidence;  ///< of the model check, in nats
    std::optional<double> threshold;     ///< the log evidence that contradicts

    bool operator==(const RunContradiction&) const = default;
};

/// What an impossible transition showed, in the last of so many episodes.
RunContradiction impossible_transition(const ModelContradiction& error, std::int64_t episodes);

/// What a model check found after so many episodes; none unless it contradicts.
std::optional<RunContradiction> contradiction_of(const ModelFit& fit, std::int64_t episodes);
/// That the truth is farther off the mixtures than was assumed; none unless it is.
std::optional<RunContradiction> contradiction_of(const MisspecificationBound& bound, double assumed,
                                                 std::int64_t episodes);

}  // namespace alidade
