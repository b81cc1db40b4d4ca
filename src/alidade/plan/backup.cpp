#include "backup.hpp"

#include "alidade/error.hpp"

namespace alidade::detail {

void expect_same_shape(const Shape& model, const Shape& other, const char* what) {
    expects(model == other, "the {} is for {} states, {} actions and horizon {}, the model has {}, {} and {}",
            what, other.states, other.actions, other.horizon, model.states, model.actions, model.horizon);
}

void optimal_backup(const TransitionModel& model, const Reward& reward, Step h, StateRange states,
                    const double* next, double* value, std::int32_t* action) {
    const SuccessorMap& successors = model.successors();
    const Index actions = model.shape().actions;
    const auto kept = model.kept_probabilities(h);
    const std::int32_t* const targets = successors.targets().data();
    const double* const rewards = reward.at(h).data();

    Index pair = model.shape().pair(states.first, 0);
    Index begin = successors.first_entry(pair);
    for (State s = states.first; s < states.last; ++s) {
        double best = -1;  // below every value: rewards are not negative
        Action first = 0;
        for (Action a = 0; a < actions; ++a, ++pair) {
            double total = rewards[pair];
            if (next != nullptr) {
                const Index end = successors.first_entry(pair + 1);
                total += kept.empty() ? model.expect(h, pair, {next, at(model.shape().states)})
                                      : expect_entries(kept.data(), targets, begin, end, next);
                begin = end;
            }
            if (total > best) {
                best = total;
                first = a;
            }
        }
        value[s] = best;
        action[s] = static_cast<std::int32_t>(first);
    }
}

}  // namespace alidade::detail
