#include "alidade/formats/layered_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/files.hpp"
#include "support/learned_models.hpp"
#include "support/signed_features.hpp"

namespace alidade::testing::layered_view_test {
namespace {

using support::random_model;
using support::random_reward;
using support::RandomSizes;
using support::test_stream;

LearnedMixture learned_about(const MixtureModel& truth, std::uint64_t seed, double information = 1) {
    return support::knowledge_about(truth, seed, information).mixture();
}

/// Best expected sum of the first reward from each state within `steps` steps, by the definition.
std::vector<double> best_values(const ExplicitModel& model, Index steps, std::vector<std::int32_t>* choices) {
    std::vector<double> value(model.states.size(), 0), before;
    if (choices != nullptr) choices->assign(model.states.size(), 0);
    for (Index step = 0; step < steps; ++step) {
        before = value;
        for (std::size_t s = 0; s < model.states.size(); ++s) {
            const ExplicitState& row = model.states[s];
            double best = -1;
            for (std::size_t k = 0; k + 1 < row.offsets.size(); ++k) {
                double sum = row.choice_rewards[k * model.header.rewards.size()];
                for (auto i = static_cast<std::size_t>(row.offsets[k]);
                     i < static_cast<std::size_t>(row.offsets[k + 1]); ++i)
                    sum += row.lower[i] * before[static_cast<std::size_t>(row.targets[i])];
                if (sum > best && choices != nullptr) (*choices)[s] = static_cast<std::int32_t>(k);
                best = std::max(best, sum);
            }
            value[s] = best;
        }
    }
    return value;
}

double start_value(const ExplicitModel& model, const std::vector<double>& values) {
    return values[static_cast<std::size_t>(model.header.initial_states.at(0))];
}

ExplicitModel collected(const LearnedMixture& learned, LayeredOptions options) {
    ExplicitModel model = collect(LayeredView(learned, std::move(options)));
    validate(model, "view");
    return model;
}

TEST(LayeredView, OptimalValueIsThatOfBackwardInduction) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomSizes sizes;
        sizes.shape.horizon = 1 + static_cast<Index>(seed) % 5;
        sizes.start_law = seed % 2 == 0;
        sizes.homogeneous = seed % 3 == 0;
        const MixtureModel truth = random_model(seed, sizes);
        const LearnedMixture learned = learned_about(truth, seed);
        Stream random = test_stream(seed, 9);
        const Reward reward = random_reward(random, sizes.shape);
        const ExplicitModel model = collected(learned, {.rewards = {{"r", reward}}});
        const OptimalPlan plan = backward_induction(learned.model(), reward);
        std::vector<std::int32_t> choices;
        // Two steps more than the horizon: nothing is earned at the end.
        const auto values = best_values(model, sizes.shape.horizon + 2, &choices);
        EXPECT_NEAR(start_value(model, values), plan.value, 1e-12);
        const Policy policy = policy_from_flat(sizes.shape, choices);
        EXPECT_NEAR(evaluate(learned.model(), policy, reward).value, plan.value, 1e-12);
    }
}

TEST(LayeredView, WithoutUnrollingTheValueNeedsTheStepBound) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        RandomSizes sizes;
        sizes.homogeneous = true;
        sizes.start_law = seed % 2 == 0;
        const LearnedMixture learned = learned_about(random_model(seed, sizes), seed);
        Stream random = test_stream(seed, 9);
        std::vector<double> values(static_cast<std::size_t>(sizes.shape.pairs()));
        for (double& value : values) value = sample_uniform(random);
        const Reward reward(sizes.shape, values);
        const ExplicitModel model = collected(learned, {.unroll = false, .rewards = {{"r", reward}}});
        EXPECT_EQ(model.header.states, sizes.shape.states + (sizes.start_law ? 1 : 0));
        const Index steps = sizes.shape.horizon + (sizes.start_law ? 1 : 0);
        EXPECT_NEAR(start_value(model, best_values(model, steps, nullptr)),
                    backward_induction(learned.model(), reward).value, 1e-12);
    }
}

/// Whether every true transition probability lies in its interval of the unrolled view.
bool contains(const ExplicitModel& model, const MixtureModel& truth, double tolerance = 0) {
    const Shape& shape = truth.shape();
    for (Step h = 0; h + 1 < shape.horizon; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const ExplicitState& row =
                model.states[static_cast<std::size_t>(h * shape.states + pair / shape.actions)];
            const auto law = truth.probabilities(h, pair);
            const auto first =
                static_cast<std::size_t>(row.offsets[static_cast<std::size_t>(pair % shape.actions)]);
            for (std::size_t i = 0; i < law.size(); ++i)
                if (law[i] < row.lower[first + i] - tolerance || law[i] > row.upper[first + i] + tolerance)
                    return false;
        }
    return true;
}

