#include <gtest/gtest.h>

#include "alidade/environment/simulated.hpp"
#include "alidade/environment/system_deployer.hpp"
#include "alidade/error.hpp"
#include "support/random_models.hpp"

namespace alidade::system_test {
namespace {

constexpr Shape shape{4, 2, 5};

/// Reports what it was given, some at a time.
class Recorded final : public System {
public:
    explicit Recorded(std::vector<SystemEpisode> episodes) : episodes_(std::move(episodes)) {}
    const Shape& shape() const override { return system_test::shape; }
    bool seeded() const override { return false; }
    std::int64_t run(const Policy&, std::int64_t, std::int64_t,
                     const std::function<void(std::span<const SystemEpisode>)>& accept,
                     const std::function<bool()>&) override {
        for (const SystemEpisode& episode : episodes_) accept({&episode, 1});
        if (fails) throw SystemFailed("no more");
        return std::ssize(episodes_);
    }
    bool fails = false;

private:
    std::vector<SystemEpisode> episodes_;
};

MixtureModel model() {
    return support::random_model(3, {.shape = shape, .successors = 4});
}

TEST(SystemDeployer, CountsAStepwiseSystemAsAStepwiseDeployerDoes) {
    const MixtureModel truth = model();
    SimulatedEnvironment environment(truth);
    Stream random = support::test_stream(1);
    const Policy policy = support::random_stochastic_policy(random, shape);
    Counts by_system(truth.shared_features(), shape.horizon), directly = by_system;
    StepwiseSystem system(environment, 7);
    SystemDeployer(system).deploy(policy, 5, 3000, by_system);
    StepwiseDeployer(environment, 7).deploy(policy, 5, 3000, directly);
    EXPECT_EQ(by_system, directly);
}

TEST(SystemDeployer, StopsBetweenEpisodes) {
    const MixtureModel truth = model();
    SimulatedEnvironment environment(truth);
    StepwiseSystem system(environment, 7);
    Counts counts(truth.shared_features(), shape.horizon);
    int asked = 0;
    SystemDeployer(system, [&] { return ++asked > 10; }).deploy(Policy::uniform(shape), 0, 100, counts);
    EXPECT_EQ(counts.episodes(), 10);
}

TEST(SystemDeployer, WhatBrokeOffCountsUpToTheLastTransitionSeen) {
    const MixtureModel truth = model();
    Recorded system({{0, {0, 1, 2, 3, 0}, {0, 1, 0, 1, 0}, true},
                     {1, {0, 1, 2}, {0, 1, 0}, false},
                     {2, {0, 1}, {0}, false},
                     {3, {0}, {}, false}});
    Counts counts(truth.shared_features(), shape.horizon);
    SystemDeployer deployer(system);
    deployer.deploy(Policy::uniform(shape), 0, 4, counts);
    EXPECT_EQ(counts.episodes(), 4);
    EXPECT_EQ(deployer.broken_off(), 3);
    EXPECT_EQ(counts.visits(0, shape.pair(0, 0)), 3);
    EXPECT_EQ(counts.visits(1, shape.pair(1, 1)), 2);
    EXPECT_EQ(counts.visits(2, shape.pair(2, 0)), 1);
}

TEST(SystemDeployer, WhatWasReportedBeforeAFailureStaysCounted) {
    const MixtureModel truth = model();
    Recorded system({{8, {0, 1, 2, 3, 0}, {0, 1, 0, 1, 0}, true}});
    system.fails = true;
    Counts counts(truth.shared_features(), shape.horizon);
    SystemDeployer deployer(system);
    EXPECT_THROW(deployer.deploy(Policy::uniform(shape), 8, 4, counts), SystemFailed);
    EXPECT_EQ(counts.episodes(), 1);
}

TEST(SystemDeployer, NoEpisodeIsTakenTwiceOrUnasked) {
    const MixtureModel truth = model();
    const SystemEpisode episode{0, {0, 1}, {0}, false};
    Counts counts(truth.shared_features(), shape.horizon);
    Recorded twice({episode, episode}), more({episode, {1, {0}, {}, false}});
    SystemDeployer counting_twice(twice), counting_more(more);
    EXPECT_THROW(counting_twice.deploy(Policy::uniform(shape), 0, 2, counts), BrokenInvariant);
    EXPECT_THROW(counting_more.deploy(Policy::uniform(shape), 0, 1, counts), BrokenInvariant);
}

}  // namespace
}  // namespace alidade::system_test
