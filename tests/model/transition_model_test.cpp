#include "alidade/model/transition_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/random_models.hpp"

namespace alidade::transition_model_test {
namespace {

/// Two states, one action: 0 leads to both, 1 stays.
SharedSuccessors fork() {
    return std::make_shared<const SuccessorMap>(2, 1, std::vector<std::int64_t>{0, 2, 3},
                                                std::vector<std::int32_t>{0, 1, 1});
}

TEST(SuccessorMap, FindsItsEntries) {
    const SharedSuccessors map = fork();
    EXPECT_EQ(map->entries(), 3);
    EXPECT_EQ(map->max_successors(), 2);
    EXPECT_EQ(map->find_entry(0, 0), 0);
    EXPECT_EQ(map->find_entry(0, 1), 1);
    EXPECT_EQ(map->find_entry(1, 1), 2);
    EXPECT_EQ(map->find_entry(1, 0), -1);
}

TEST(SuccessorMap, RefusesWhatIsNoMap) {
    using Offsets = std::vector<std::int64_t>;
    using Targets = std::vector<std::int32_t>;
    const auto make = [](Offsets offsets, Targets targets, Index states = 2) {
        return SuccessorMap(states, 1, std::move(offsets), std::move(targets));
    };
    EXPECT_THROW(make({0, 2}, {0, 1}), InvalidArgument);           // one row for two pairs
    EXPECT_THROW(make({0, 2, 4}, {0, 1, 1}), InvalidArgument);     // ends after the last entry
    EXPECT_THROW(make({1, 2, 3}, {0, 1, 1}), InvalidArgument);     // begins after the first
    EXPECT_THROW(make({0, 0, 2}, {0, 1}), InvalidArgument);        // a pair that leads nowhere
    EXPECT_THROW(make({0, 9, 3}, {0, 1, 1}), InvalidArgument);     // beyond, and back
    EXPECT_THROW(make({0, 2, 3}, {1, 0, 1}), InvalidArgument);     // descending
    EXPECT_THROW(make({0, 2, 3}, {1, 1, 1}), InvalidArgument);     // twice
    EXPECT_THROW(make({0, 2, 3}, {0, 2, 1}), InvalidArgument);     // no such state
    EXPECT_THROW(make({0, 2, 3}, {-1, 1, 1}), InvalidArgument);    // nor that
    EXPECT_THROW(make({0, 2, 3}, {0, 1, 1}, 0), InvalidArgument);  // no states
}

TEST(TransitionModel, IsGivenDirectly) {
    const TransitionModel model(fork(), 2, StartLaw(0), {0.25, 0.75, 1, 0.5, 0.5, 1});
    EXPECT_FALSE(model.homogeneous());
    EXPECT_EQ(model.probabilities(1, 0)[0], 0.5);
    EXPECT_EQ(model.expect(0, 0, std::vector<double>{8, 16}), 0.25 * 8 + 0.75 * 16);
    const TransitionModel same(fork(), 5, StartLaw(0), {0.25, 0.75, 1});
    EXPECT_TRUE(same.homogeneous());
    EXPECT_EQ(same.probabilities(4, 0)[0], 0.25);
}

// What is computed where it is asked for has the bits of what is kept, for planners and evaluation too.
TEST(MixtureModel, HasTheSameBitsKeptAndComputed) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        Stream random = support::test_stream(seed, 9);
        // More successors than a law has room for without asking for memory, in some.
        const auto features = support::random_features(
            random, {.shape = {seed < 3 ? 9 : 40, 3, 4}, .features = 4, .successors = seed < 3 ? 5 : 30});
        const Matrix weights = support::random_weights(random, seed % 2 == 0 ? 4 : 1, 4);
        const MixtureModel kept(features, 4, StartLaw(0), weights, Probabilities::kept);
        const MixtureModel computed(features, 4, StartLaw(0), weights, Probabilities::computed);
        EXPECT_TRUE(computed.kept_probabilities(0).empty());
        EXPECT_EQ(computed.homogeneous(), kept.homogeneous());
        std::vector<double> value;
        for (State s = 0; s < features->states(); ++s) value.push_back(sample_uniform(random));
        for (Step h = 0; h < 4; ++h) {
            EXPECT_EQ(computed.all_probabilities(h), kept.all_probabilities(h));
            for (Index pair = 0; pair < features->pairs(); ++pair) {
                const Law law = computed.probabilities(h, pair), copy = law;
                EXPECT_TRUE(std::equal(law.begin(), law.end(), kept.probabilities(h, pair).begin()));
                EXPECT_TRUE(std::equal(copy.begin(), copy.end(), law.begin(), law.end()));
                EXPECT_EQ(computed.expect(h, pair, value), kept.expect(h, pair, value));
            }
        }
        const Shape all{features->states(), 3, 4};
        std::vector<double> rewards;
        for (Index pair = 0; pair < all.pairs(); ++pair) rewards.push_back(sample_uniform(random));
        const Reward reward(all, rewards);
        const auto one = backward_induction(kept, reward), other = backward_induction(computed, reward);
        EXPECT_EQ(one.policy, other.policy);
        EXPECT_EQ(one.values, other.values);
        const Policy uniform = Policy::uniform(all);
        EXPECT_EQ(evaluate(kept, uniform, reward).value, evaluate(computed, uniform, reward).value);
        EXPECT_EQ(occupancy(kept, uniform), occupancy(computed, uniform));
    }
}

