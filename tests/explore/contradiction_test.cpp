#include <gtest/gtest.h>

#include <cmath>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::contradiction_test {
namespace {

constexpr std::int64_t leaky_episode = 145;

/// Both base models stay within the states 0 and 1.
SharedFeatures two_states_of_three() {
    const auto kernel = [](const char* name, double stay) {
        BaseKernel made{.name = name, .rows = 6, .columns = 3};
        for (int row = 0; row < 6; ++row) {
            made.offsets.push_back(2 * row);
            made.targets.insert(made.targets.end(), {0, 1});
            made.probabilities.insert(made.probabilities.end(), {stay, 1 - stay});
        }
        made.offsets.push_back(12);
        return made;
    };
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(
        3, 2, std::vector<BaseKernel>{kernel("low", 0.8), kernel("high", 0.3)}));
}

/// Goes where the base models go, with even odds, but in one episode, from step 1, to the state 2.
class Leaky final : public Environment {
public:
    const Shape& shape() const override { return shape_; }
    State reset(Stream&) override {
        ++episode_;
        step_ = 0;
        return 0;
    }
    State step(Action, Stream& random) override {
        const State next = sample_index(random, 2);
        return step_++ == 1 && episode_ == leaky_episode ? 2 : next;
    }

private:
    Shape shape_{3, 2, 4};
    std::int64_t episode_ = -1, step_ = 0;
};

struct Setting {
    const char* algorithm;
    const char* confidence;  ///< empty: its own
};

const Setting settings[] = {
    {"likelihood", ""}, {"hoeffding", ""}, {"uniform", ""}, {"likelihood", "regression,likelihood"}};

/// Moments a thousand times too large put every estimate far outside the simplex.
Snapshot far_from_every_mixture(Snapshot memory) {
    for (auto& [name, values] : memory.numbers)
        if (name == "regression.moment")
            for (double& value : values) value *= 1000;
    return memory;
}

TEST(Contradiction, WhatABatchShowedBeforeAnImpossibleTransitionIsCountedAndTold) {
    for (const Setting& setting : settings) {
        SCOPED_TRACE(setting.algorithm);
        const ExplorerOptions options{.algorithm = setting.algorithm, .confidence = setting.confidence};
        const Task task{two_states_of_three(), 4};
        Leaky environment;
        StepwiseDeployer system(environment, 3);
        Exploration exploration(task, options);
        EXPECT_FALSE(exploration.contradiction());
        EXPECT_THROW(exploration.run(system, {.episodes = 1000}), ModelContradiction);

        // The episodes before it with all their transitions, and itself as an episode without any.
        EXPECT_EQ(exploration.counts().episodes(), leaky_episode + 1);
        EXPECT_EQ(exploration.explorer().episodes(), leaky_episode + 1);
        for (Step h = 0; h < 3; ++h) {
            std::int64_t seen = 0;
            for (const SeenEntry& entry : exploration.counts().seen(h)) seen += entry.count;
            EXPECT_EQ(seen, leaky_episode) << h;
        }
        ASSERT_TRUE(exploration.contradiction());
        const RunContradiction found = *exploration.contradiction();
        EXPECT_EQ(found.kind, ContradictionKind::impossible_transition);
        EXPECT_EQ(found.episodes, leaky_episode + 1);
        EXPECT_EQ(found.step, 1);
        EXPECT_EQ(found.successor, 2);
        EXPECT_TRUE(found.state && found.action);
        EXPECT_NE(found.what.find("led to state 2"), std::string::npos) << found.what;

        // What is written down belongs together, and can be gone on with.
        Exploration resumed(task, options);
        resumed.restore(exploration.memory(), exploration.counts());
        EXPECT_EQ(resumed.run(system, {.episodes = 400}), Stopped::budget);
        EXPECT_EQ(resumed.counts().episodes(), 400);
    }
}

TEST(Contradiction, OneWhoGoesOnDespiteAnImpossibleTransitionLosesNoEpisode) {
    const Task task{two_states_of_three(), 4};
    Leaky environment;
    StepwiseDeployer system(environment, 3);
    Exploration exploration(task, {.algorithm = "likelihood"});
    EXPECT_EQ(exploration.run(system, {.episodes = 400, .despite_contradiction = true}), Stopped::budget);
    EXPECT_EQ(exploration.counts().episodes(), 400);
    std::int64_t seen = 0;
    for (const SeenEntry& entry : exploration.counts().seen(0)) seen += entry.count;
    EXPECT_EQ(seen, 399);
    ASSERT_TRUE(exploration.contradiction());
    EXPECT_EQ(exploration.contradiction()->episodes, leaky_episode + 1);
}

