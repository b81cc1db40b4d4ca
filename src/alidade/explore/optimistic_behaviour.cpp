#include "optimistic_behaviour.hpp"

#include <algorithm>

#include "../model/parallel.hpp"
#include "tied_action.hpp"

namespace alidade::detail {

OptimisticBehaviour::OptimisticBehaviour(const BehaviourSetting& setting,
                                         std::shared_ptr<RegressionSource> source, Ties ties)
    : Behaviour(setting.task.shape(), setting.schedule),
      seed_(setting.seed),
      threads_(setting.threads),
      ties_(ties),
      source_(std::move(source)) {}

// Backwards through E_h = max_a min(H-1-h, (H-1-h) beta width + P~ E_{h+1}), moving the witnesses on the way;
// with the paper's constants through Q_h = clip(theta^ . phi_V + 2u) [paper, Alg. 1 lines 12-13]. There is no
// bonus at the last step, which the paper explores though nothing comes after it [theory §3c].
Policy OptimisticBehaviour::choose() {
    // New sets and, for every pair, the V that the transitions to come are regressed on [paper, Alg. 1 lines
    // 6-9].
    source_->solve();
    const ValueRegression& regression = source_->regression();
    const bool paper = regression.constants().paper;
    const Index states = shape().states;
    std::vector<std::int32_t> actions(at(shape().horizon * states), 0);
    std::vector<double> errors(actions.size(), 0.0), worth(at(shape().pairs()));
    for (Step h = shape().horizon - 2; h >= 0; --h) {
        const RegressionSet& solved = source_->set(h);
        const double range = regression.range(h);
        // One bonus under the projected model is enough [oracle §0.4]; the paper has two, the exploration
        // reward and the bonus of optimism.
        const double scale = range * (paper ? 2 * solved.radius : solved.refined);
        const std::span<const double> next(errors.data() + (h + 1) * states, at(states));
        source_->back_up({h, paper ? &solved.estimate : &solved.weights, scale, next}, worth);
        in_chunks(states, states_a_chunk(), threads_, [&](State first, State last) {
            for (State s = first; s < last; ++s) {
                const double* value = worth.data() + shape().pair(s, 0);
                const Action chosen = choose(value, h, s);
                actions[at(h * states + s)] = static_cast<std::int32_t>(chosen);
                // Clipped only now that the choice is made: no value exceeds the range, and none is
                // negative [theory §2, erratum 17].
                errors[at(h * states + s)] = std::clamp(value[chosen], 0.0, range);
            }
        });
    }
    return Policy::deterministic(shape(), std::move(actions));
}

// The unclipped value decides: clipped ones tie while nothing is known, and the first action would win
// everywhere, as it does in a printed argmax [paper, Alg. 1 lines 12-13; likelihood §8.4]. Exact ties are
// drawn.
Action OptimisticBehaviour::choose(const double* value, Step h, State s) const {
    if (ties_ == Ties::first) {
        const double range = source_->regression().range(h);
        return std::max_element(value, value + shape().actions,
                                [&](double a, double b) {
                                    return std::clamp(a, 0.0, range) < std::clamp(b, 0.0, range);
                                }) -
               value;
    }
    return tied_action({value, at(shape().actions)}, {seed_, replans(), h * shape().states + s});
}

UniformBehaviour::UniformBehaviour(const BehaviourSetting& setting, std::shared_ptr<SetSource> source)
    : Behaviour(setting.task.shape(), setting.schedule), source_(std::move(source)) {}

Policy UniformBehaviour::choose() {
    // Whoever acts, the sets must fix what they regress on; who acts at random needs nothing else of them.
    source_->refresh();
    return Policy::uniform(shape());
}

}  // namespace alidade::detail