TEST(TransitionModel, RefusesWhatIsNoDistribution) {
    const auto make = [](std::vector<double> probabilities, Index horizon = 2) {
        return TransitionModel(fork(), horizon, StartLaw(0), std::move(probabilities));
    };
    EXPECT_THROW(make({0.25, 0.75}), InvalidArgument);
    EXPECT_THROW(make({0.25, 0.75, 1, 1}), InvalidArgument);
    EXPECT_THROW(make({0.25, 0.7, 1}), InvalidArgument);
    EXPECT_THROW(make({-0.25, 1.25, 1}), InvalidArgument);
    EXPECT_THROW(make({std::nan(""), 0.75, 1}), InvalidArgument);
    EXPECT_THROW(make({0.25, 0.75, 1}, 0), InvalidArgument);
    EXPECT_THROW(TransitionModel(nullptr, 2, StartLaw(0), {1}), InvalidArgument);
    EXPECT_THROW(TransitionModel(fork(), 2, StartLaw(2), {0.25, 0.75, 1}), InvalidArgument);
    EXPECT_EQ(make({-1e-12, 1, 1}).probabilities(0, 0)[0], 0);  // a rounding, not a fault
}

// A known model needs no mixture: planning on it is what planning on a mixture of it alone is.
TEST(TransitionModel, OfAKernelPlansAsTheMixtureOfItAlone) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 5);
        const Shape shape{6, 2, 4};
        const BaseKernel kernel =
            support::random_kernels(random, {.shape = shape, .features = 1, .successors = 3}).front();
        const auto features = std::make_shared<const FeatureMap>(
            FeatureMap::from_base_kernels(shape.states, shape.actions, {&kernel, 1}));
        const MixtureModel mixture(features, shape.horizon, StartLaw(1), Matrix::Ones(1, 1));
        const TransitionModel known =
            TransitionModel::from_kernel(kernel, shape.actions, shape.horizon, StartLaw(1));
        EXPECT_EQ(known.successors(), mixture.successors());
        const Reward reward = support::random_reward(random, shape);
        const OptimalPlan one = backward_induction(known, reward),
                          other = backward_induction(mixture, reward);
        EXPECT_EQ(one.value, other.value);
        EXPECT_EQ(evaluate(known, one.policy, reward).value, evaluate(mixture, other.policy, reward).value);
    }
}

}  // namespace
}  // namespace alidade::transition_model_test
