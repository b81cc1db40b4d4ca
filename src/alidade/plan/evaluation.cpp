#include "alidade/plan/evaluation.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "alidade/plan/backup.hpp"

namespace alidade {
namespace {

/// The law of the action at each (step, state), whichever way the policy stores it.
class ActionLaw {
public:
    explicit ActionLaw(const Policy& policy) : policy_(policy), actions_(policy.shape().actions) {}

    /// Calls visit(action, probability) for the actions that are taken at (h, s).
    template <class Visit>
    void for_each(Step h, State s, Visit&& visit) const {
        if (policy_.is_deterministic()) {
            visit(policy_.action(h, s), 1.0);
            return;
        }
        const auto first = static_cast<std::size_t>((h * policy_.shape().states + s) * actions_);
        const double* const law = policy_.probabilities().data() + first;
        for (Action a = 0; a < actions_; ++a) {
            if (law[a] > 0) visit(a, law[a]);
        }
    }

private:
    const Policy& policy_;
    Index actions_;
};

}  // namespace

Evaluation evaluate(const TransitionModel& model, const Policy& policy, const Reward& reward) {
    const Shape& shape = model.shape();
    expect_same_shape(shape, policy.shape(), "policy");
    expect_same_shape(shape, reward.shape(), "reward");
    const SuccessorMap& successors = model.successors();
    const std::int32_t* const targets = successors.targets().data();
    const ActionLaw law(policy);

    std::vector<double> next(static_cast<std::size_t>(shape.states), 0.0);
    std::vector<double> value(next.size());
    Evaluation result{Matrix::Zero(shape.horizon + 1, shape.states), 0.0};
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const double* const probabilities = model.probabilities(h).data();
        const double* const rewards = reward.at(h).data();
        const bool last = h + 1 == shape.horizon;
        double* const row = result.values.data() + h;
        for (State s = 0; s < shape.states; ++s) {
            double total = 0;
            law.for_each(h, s, [&](Action a, double probability) {
                const Index pair = shape.pair(s, a);
                double earned = rewards[pair];
                if (!last) {
                    earned += expect_entries(probabilities, targets, successors.first_entry(pair),
                                             successors.first_entry(pair + 1), next.data());
                }
                total += probability * earned;
            });
            value[static_cast<std::size_t>(s)] = total;
            row[s * (shape.horizon + 1)] = total;
        }
        std::swap(value, next);
    }
    result.value = model.start().expect(next);
    return result;
}

Matrix occupancy(const TransitionModel& model, const Policy& policy) {
    const Shape& shape = model.shape();
    expect_same_shape(shape, policy.shape(), "policy");
    const SuccessorMap& successors = model.successors();
    const std::int32_t* const targets = successors.targets().data();
    const ActionLaw law(policy);

    std::vector<double> here(static_cast<std::size_t>(shape.states), 0.0);
    std::vector<double> next(here.size());
    for (const auto& [state, probability] : model.start().atoms()) {
        here[static_cast<std::size_t>(state)] += probability;
    }
    Matrix result = Matrix::Zero(shape.horizon, shape.pairs());
    for (Step h = 0; h < shape.horizon; ++h) {
        const double* const probabilities = model.probabilities(h).data();
        double* const row = result.data() + h;
        std::fill(next.begin(), next.end(), 0.0);
        for (State s = 0; s < shape.states; ++s) {
            const double reached = here[static_cast<std::size_t>(s)];
            if (!(reached > 0)) continue;
            law.for_each(h, s, [&](Action a, double probability) {
                const Index pair = shape.pair(s, a);
                const double mass = reached * probability;
                row[pair * shape.horizon] = mass;
                for (Index entry = successors.first_entry(pair); entry < successors.first_entry(pair + 1);
                     ++entry) {
                    next[static_cast<std::size_t>(targets[entry])] += mass * probabilities[entry];
                }
            });
        }
        std::swap(here, next);
    }
    return result;
}

}  // namespace alidade
