#pragma once

#include <cstdint>

#include "alidade/plan/planner.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// How long and how widely a tree search looks.
struct UctOptions {
    Index simulations = 1000;  ///< from every step and state, >= 1; fewer than A leave actions untried
    double exploration = 0.5;  ///< >= 0; the bonus is this times the steps left times sqrt(ln N / n)
    std::uint64_t seed = 1;    ///< the same seed gives the same policy
};

/// Monte-Carlo tree search (UCT) that only draws from the model: it asks for a next state and a reward, never
/// for a probability. Statistics are kept for each (step, state, action), so paths that meet share what they
/// learn. Every step and state is the root of its own simulations, from the last step to the first; below the
/// root each state has then been searched already, and the same rule chooses there. The action taken in the
/// end is the most tried one. It claims no value, and accuracy infinity.
class UctPlanner final : public Planner {
public:
    explicit UctPlanner(const UctOptions& options = {});

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    UctOptions options_;
};

}  // namespace alidade::detail
