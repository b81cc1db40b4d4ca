#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "alidade/certify/advantage.hpp"
#include "alidade/certify/occupancy_bounds.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/climbing_members.hpp"
#include "support/effort.hpp"

// Attacks on the bound of the loss in which one member serves all states: members climb to where the loss is
// largest, and rounding does its worst.
namespace alidade::attack_shared_loss_test {
namespace {

/// At least what evaluating a policy and planning differ by when they mean the same number.
constexpr double rounding = 1e-13;

MixtureModel with_weights(const LearnedMixture& learned, const Matrix& weights) {
    const MixtureModel& model = learned.model();
    return MixtureModel(model.shared_features(), model.shape().horizon, model.start(), weights);
}

double loss(const MixtureModel& truth, const Policy& policy, const Reward& reward) {
    return backward_induction(truth, reward).value - evaluate(truth, policy, reward).value;
}

/// Derivatives of the policy's value by the weights of each set.
Matrix slope(const LearnedMixture& learned, const MixtureModel& truth, const Policy& policy,
             const Reward& reward) {
    const FeatureMap& features = truth.features();
    const Matrix values = evaluate(truth, policy, reward).values, pairs = occupancy(truth, policy);
    Matrix sum = Matrix::Zero(static_cast<Index>(learned.sets().size()), features.features());
    for (Step h = 0; h + 1 < truth.shape().horizon; ++h)
        for (Index pair = 0; pair < truth.shape().pairs(); ++pair)
            for (Index j = 0; j < features.successors(pair); ++j) {
                const auto phi = features.phi(features.first_entry(pair) + j);
                const double weight = pairs(h, pair) * values(h + 1, features.targets(pair)[at(j)]);
                for (Index i = 0; i < sum.cols(); ++i) sum(learned.set_index(h), i) += weight * phi[at(i)];
            }
    return sum;
}

Reward random_kind_of_reward(Stream& random, const Shape& shape) {
    std::vector<double> values(at(shape.horizon * shape.pairs()), 0.0);
    const Index favoured = sample_index(random, shape.states);
    switch (sample_index(random, 5)) {
        case 0:
            return support::random_reward(random, shape);
        case 1:
            return support::random_sparse_reward(random, shape, 0.2);
        case 2:  // in one state
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = static_cast<Index>(i) % shape.pairs() / shape.actions == favoured ? 1 : 0;
            break;
        case 3:  // many ties
            for (double& value : values) value = 0.5 * static_cast<double>(sample_index(random, 3));
            break;
        default:  // nearly ties
            for (double& value : values) value = 0.5 + 1e-3 * sample_uniform(random);
    }
    return Reward(shape, std::move(values));
}

/// Good, bad, random; some stochastic everywhere, in some states or hardly.
std::vector<Policy> kinds_of_policies(Stream& random, const LearnedMixture& learned, const Reward& reward) {
    const Shape& shape = learned.shape();
    std::vector<double> opposite;
    for (const double value : reward.values()) opposite.push_back(1 - value);
    const Policy plan = backward_induction(learned.model(), reward).policy;
    std::vector<double> wavering;
    const double most = std::pow(10.0, -10 * sample_uniform(random));
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            const auto law = sample_dirichlet(random, shape.actions, 0.5);
            const double share = sample_index(random, 2) == 0 ? 0 : most;
            for (Action a = 0; a < shape.actions; ++a)
                wavering.push_back((1 - share) * plan.probability(h, s, a) + share * law[at(a)]);
        }
    return {plan, backward_induction(learned.model(), Reward(shape, opposite)).policy,
            support::random_deterministic_policy(random, shape),
            support::random_stochastic_policy(random, shape), Policy::stochastic(shape, wavering)};
}

/// 5 policies x up to 5 members a model, two of which climbed.
void attack_losses(std::uint64_t part, std::uint64_t models, bool thin, double& tightest) {
    for (std::uint64_t seed = 0; seed < models; ++seed) {
        Stream random = support::test_stream(seed, part);
        const LearnedMixture learned =
            support::random_learned_model(random, support::small_sizes(random), thin);
        const DeviationTable deviations = DeviationTable::of(learned);
        const support::Farthest farthest(learned);
        const Reward reward = random_kind_of_reward(random, learned.shape());
        std::vector<Matrix> starts{learned.model().weights()};
        for (int k = 0; k < 2; ++k)
            starts.push_back(support::random_member(learned, random, k == 1).weights());
        std::erase_if(starts, [&](const Matrix& weights) { return !support::inside(learned, weights); });
        for (const Policy& policy : kinds_of_policies(random, learned, reward)) {
            const detail::AdvantageBounds bounds = detail::advantage_bounds(
                learned, deviations, reward, policy, value_bounds(learned, reward, policy));
            const auto height = [&](const Matrix& weights) {
                return loss(with_weights(learned, weights), policy, reward);
            };
            const auto ascent = [&](const Matrix& weights) -> Matrix {
                const MixtureModel truth = with_weights(learned, weights);
                return slope(learned, truth, backward_induction(truth, reward).policy, reward) -
                       slope(learned, truth, policy, reward);
            };
            const Matrix probable = detail::occupancy_bounds(learned, policy);
            for (const Matrix& start : starts) {
                const Matrix weights = support::climb(learned, farthest, start, height, ascent);
                const double worst = height(weights);
                EXPECT_LE(worst, bounds.advantage + rounding) << "seed " << seed;
                if (bounds.advantage > 1e-6) tightest = std::max(tightest, worst / bounds.advantage);
                const Matrix pairs = occupancy(with_weights(learned, weights), policy);
                const Index actions = learned.shape().actions;
                for (Step h = 0; h < pairs.rows(); ++h)
                    for (State s = 0; s < probable.cols(); ++s)
                        EXPECT_LE(pairs.row(h).segment(s * actions, actions).sum(), probable(h, s) + 1e-14)
                            << "seed " << seed << " step " << h << " state " << s;
            }
        }
    }
}

TEST(SharedLossAttack, HoldsForMembersThatClimb) {
    double tightest = 0;
    attack_losses(61, static_cast<std::uint64_t>(support::runs(400, 20000)), false, tightest);
    RecordProperty("tightest", std::to_string(tightest));
    EXPECT_GT(tightest, 0.999);
}

TEST(SharedLossAttack, HoldsInThinSetsAndIllConditionedMetrics) {
    double tightest = 0;
    attack_losses(62, static_cast<std::uint64_t>(support::runs(400, 20000)), true, tightest);
    RecordProperty("tightest", std::to_string(tightest));
}

// Half the probability comes from one state, and 10^5 others add less than half a unit in its last place
// each: a plain sum sees none of them.
TEST(SharedLossAttack, OccupancyBoundsHoldForSumsThatLoseTheirSmallTerms) {
    const Index states = 100002;
    const double little = 5e-17;
    std::vector<std::pair<State, double>> start{{0, 0.5}, {states - 1, 0.5}};
    for (State s = 1; s < states - 1; ++s) start.emplace_back(s, little);
    BaseKernel kernel{"only", states, states, {0}, {}, {}};
    for (State s = 0; s < states; ++s) {
        kernel.targets.push_back(s == states - 1 ? s : 0);
        kernel.probabilities.push_back(1);
        kernel.offsets.push_back(s + 1);
    }
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(states, 1, std::vector{kernel}));
    const ParameterSet parameters = ParameterSet::of(*features);
    const LearnedMixture learned(features, 2, StartLaw(start), true,
                                 {ConfidenceSet(parameters, estimate_with(Vector(0), Matrix(0, 0)), 1)}, 0.1);
    long double arriving = 0;
    for (const auto& [state, probability] : learned.model().start().atoms())
        if (state < states - 1) arriving += static_cast<long double>(probability);
    const Matrix bounds = detail::occupancy_bounds(learned, Policy::uniform(learned.shape()));
    EXPECT_GE(static_cast<long double>(bounds(1, 0)), arriving);
    EXPECT_LE(bounds(1, 0), 0.5 + 1e-10);
}

}  // namespace
}  // namespace alidade::attack_shared_loss_test
