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
        // u = beta |phi|, not cut at the range before it is added, or optimism fails [theory §2, erratum 54].
        const Vector bonuses = linear_bonuses(features, estimate, printed > 0 ? printed : estimate.radius);
        // phi . w^(V) + R + n u: the exploration reward R is a bonus itself, and another one makes up for the
        // error of the regression [docs/algorithms/lsvi.md, The algorithms' own certificates].
        const Vector worth = linear_backup(features, estimate, pass.scale(h), bonuses, values);
        for (State s = 0; s < states; ++s) {
            const std::span of_state(worth.data() + shape().pair(s, 0), at(shape().actions));
            // By values that are not clipped: clipped ones tie while nothing is known [likelihood §8.4].
            const Action chosen = tied_action(of_state, {seed_, replans(), h * states + s});
            actions[at(h * states + s)] = static_cast<std::int32_t>(chosen);
            // At n, which no error exceeds [docs/algorithms/lsvi.md, Theorem 3]; and a regression may be
            // negative.
            values[s] = std::clamp(of_state[at(chosen)], 0.0, pass.ranges.at(h));
        }
    }
    return Policy::deterministic(shape(), std::move(actions));
}

}  // namespace alidade::detail
