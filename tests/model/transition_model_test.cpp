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