TEST(LayeredView, IntervalsContainEveryTruthThatTheSetsContain) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        RandomSizes sizes;
        sizes.homogeneous = seed % 3 == 0;
        sizes.features = 2 + static_cast<Index>(seed) % 4;
        const double information = std::pow(10, static_cast<double>(seed % 4) - 1);
        const MixtureModel truth = random_model(seed, sizes);
        const Knowledge knowledge = support::knowledge_about(truth, seed, information);
        const LearnedMixture& learned = knowledge.mixture();
        const ExplicitModel exact = collected(learned, {.view = BranchKind::interval});
        const ExplicitModel quick =
            collected(learned, {.view = BranchKind::interval, .exact_intervals = false});
        EXPECT_TRUE(contains(exact, learned.model()));
        for (std::uint64_t trial = 0; trial < 20; ++trial) {
            const MixtureModel other =
                trial == 0 ? truth : support::adversarial_truth(knowledge, 100 * seed + trial);
            ASSERT_TRUE(learned.contains(other));
            EXPECT_TRUE(contains(exact, other));
            EXPECT_TRUE(contains(quick, other));
        }
        for (std::size_t s = 0; s < exact.states.size(); ++s)
            for (std::size_t i = 0; i < exact.states[s].lower.size(); ++i) {
                EXPECT_GE(exact.states[s].lower[i], quick.states[s].lower[i]);
                EXPECT_LE(exact.states[s].upper[i], quick.states[s].upper[i]);
            }
    }
}

TEST(LayeredView, IntervalsAreAttainedByMembers) {
    // With two base models the set is a segment of weights: the ends are found by bisection.
    RandomSizes sizes;
    sizes.features = 2;
    sizes.shape.horizon = 2;
    const MixtureModel truth = random_model(3, sizes);
    const LearnedMixture learned = learned_about(truth, 3, 2);
    const ConfidenceSet& set = learned.set(0);
    const auto end = [&](const Vector& corner) {
        double low = 0, high = 1;
        for (int step = 0; step < 60; ++step) {
            const double t = 0.5 * (low + high);
            (set.contains((1 - t) * set.weights() + t * corner) ? low : high) = t;
        }
        return Vector((1 - low) * set.weights() + low * corner);
    };
    const Vector left = end(Vector::Unit(2, 0)), right = end(Vector::Unit(2, 1));
    const ExplicitModel model = collected(learned, {.view = BranchKind::interval});
    const FeatureMap& features = truth.features();
    for (Index pair = 0; pair < sizes.shape.pairs(); ++pair)
        for (Index j = 0; j < features.successors(pair); ++j) {
            const auto phi = features.phi(features.first_entry(pair) + j);
            const double a = left[0] * phi[0] + left[1] * phi[1], b = right[0] * phi[0] + right[1] * phi[1];
            const ExplicitState& row = model.states[static_cast<std::size_t>(pair / sizes.shape.actions)];
            const auto i = static_cast<std::size_t>(
                row.offsets[static_cast<std::size_t>(pair % sizes.shape.actions)] + j);
            EXPECT_NEAR(row.lower[i], std::min(a, b), 1e-7);
            EXPECT_NEAR(row.upper[i], std::max(a, b), 1e-7);
        }
}

TEST(LayeredView, MisspecificationWidensIntervals) {
    RandomSizes sizes;
    const MixtureModel truth = random_model(5, sizes);
    const LearnedMixture exact = learned_about(truth, 5);
    const LearnedMixture loose(exact.model().shared_features(), sizes.shape.horizon, exact.model().start(),
                               false, exact.sets(), 0.1, 0.05);
    const ExplicitModel narrow = collected(exact, {.view = BranchKind::interval});
    const ExplicitModel wide = collected(loose, {.view = BranchKind::interval});
    EXPECT_TRUE(contains(narrow, truth));
    for (std::size_t i = 0; i < narrow.states[0].lower.size(); ++i) {
        EXPECT_NEAR(wide.states[0].lower[i], std::max(0.0, narrow.states[0].lower[i] - 0.05), 1e-15);
        EXPECT_NEAR(wide.states[0].upper[i], std::min(1.0, narrow.states[0].upper[i] + 0.05), 1e-15);
    }
}

/// The model with numbers put in for its parameters.
std::vector<double> instantiated(const ExplicitState& row, const std::vector<double>& parameters) {
    std::vector<double> result;
    const std::size_t width = 1 + parameters.size();
    for (std::size_t i = 0; i < row.targets.size(); ++i) {
        double p = row.coefficients[i * width];
        for (std::size_t j = 0; j < parameters.size(); ++j)
            p += row.coefficients[i * width + 1 + j] * parameters[j];
        result.push_back(p);
    }
    return result;
}

