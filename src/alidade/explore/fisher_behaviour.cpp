#include "fisher_behaviour.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <optional>

#include "../model/parallel.hpp"
#include "../theory/radii.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::detail {

FisherBehaviour::FisherBehaviour(const BehaviourSetting& setting, std::shared_ptr<LikelihoodSource> source,
                                 FisherBonus bonus)
    : Behaviour(setting.task.shape(), setting.schedule),
      setting_(setting),
      bonus_(bonus),
      source_(std::move(source)),
      planner_(local_operator(*setting_.task.features, setting_.threads)->bonus(source_->tangent())) {}

// Greedy for the bonuses under the smoothed model. I(s,a) in the metric of J, the information gathered so
// far, says what a visit would add; no regression on values, weighted or not, knows more than the likelihood
// does [likelihood §5].
Policy FisherBehaviour::choose() {
    source_->refresh();
    const bool homogeneous = setting_.task.homogeneous, clipped = bonus_ == FisherBonus::sqrt;
    const Index states = shape().states;
    const double pooled = homogeneous ? static_cast<double>(shape().learned_steps()) : 1;
    // It steers and proves nothing, so the closed form of the regret is near enough.
    const double allowance = likelihood_allowance(
        mixture_regret(pooled * static_cast<double>(episodes()), setting_.task.features->features()), 2,
        std::max<Index>(1, std::ssize(source_->information())),  // none if H = 1
        source_->setting().delta);
    // Generalised eigenvalues of (I, J) are those of L^-1 I L^-T, J = L L': a factor a set, for all pairs.
    std::vector<Matrix> factors;
    for (const Matrix& metric : source_->information())
        factors.emplace_back(Eigen::LLT<Matrix>(metric).matrixL());
    const Step last_learned = shape().horizon - 2;
    std::vector<std::int32_t> actions(at(shape().horizon * states), 0);
    std::vector<double> values(actions.size(), 0.0), bonus(at(shape().pairs())), worth(at(shape().pairs()));
    for (Step h = last_learned; h >= 0; --h) {
        const std::size_t set = homogeneous ? 0 : at(h);
        const auto range = static_cast<double>(shape().steps_after(h));
        // `sqrt` is a total variation, which costs the range of what follows; the others are information, not
        // reward. Pooled steps share metric and model, and so their bonuses.
        planner_->run({.known = {&source_->smoothed()[set], &factors[set], bonus_, allowance},
                       .scale = clipped ? range : 1.0,
                       .next = std::span(values).subspan(at((h + 1) * states), at(states)),
                       .bonus_known = homogeneous && h < last_learned},
                      bonus, worth);
        in_chunks(states, states_a_chunk(), setting_.threads, [&](State first, State last) {
            for (State s = first; s < last; ++s) {
                const Action chosen = choose(worth.data() + shape().pair(s, 0), h, s);
                // Nothing is clipped but the value that is passed on, which no error can exceed.
                const double best = worth[at(shape().pair(s, chosen))];
                actions[at(h * states + s)] = static_cast<std::int32_t>(chosen);
                values[at(h * states + s)] = clipped ? std::min(range, best) : best;
            }
        });
    }
    return Policy::deterministic(shape(), std::move(actions));
}

// Exact ties are drawn: the last of n is kept with probability 1/n, so that all are equally likely.
Action FisherBehaviour::choose(const double* value, Step h, State s) const {
    std::optional<Stream> random;
    Action chosen = 0;
    Index ties = 1;
    for (Action a = 1; a < shape().actions; ++a) {
        if (value[a] < value[chosen]) continue;
        ties = value[a] > value[chosen] ? 1 : ties + 1;
        if (ties > 1 && !random)
            random.emplace(setting_.seed, Purpose::ties, static_cast<std::uint64_t>(replans()),
                           static_cast<std::uint64_t>(h * shape().states + s));
        if (ties == 1 || sample_index(*random, ties) == 0) chosen = a;
    }
    return chosen;
}

}  // namespace alidade::detail
