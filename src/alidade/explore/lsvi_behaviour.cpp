#include "lsvi_behaviour.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tied_action.hpp"

namespace alidade::detail {

LsviBehaviour::LsviBehaviour(const BehaviourSetting& setting, std::shared_ptr<LinearSource> source,
                             ExplorationReward reward)
    : Behaviour(setting.task.shape(), setting.schedule),
      seed_(setting.seed),
      source_(std::move(source)),
      reward_(reward) {}

// [paper, Alg. 3 lines 3-12]. The last step is not explored, as nothing comes after it.
Policy LsviBehaviour::choose() {
    source_->refresh();
    const PairFeatures& features = *source_->task().linear;
    const double printed = source_->printed_radius();
    const LinearPass pass{.reward = reward_, .ranges = {shape().horizon, printed == 0}};
    const Index states = shape().states;
    std::vector<std::int32_t> actions(at(shape().horizon * states), 0);
    Vector values = Vector::Zero(states);
    for (Step h = shape().horizon - 2; h >= 0; --h) {
        const LinearEstimate& estimate = source_->estimate(h);
        const Vector bonuses = linear_bonuses(features, estimate, printed > 0 ? printed : estimate.radius);
        const Vector worth = linear_backup(features, estimate, pass.scale(h), bonuses, values);
        for (State s = 0; s < states; ++s) {
            const std::span of_state(worth.data() + shape().pair(s, 0), at(shape().actions));
            const Action chosen = tied_action(of_state, {seed_, replans(), h * states + s});
            actions[at(h * states + s)] = static_cast<std::int32_t>(chosen);
            values[s] = std::clamp(of_state[at(chosen)], 0.0, pass.ranges.at(h));
        }
    }
    return Policy::deterministic(shape(), std::move(actions));
}

}  // namespace alidade::detail
