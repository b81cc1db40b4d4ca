#include "policy_iteration.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../model/sweep.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/evaluation.hpp"
#include "backup.hpp"

namespace alidade::detail {
namespace {

/// What one greedy pass over all steps and states sees.
struct Improvement {
    std::vector<std::int32_t> actions;  ///< the improved policy
    bool changed = false;
    double bound = 0;  ///< on the loss of the policy that was improved
};

/// The values of one step as a contiguous array.
std::vector<double> row_of(const Matrix& values, Step h) {
    std::vector<double> row(static_cast<std::size_t>(values.cols()));
    for (Index s = 0; s < values.cols(); ++s) row[static_cast<std::size_t>(s)] = values(h, s);
    return row;
}

Improvement improve(const TransitionModel& model, const Reward& reward, const Policy& policy,
                    const Matrix& values) {
    const Shape& shape = model.shape();
    const auto states = static_cast<std::size_t>(shape.states);
    Improvement result;
    result.actions.resize(static_cast<std::size_t>(shape.horizon) * states);
    std::vector<double> best(states);
    const Sweep sweep(shape, 1, pairs_a_backup);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const std::vector<double> next = row_of(values, h + 1);
        std::int32_t* const row = result.actions.data() + static_cast<std::size_t>(h) * states;
        sweep.backwards(0, no_scratch, [&](NoScratch, Step, State first, State last) {
            optimal_backup(model, reward, h, {first, last}, h + 1 == shape.horizon ? nullptr : next.data(),
                           best.data(), row);
        });
        double largest = 0;
        for (State s = 0; s < shape.states; ++s) {
            const double gain = best[static_cast<std::size_t>(s)] - values(h, s);
            // Not even a tie changes an action: otherwise equal actions could alternate for ever.
            if (policy.is_deterministic() && !(gain > 0))
                row[s] = static_cast<std::int32_t>(policy.action(h, s));
            else
                result.changed = true;
            largest = std::max(largest, gain);
        }
        result.bound += largest;
    }
    return result;
}

}  // namespace

PolicyIterationPlanner::PolicyIterationPlanner(std::optional<Policy> start, Index sweeps)
    : start_(std::move(start)), sweeps_(sweeps) {
    expects(sweeps >= 0, "policy iteration of {} sweeps; it must be 0 (until nothing changes) or more",
            sweeps);
}

Plan PolicyIterationPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    const Shape& shape = model.shape();
    Policy policy = start_ ? *start_
                           : Policy::deterministic(shape, std::vector<std::int32_t>(static_cast<std::size_t>(
                                                              shape.horizon * shape.states)));
    for (Index sweep = 0;; ++sweep) {
        const Evaluation evaluation = evaluate(model, policy, reward);
        Improvement better = improve(model, reward, policy, evaluation.values);
        if (!better.changed) return Plan{std::move(policy), evaluation.value, 0.0};
        if (sweeps_ > 0 && sweep == sweeps_) return Plan{std::move(policy), evaluation.value, better.bound};
        ensures(sweep <= shape.horizon, "policy iteration still changes its policy after {} sweeps", sweep);
        policy = Policy::deterministic(shape, std::move(better.actions));
    }
}

}  // namespace alidade::detail