void expect_instantiation(const ExplicitModel& model, const MixtureModel& truth,
                          const std::vector<double>& parameters) {
    const Shape& shape = truth.shape();
    ASSERT_EQ(model.header.parameters.size(), parameters.size());
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            const auto p =
                instantiated(model.states[static_cast<std::size_t>(h * shape.states + s)], parameters);
            std::size_t place = 0;
            for (Action a = 0; a < shape.actions; ++a) {
                if (h == shape.horizon - 1) {
                    EXPECT_EQ(p[place++], 1);
                    continue;
                }
                for (const double q : truth.probabilities(h, shape.pair(s, a)))
                    EXPECT_NEAR(p[place++], q, 1e-12);
            }
        }
}

TEST(LayeredView, TheTruthIsAnInstantiationOfTheParametricView) {
    for (const bool homogeneous : {false, true}) {
        RandomSizes sizes;
        sizes.homogeneous = homogeneous;
        const MixtureModel truth = random_model(7, sizes);
        const ExplicitModel model = collected(learned_about(truth, 7), {.view = BranchKind::parametric});
        EXPECT_EQ(model.header.parameters[1], homogeneous ? "w_1" : "w_0_1");
        std::vector<double> weights;
        for (Step h = 0; h < (homogeneous ? 1 : sizes.shape.horizon - 1); ++h)
            for (Index i = 0; i + 1 < sizes.features; ++i) weights.push_back(truth.weights(h)[i]);
        expect_instantiation(model, truth, weights);
    }
}

TEST(LayeredView, GeneralFeaturesHaveTangentCoordinatesForParameters) {
    Stream random = test_stream(8);
    const Shape shape{4, 2, 3};
    const auto features =
        std::make_shared<const FeatureMap>(support::random_signed_features(random, shape, 3, 3, 1.5));
    const Vector weights = Vector::Unit(3, 0);
    const MixtureModel truth(features, shape.horizon, StartLaw(0),
                             weights.transpose().replicate(shape.horizon, 1));
    const LearnedMixture learned = learned_about(truth, 8);
    const ExplicitModel model = collected(learned, {.view = BranchKind::parametric});
    EXPECT_EQ(model.header.parameters, (std::vector<std::string>{"z_0_0", "z_0_1", "z_1_0", "z_1_1"}));
    const Vector z = ParameterSet::of(*features).space().coordinates(weights);
    expect_instantiation(model, truth, {z[0], z[1], z[0], z[1]});
    EXPECT_TRUE(contains(collected(learned, {.view = BranchKind::interval}), truth));
}

TEST(LayeredView, NamesBecomeLabelsAndActions) {
    RandomSizes sizes;
    sizes.shape = {3, 2, 2};
    sizes.successors = 2;
    const LearnedMixture learned = learned_about(random_model(1, sizes), 1);
    const ExplicitModel model =
        collected(learned, {.action_names = {"left", "right"}, .state_names = {"home", "end", "home"}});
    EXPECT_EQ(model.header.labels,
              (std::vector<std::string>{"step_0", "step_1", "end", "home", "state_end"}));
    EXPECT_EQ(model.header.actions, (std::vector<std::string>{"left", "right"}));
    EXPECT_EQ(model.states[1].labels, (std::vector<std::int32_t>{0, 4}));
    EXPECT_EQ(model.states[5].labels, (std::vector<std::int32_t>{1, 3}));
    EXPECT_EQ(model.states[6].labels, std::vector<std::int32_t>{2});
    EXPECT_EQ(model.states[6].targets, std::vector<std::int64_t>{6});
    EXPECT_EQ(model.states[4].actions, (std::vector<std::int32_t>{0, 1}));
}

TEST(LayeredView, TransitionsThatCannotHappenAreLeftOutOfThePointView) {
    // Both base models of the pair go to state 1 only; the other state comes from the other pair's models.
    BaseKernel stay{"stay", 2, 2, {0, 1, 2}, {0, 1}, {1, 1}}, swap{"swap", 2, 2, {0, 1, 2}, {1, 0}, {1, 1}};
    const std::vector<BaseKernel> kernels{stay, swap};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, kernels));
    Matrix weights(1, 2);
    weights << 1, 0;
    const MixtureModel truth(features, 3, StartLaw(0), weights);
    const LearnedMixture learned = learned_about(truth, 1, 1e12);
    const ExplicitModel point = collected(learned, {});
    const ExplicitModel interval = collected(learned, {.view = BranchKind::interval});
    EXPECT_EQ(interval.states[0].targets, (std::vector<std::int64_t>{2, 3}));
    const double other = learned.model().probabilities(0, 0)[1];
    EXPECT_EQ(point.states[0].targets.size(), other > 0 ? 2U : 1U);
}

