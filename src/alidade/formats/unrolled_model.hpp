#pragma once

#include <utility>
#include <vector>

#include "alidade/formats/explicit_model.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"

namespace alidade {

/// A known model with one reward, called `r`, as model checkers keep it: state h*S+s is state s at step h,
/// and every choice of the last step leads to state H*S, labelled `end`, which leads to itself. A start law
/// over several states adds one more state, labelled `start`, whose single choice is that law and earns
/// nothing. Choice a is action a. The numbering is that of LayeredView, which also has intervals and
/// parameters but needs a learned model.
class UnrolledModel final : public ExplicitRows {
public:
    /// Model and reward must outlive it and have the same shape.
    UnrolledModel(const TransitionModel& model, const Reward& reward);

private:
    void do_read(Index state, ExplicitState& row) const override;

    const TransitionModel& model_;
    const Reward& reward_;
    std::vector<std::pair<State, double>> start_;  // of positive probability, ascending
};

}  // namespace alidade
