#include "adversary.hpp"

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::detail {

namespace {

/// The loss is <d* - d, R> for the occupancies of the optimal policy and of the plan on the truth; this
/// rewards exactly what the plan visits too rarely. It is the ascent direction while both policies stay.
std::vector<double> along_the_gradient(const TransitionModel& truth, const Reward& reward,
                                       const Policy& plan) {
    const Matrix wanted = occupancy(truth, backward_induction(truth, reward).policy);
    const Matrix got = occupancy(truth, plan);
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(wanted.size()));
    for (Index h = 0; h < wanted.rows(); ++h)
        for (Index pair = 0; pair < wanted.cols(); ++pair)
            values.push_back(wanted(h, pair) > got(h, pair) ? 1.0 : 0.0);
    return values;
}

/// Flips the reward of one (step, state): of one action, or of all alike.
void flip(std::vector<double>& values, const Shape& shape, Stream& random) {
    const Step h = sample_index(random, shape.horizon);
    const State s = sample_index(random, shape.states);
    const Action only = sample_index(random, 2 * shape.actions);
    for (Action a = 0; a < shape.actions; ++a) {
        if (only < shape.actions && a != only) continue;
        double& value = values[static_cast<std::size_t>(h * shape.pairs() + shape.pair(s, a))];
        value = 1 - value;
    }
}

std::vector<double> rounded(const Reward& reward) {
    std::vector<double> values;
    for (Step h = 0; h < reward.shape().horizon; ++h)
        for (const double r : reward.at(h)) values.push_back(r >= 0.5 ? 1.0 : 0.0);
    return values;
}

}  // namespace

TrueLoss measure_loss(const LearnedModel& learned, const TransitionModel& truth, const Reward& reward) {
    Policy policy = backward_induction(learned.model(), reward).policy;
    const double value = evaluate(truth, policy, reward).value;
    return {std::move(policy), backward_induction(truth, reward).value, value};
}

void climb(const LearnedModel& learned, const TransitionModel& truth, const Reward& start, Index steps,
           Stream& random, const std::function<void(const Reward&, const TrueLoss&, bool)>& visit) {
    const Shape& shape = truth.shape();
    std::vector<double> best = rounded(start);
    TrueLoss best_loss = measure_loss(learned, truth, Reward(shape, best));
    visit(Reward(shape, best), best_loss, true);
    for (Index step = 1; step < steps; ++step) {
        std::vector<double> trial = best;
        if (step % 20 == 1)
            trial = along_the_gradient(truth, Reward(shape, best), best_loss.policy);
        else
            for (Index flips = 1 + sample_index(random, 3); flips > 0; --flips) flip(trial, shape, random);
        const Reward reward(shape, trial);
        TrueLoss loss = measure_loss(learned, truth, reward);
        const bool accepted = loss.loss() > best_loss.loss();
        visit(reward, loss, accepted);
        if (!accepted) continue;
        best = std::move(trial);
        best_loss = std::move(loss);
    }
}

}  // namespace alidade::detail