TEST(Contradiction, OfTheSetsIsNotedAndGoneOnWithOnlyWhenToldTo) {
    for (const char* algorithm : {"hoeffding", "uniform", "likelihood"}) {
        SCOPED_TRACE(algorithm);
        ExplorerOptions options{.algorithm = algorithm};
        // The likelihood has no moments: here it explores, and regression looks on.
        if (std::string(algorithm) == "likelihood") options.confidence = "regression,likelihood";
        const Problem problem =
            make_builtin("builtin:garnet?states=8&actions=3&features=3&horizon=4&successors=5&seed=5");
        CountSplittingDeployer system(problem.true_model(), 0);
        Exploration before(task_of(problem), options);
        before.run(system, {.episodes = 500});
        const Snapshot spoilt = far_from_every_mixture(before.memory());

        Exploration strict(task_of(problem), options);
        strict.restore(spoilt, before.counts());
        EXPECT_THROW(strict.run(system, {.episodes = 800}), ModelContradiction);
        ASSERT_TRUE(strict.contradiction());
        EXPECT_EQ(strict.contradiction()->kind, ContradictionKind::empty_confidence_set);
        // The policy was there already: a batch is run with it before anybody looks, and is kept.
        EXPECT_GT(strict.counts().episodes(), 500);
        EXPECT_EQ(strict.explorer().episodes(), strict.counts().episodes());
        EXPECT_EQ(strict.contradiction()->episodes, strict.counts().episodes());

        Exploration bold(task_of(problem), options);
        bold.restore(strict.memory(), strict.counts());
        EXPECT_EQ(bold.run(system, {.episodes = 800, .despite_contradiction = true}), Stopped::budget);
        EXPECT_EQ(bold.counts().episodes(), 800);
        EXPECT_EQ(bold.explorer().episodes(), 800);
        EXPECT_EQ(bold.contradiction(), strict.contradiction());
        // What is handed over is what held before.
        EXPECT_LE(bold.best().episodes, 500);
        Exploration again(task_of(problem), options);
        again.restore(bold.memory(), bold.counts());
        EXPECT_EQ(again.counts(), bold.counts());
        EXPECT_FALSE(again.contradiction());
    }
}

TEST(Contradiction, ADeploymentIsRepeatedOnlyAfterOneWasAskedFor) {
    const Problem problem = make_builtin("builtin:garnet?states=4&actions=2&features=2&horizon=3");
    for (const char* algorithm : {"hoeffding", "uniform", "likelihood"}) {
        Explorer explorer(task_of(problem), {.algorithm = algorithm});
        EXPECT_THROW(explorer.repeat(), InvalidArgument);
        const Deployment asked = explorer.ask(), repeated = explorer.repeat();
        EXPECT_EQ(asked.policy, repeated.policy);
        EXPECT_EQ(asked.episodes, repeated.episodes);
    }
}

TEST(Contradiction, OfAModelCheckSaysWhereAndHowSure) {
    ModelFit fit{.level = 0.01, .log_evidence = 12.5, .threshold = std::log(300.0), .contradicted = true};
    fit.worst = Misfit{.step = 2, .state = 4, .action = 1, .successor = 3};
    const RunContradiction found = contradiction_of(fit, 77).value();
    EXPECT_EQ(found.kind, ContradictionKind::model_check);
    EXPECT_EQ(found.episodes, 77);
    EXPECT_EQ(found.step, 2);
    EXPECT_EQ(found.state, 4);
    EXPECT_EQ(found.action, 1);
    EXPECT_EQ(found.successor, 3);
    EXPECT_EQ(found.level, 0.01);
    EXPECT_EQ(found.log_evidence, 12.5);
    EXPECT_EQ(found.threshold, std::log(300.0));
    fit.contradicted = false;
    EXPECT_FALSE(contradiction_of(fit, 77));
    for (const ContradictionKind kind :
         {ContradictionKind::impossible_transition, ContradictionKind::empty_confidence_set,
          ContradictionKind::model_check})
        EXPECT_EQ(parse_contradiction_kind(to_string(kind)), kind);
    EXPECT_THROW(parse_contradiction_kind("doubt"), InvalidArgument);
}

}  // namespace
}  // namespace alidade::contradiction_test
