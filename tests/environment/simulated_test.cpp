#include "alidade/environment/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "alidade/environment/environment.hpp"
#include "alidade/error.hpp"
#include "support/random_models.hpp"

namespace alidade::simulated_test {
namespace {

constexpr support::RandomSizes sizes{.shape = {6, 3, 5}, .start_law = true};

/// Returns the same state whatever is done, and remembers what was asked of it.
class Fixed final : public Environment {
public:
    explicit Fixed(State answer) : answer_(answer) {}
    const Shape& shape() const override { return shape_; }
    State reset(Stream&) override {
        ++resets;
        return 0;
    }
    State step(Action action, Stream&) override {
        actions.push_back(action);
        return answer_;
    }
    int resets = 0;
    std::vector<Action> actions;

private:
    Shape shape_{4, 2, 3};
    State answer_;
};

TEST(SimulatedEnvironment, StepsOnlyInsideAnEpisode) {
    SimulatedEnvironment environment(support::random_model(1, sizes));
    Stream random = support::test_stream(2);
    EXPECT_THROW(environment.step(0, random), InvalidArgument);
    for (int episode = 0; episode < 2; ++episode) {
        environment.reset(random);
        EXPECT_THROW(environment.step(3, random), InvalidArgument);
        EXPECT_THROW(environment.step(-1, random), InvalidArgument);
        for (Step h = 0; h < 5; ++h) environment.step(h % 3, random);
        EXPECT_THROW(environment.step(0, random), InvalidArgument);
    }
}

TEST(RunEpisode, DrawsFromTheDocumentedStreams) {
    // The start from step H, then per step the action and the next state, all replayed by hand.
    const MixtureModel model = support::random_model(3, sizes);
    SimulatedEnvironment environment(model);
    Stream random = support::test_stream(4);
    const Policy policy = support::random_stochastic_policy(random, sizes.shape);
    for (const std::uint64_t k : {0U, 1U, 12345U}) {
        const Episode episode = run_episode(environment, policy, 77, static_cast<std::int64_t>(k));
        ASSERT_EQ(episode.states.size(), 5U);
        ASSERT_EQ(episode.actions.size(), 5U);
        std::vector<double> start;
        for (const auto& atom : model.start().atoms()) start.push_back(atom.second);
        Stream first(77, Purpose::simulation, k, 5);
        State state = model.start().atoms()[static_cast<std::size_t>(sample_categorical(first, start))].first;
        for (Step h = 0; h < 5; ++h) {
            const auto at = static_cast<std::size_t>(h);
            EXPECT_EQ(episode.states[at], state);
            Stream stream(77, Purpose::simulation, k, static_cast<std::uint64_t>(h));
            std::vector<double> law;
            for (Action a = 0; a < 3; ++a) law.push_back(policy.probability(h, state, a));
            const Action action = sample_categorical(stream, law);
            EXPECT_EQ(episode.actions[at], action);
            const Index pair = sizes.shape.pair(state, action);
            const Index place = sample_categorical(stream, model.probabilities(h, pair));
            state = model.features().targets(pair)[static_cast<std::size_t>(place)];
        }
    }
}

TEST(RunEpisode, IsAFunctionOfSeedAndNumberAlone) {
    SimulatedEnvironment environment(support::random_model(5, sizes));
    const Policy policy = Policy::uniform(sizes.shape);
    const Episode seventh = run_episode(environment, policy, 1, 7);
    run_episode(environment, policy, 1, 8);
    EXPECT_EQ(run_episode(environment, policy, 1, 7), seventh);
    // Ten episodes of five actions, each uniform over three, agree with probability 3^-50.
    bool differs = false;
    for (std::int64_t k = 0; k < 10; ++k) {
        differs |= run_episode(environment, policy, 1, k) != run_episode(environment, policy, 2, k);
    }
    EXPECT_TRUE(differs);
}

TEST(RunEpisode, TakesAllActionsOfAnEpisode) {
    Fixed environment(3);
    std::vector<std::int32_t> actions(12, 0);
    actions[0] = 1;   // step 0, state 0
    actions[11] = 1;  // step 2, state 3
    const Episode episode = run_episode(environment, Policy::deterministic({4, 2, 3}, actions), 1, 0);
    EXPECT_EQ(environment.resets, 1);
    EXPECT_EQ(environment.actions, (std::vector<Action>{1, 0, 1}));
    EXPECT_EQ(episode, (Episode{{0, 3, 3}, {1, 0, 1}}));
}

TEST(RunEpisode, RefusesWhatDoesNotFit) {
    const Policy policy = Policy::uniform({4, 2, 3});
    for (const State answer : {State{-1}, State{4}}) {
        Fixed environment(answer);
        EXPECT_THROW(run_episode(environment, policy, 1, 0), InvalidArgument);
    }
    Fixed environment(0);
    EXPECT_THROW(run_episode(environment, Policy::uniform({4, 2, 2}), 1, 0), InvalidArgument);
    EXPECT_THROW(run_episode(environment, policy, 1, -1), InvalidArgument);
}

}  // namespace
}  // namespace alidade::simulated_test