TEST(LayeredView, WhatDoesNotFitIsRefused) {
    RandomSizes sizes;
    const LearnedMixture learned = learned_about(random_model(1, sizes), 1);
    const auto says_of = [&](LayeredOptions options, std::string_view what) {
        return says(refusal([&] { LayeredView(learned, std::move(options)); }), {what});
    };
    const Reward reward = Reward::constant(sizes.shape, 0.5);
    EXPECT_TRUE(says_of({.unroll = false}, "unrolled"));
    EXPECT_TRUE(says_of({.action_names = {"one"}}, "1 names of actions; must be 3"));
    EXPECT_TRUE(says_of({.state_names = {"one"}}, "1 names of states; must be 5"));
    EXPECT_TRUE(says_of({.rewards = {{"r", reward}, {"r", reward}}}, "'r'"));
    EXPECT_TRUE(says_of({.rewards = {{"r", Reward::constant({5, 3, 2}, 1)}}}, "another shape"));
}

TEST(LayeredView, AKnownModelHasTheRowsOfOneThatWasLearned) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        RandomSizes sizes;
        sizes.start_law = seed % 2 == 0;
        sizes.homogeneous = seed % 4 < 2;
        const LearnedMixture learned = learned_about(random_model(seed, sizes), seed);
        Stream random = test_stream(seed, 10);
        LayeredOptions options{.rewards = {{"r", random_reward(random, sizes.shape)}}};
        const TransitionModel& known = learned.model();
        EXPECT_EQ(collect(LayeredView(known, options)), collect(LayeredView(learned, options)));
        options.rewards = {{"r", Reward::constant(sizes.shape, 0.5)}};
        options.unroll = !sizes.homogeneous;
        EXPECT_EQ(collect(LayeredView(known, options)), collect(LayeredView(learned, options)));
    }
}

TEST(LayeredView, NothingIsUncertainAboutAKnownModel) {
    const RandomSizes sizes;
    const MixtureModel known = random_model(1, sizes);
    for (const BranchKind view : {BranchKind::interval, BranchKind::parametric})
        EXPECT_TRUE(says(refusal([&] { LayeredView(known, {.view = view}); }), {"known model"}));
}

TEST(LayeredView, WithoutLabelsOfStepsTheRowsAreTheSame) {
    RandomSizes sizes;
    sizes.start_law = true;
    const MixtureModel known = random_model(2, sizes);
    ExplicitModel with = collect(LayeredView(known, {}));
    const ExplicitModel without = collect(LayeredView(known, {.step_labels = false}));
    EXPECT_EQ(without.header.labels, (std::vector<std::string>{"end", "start"}));
    const auto layered = static_cast<std::size_t>(sizes.shape.horizon * sizes.shape.states);
    for (std::size_t state = 0; state < with.states.size(); ++state) {
        const std::vector<std::int32_t> expected =
            state < layered ? std::vector<std::int32_t>{}
                            : std::vector<std::int32_t>{static_cast<std::int32_t>(state - layered)};
        EXPECT_EQ(without.states[state].labels, expected);
        with.states[state].labels = expected;
    }
    EXPECT_EQ(without.states, with.states);
}

TEST(PolicyFromFlat, KnowsUnrolledAndStationaryModels) {
    const Shape shape{2, 3, 2};
    const auto policy = [&](std::vector<std::int32_t> choices) { return policy_from_flat(shape, choices); };
    EXPECT_EQ(policy({0, 1, 2, 0, 0}), Policy::deterministic(shape, {0, 1, 2, 0}));
    EXPECT_EQ(policy({0, 1, 2, 0, 0, 0}), Policy::deterministic(shape, {0, 1, 2, 0}));
    EXPECT_EQ(policy({2, 1}), Policy::deterministic(shape, {2, 1, 2, 1}));
    EXPECT_EQ(policy({2, 1, 0}), Policy::deterministic(shape, {2, 1, 2, 1}));
    EXPECT_TRUE(says(refusal([&] { policy({0, 1, 2, 0}); }), {"4 choices", "5", "6"}));
    EXPECT_TRUE(says(refusal([&] { policy({0, 1, 3, 0, 0}); }), {"step 1, state 0", "3", "0 to 2"}));
    EXPECT_TRUE(says(refusal([&] { policy({0, -1}); }), {"state 1", "-1"}));
}

}  // namespace
}  // namespace alidade::testing::layered_view_test
