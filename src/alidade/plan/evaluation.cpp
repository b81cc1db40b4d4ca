#include "alidade/plan/evaluation.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "../model/sweep.hpp"
#include "backup.hpp"

namespace alidade {
namespace {

/// The law of the action at each (step, state), whichever way the policy stores it.
class ActionLaw {
public:
    explicit ActionLaw(const Policy& policy) : policy_(policy), actions_(policy.shape().actions) {}

    const Shape& shape() const { return policy_.shape(); }

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

/// V^pi of the states of a chunk at step h. `next` are the values of the step after, if one follows.
template <bool follows>
[[gnu::noinline]] void evaluate_states(const TransitionModel& model, const ActionLaw& law,
                                       const Reward& reward, Step h, detail::StateRange states,
                                       const double* next, double* value) {
    const Shape& shape = model.shape();
    const SuccessorMap& successors = model.successors();
    const std::int32_t* const targets = successors.targets().data();
    const auto kept = model.kept_probabilities(h);
    const double* const rewards = reward.at(h).data();
    for (State s = states.first; s < states.last; ++s) {
        double total = 0;
        law.for_each(h, s, [&](Action a, double probability) {
            const Index pair = shape.pair(s, a);
            double earned = rewards[pair];
            if (follows) {
                earned += kept.empty()
                              ? model.expect(h, pair, {next, at(shape.states)})
                              : detail::expect_entries(kept.data(), targets, successors.first_entry(pair),
                                                       successors.first_entry(pair + 1), next);
            }
            total += probability * earned;
        });
        value[s] = total;
    }
}

/// Occupancies of the pairs of a chunk's states at the last step.
void stay(const ActionLaw& law, Step h, detail::StateRange states, const double* here, double* row) {
    for (State s = states.first; s < states.last; ++s) {
        const double reached = here[s];
        if (!(reached > 0)) continue;
        law.for_each(h, s, [&](Action a, double probability) {
            row[law.shape().pair(s, a) * law.shape().horizon] = reached * probability;
        });
    }
}

/// Occupancies of the pairs of a chunk's states at step h, and what is at these states at step h+1, from all
/// pairs in their order. `all`: the chunk has all states.
template <bool all>
[[gnu::noinline]] void pass_on(const TransitionModel& model, const ActionLaw& law, Step h,
                               detail::StateRange states, const double* here, double* next, double* row) {
    const Shape& shape = model.shape();
    const SuccessorMap& successors = model.successors();
    const std::int32_t* const targets = successors.targets().data();
    const Index horizon = shape.horizon;
    std::fill(next + states.first, next + states.last, 0.0);
    for (State s = 0; s < shape.states; ++s) {
        const double reached = here[s];
        if (!(reached > 0)) continue;
        law.for_each(h, s, [&](Action a, double probability) {
            const Index pair = shape.pair(s, a);
            const double mass = reached * probability;
            if (all || (s >= states.first && s < states.last)) row[pair * horizon] = mass;
            std::pair<Index, Index> entries(successors.first_entry(pair), successors.first_entry(pair + 1));
            if (!all) entries = detail::entries_into(successors, pair, states.first, states.last);
            const Law onward = model.probabilities(h, pair);
            const double* const chances = onward.data() - successors.first_entry(pair);
            for (Index entry = entries.first; entry < entries.second; ++entry)
                next[targets[entry]] += mass * chances[entry];
        });
    }
}

}  // namespace

Evaluation evaluate(const TransitionModel& model, const Policy& policy, const Reward& reward,
                    Threads threads) {
    const Shape& shape = model.shape();
    detail::expect_same_shape(shape, policy.shape(), "policy");
    detail::expect_same_shape(shape, reward.shape(), "reward");
    const ActionLaw law(policy);
    std::array<std::vector<double>, 2> of_steps;  // by turns: a step reads those of the next
    for (std::vector<double>& values : of_steps) values.resize(at(shape.states), 0.0);
    Evaluation result{Matrix::Zero(shape.horizon + 1, shape.states), 0.0};
    const auto back_up = [&](detail::NoScratch, Step h, State first, State last) {
        const double* const next = of_steps[at((h + 1) % 2)].data();
        double* const value = of_steps[at(h % 2)].data();
        if (h + 1 < shape.horizon)
            evaluate_states<true>(model, law, reward, h, {first, last}, next, value);
        else
            evaluate_states<false>(model, law, reward, h, {first, last}, next, value);
        double* const row = result.values.data() + h;
        for (State s = first; s < last; ++s) row[s * (shape.horizon + 1)] = value[s];
    };
    const detail::Sweep sweep(shape, threads, detail::pairs_a_backup);
    sweep.backwards(shape.horizon - 1, detail::no_scratch, back_up);
    result.value = model.start().expect(of_steps[0]);
    return result;
}

Matrix occupancy(const TransitionModel& model, const Policy& policy, Threads threads) {
    const Shape& shape = model.shape();
    detail::expect_same_shape(shape, policy.shape(), "policy");
    const ActionLaw law(policy);
    std::array<std::vector<double>, 2> of_steps;  // by turns: a step reads those of the one before
    for (std::vector<double>& reached : of_steps) reached.resize(at(shape.states), 0.0);
    for (const auto& [state, probability] : model.start().atoms()) of_steps[0][at(state)] += probability;
    Matrix result = Matrix::Zero(shape.horizon, shape.pairs());
    const detail::Sweep sweep(shape, threads, detail::pairs_a_backup);
    const auto arrive = [&](detail::NoScratch, Step h, State first, State last) {
        const double* const here = of_steps[at(h % 2)].data();
        double* const next = of_steps[at((h + 1) % 2)].data();
        if (h + 1 == shape.horizon)
            stay(law, h, {first, last}, here, result.data() + h);
        else if (sweep.chunks() == 1)
            pass_on<true>(model, law, h, {first, last}, here, next, result.data() + h);
        else
            pass_on<false>(model, law, h, {first, last}, here, next, result.data() + h);
    };
    sweep.forwards(shape.horizon, detail::no_scratch, arrive);
    return result;
}

}  // namespace alidade
