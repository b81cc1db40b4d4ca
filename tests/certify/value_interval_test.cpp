#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/climbing_members.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"

// The interval of a policy's value: members of the sets are shared by all states of a step.
namespace alidade::value_interval_test {
namespace {

/// The interval in which every state chooses a member of its own.
Interval by_states(const LearnedMixture& learned, const Reward& reward, const Policy& policy) {
    const ValueBounds bounds = value_bounds(learned, reward, policy);
    const auto mean = [&](const Matrix& values) {
        const Vector first = values.row(0).transpose();
        return learned.model().start().expect({first.data(), at(first.size())});
    };
    return {mean(bounds.policy_lower), mean(bounds.policy_upper)};
}

MixtureModel with_weights(const LearnedMixture& learned, const Matrix& weights) {
    const MixtureModel& model = learned.model();
    Matrix all = model.weights();
    all.topRows(weights.rows()) = weights;
    return MixtureModel(model.shared_features(), model.shape().horizon, model.start(), all);
}

/// The gradient of a policy's value by the weights of every set: what each pair adds, times how often the
/// policy is there.
Matrix gradient(const LearnedMixture& learned, const MixtureModel& truth, const Reward& reward,
                const Policy& policy) {
    const Shape& shape = truth.shape();
    const FeatureMap& features = truth.features();
    const Matrix values = evaluate(truth, policy, reward).values;
    Matrix sum = Matrix::Zero(static_cast<Index>(learned.sets().size()), features.features());
    std::vector<double> here(at(shape.states), 0.0);
    for (const auto& [state, probability] : truth.start().atoms()) here[at(state)] += probability;
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        const Vector row = values.row(h + 1).transpose();
        std::vector<double> there(at(shape.states), 0.0);
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) {
                const double mass = here[at(s)] * policy.probability(h, s, a);
                if (mass == 0) continue;
                const Index pair = shape.pair(s, a);
                sum.row(learned.set_index(h)) +=
                    mass * features.phi_value(pair, {row.data(), at(row.size())}).transpose();
                const auto law = truth.probabilities(h, pair);
                for (std::size_t j = 0; j < law.size(); ++j)
                    there[at(features.targets(pair)[j])] += mass * law[j];
            }
        here.swap(there);
    }
    return sum;
}

// 240 models x 2 rewards, each with members that climb to the largest and to the least value.
TEST(ValueInterval, ContainsTheValuesThatMembersClimbTo) {
    double tightest = 0, narrower = 0;
    Index intervals = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(240, 40); ++seed) {
        Stream random = support::test_stream(seed, 71);
        const LearnedMixture learned =
            support::random_learned_model(random, support::small_sizes(random), false);
        const support::Farthest farthest(learned);
        const auto sets = static_cast<Index>(learned.sets().size());
        for (int r = 0; r < 2; ++r) {
            const Reward reward = r == 0 ? support::random_reward(random, learned.shape())
                                         : support::random_sparse_reward(random, learned.shape(), 0.4);
            const Policy policy = seed % 3 == 0 ? support::random_stochastic_policy(random, learned.shape())
                                                : backward_induction(learned.model(), reward).policy;
            const Interval value = certify_reward(learned, reward, policy).value;
            const Interval apart = by_states(learned, reward, policy);
            EXPECT_LE(value.upper, apart.upper + 1e-8) << "seed " << seed;
            EXPECT_GE(value.lower, apart.lower - 1e-8) << "seed " << seed;
            for (const double sign : {1.0, -1.0}) {
                const auto height = [&](const Matrix& weights) {
                    return sign * evaluate(with_weights(learned, weights), policy, reward).value;
                };
                const auto ascent = [&](const Matrix& weights) {
                    return Matrix(sign * gradient(learned, with_weights(learned, weights), reward, policy));
                };
                const Matrix top = support::climb(learned, farthest, learned.model().weights().topRows(sets),
                                                  height, ascent);
                const double reached = sign * height(top), middle = 0.5 * (value.lower + value.upper);
                EXPECT_GE(reached, value.lower - 1e-12) << "seed " << seed;
                EXPECT_LE(reached, value.upper + 1e-12) << "seed " << seed;
                if (value.upper - value.lower > 1e-5)
                    tightest =
                        std::max(tightest, 2 * std::abs(reached - middle) / (value.upper - value.lower));
            }
            if (!(apart.upper - apart.lower > 1e-5)) continue;
            narrower += (value.upper - value.lower) / (apart.upper - apart.lower);
            ++intervals;
        }
    }
    RecordProperty("tightest", std::to_string(tightest));
    RecordProperty("share of the width by states", std::to_string(narrower / static_cast<double>(intervals)));
    EXPECT_GT(tightest, 0.9);
    EXPECT_LT(narrower, 0.95 * static_cast<double>(intervals));
}

// State 0 leads to 1 or 2 with one half each; from there the goal, state 3, is reached with probability x or
// 1 - x, x being .2 or .9 in the base models. Whatever the weights, the goal is reached with probability one
// half. State by state it could be any of [.15, .85].
TEST(ValueInterval, IsAPointWhereTheMembersErrorsCancel) {
    const std::vector<std::int64_t> offsets{0, 2, 4, 6, 7}, targets{1, 2, 0, 3, 0, 3, 3};
    const BaseKernel a{"a", 4, 4, offsets, targets, {0.5, 0.5, 0.8, 0.2, 0.2, 0.8, 1}};
    const BaseKernel b{"b", 4, 4, offsets, targets, {0.5, 0.5, 0.1, 0.9, 0.9, 0.1, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(4, 1, std::vector{a, b}));
    const MixtureModel truth(features, 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    std::vector<double> rewards(12, 0.0);
    rewards[11] = 1;
    const Reward reward(truth.shape(), rewards);
    const Policy policy = Policy::deterministic(truth.shape(), std::vector<std::int32_t>(12, 0));
    const Interval apart = by_states(learned, reward, policy);
    EXPECT_NEAR(apart.lower, 0.15, 1e-8);
    EXPECT_NEAR(apart.upper, 0.85, 1e-8);
    const RewardCertificate certificate = certify_reward(learned, reward, policy);
    EXPECT_NEAR(certificate.value.lower, 0.5, 1e-7);
    EXPECT_NEAR(certificate.value.upper, 0.5, 1e-7);
    EXPECT_LE(certificate.value.lower, 0.5);
    EXPECT_GE(certificate.value.upper, 0.5);
}

}  // namespace
}  // namespace alidade::value_interval_test
