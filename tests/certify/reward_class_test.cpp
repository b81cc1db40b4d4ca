#include "alidade/certify/reward_class.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "alidade/confidence/learned_rows.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/learned_row_balls.hpp"
#include "support/members.hpp"
#include "support/off_mixture.hpp"

namespace alidade::reward_class_test {
namespace {

LearnedMixture some_learned(std::uint64_t seed, double visits = 100, bool pooled = false) {
    Stream random = support::test_stream(seed, 812);
    const support::RandomSizes sizes{
        .shape = {4, 2, 4}, .features = 3, .successors = 3, .homogeneous = pooled};
    return support::likelihood_model(support::random_model(random, sizes), random, visits);
}

TEST(RewardClass, OfAllRewardsIsTheRewardFreeCertificate) {
    for (const bool pooled : {false, true}) {
        const LearnedMixture learned = some_learned(1, 100, pooled);
        const DeviationTable deviations = DeviationTable::by_widths(learned);
        // Those of greedy plans are not for classes.
        const RewardFreeCertificate free =
            certify_reward_free(learned, deviations, {.without = {"optimal-span", "two-chain"}});
        const ClassCertificate all = certify_class(learned, deviations, RewardClass::all(learned.shape()));
        EXPECT_EQ(all.bound, free.bound);
        EXPECT_EQ(all.method, free.method);
        EXPECT_EQ(all.candidates, free.candidates);
        EXPECT_EQ(all.most, 4);
    }
}

TEST(RewardClass, LessRewardIsLessUncertain) {
    const LearnedMixture learned = some_learned(2);
    const DeviationTable deviations = DeviationTable::by_widths(learned);
    const Shape& shape = learned.shape();
    const RewardFreeOptions wanted{.certificates = {"model", "coupling", "trajectory-kl", "hybrid"}};
    const auto bound = [&](const RewardClass& rewards) {
        return certify_class(learned, deviations, rewards, wanted).bound;
    };
    const double all = bound(RewardClass::all(shape)), last = bound(RewardClass::at_steps(shape, {{2, 3}}));
    EXPECT_LT(last, all);
    EXPECT_LE(bound(RewardClass::at_steps(shape, {{3}})), last);
    EXPECT_LT(bound(RewardClass::total(shape)), last);
    EXPECT_LE(bound(RewardClass::in_states(shape, {{1}})), all);
    const RewardClass one = RewardClass::in_states(shape, {{1}}), step = RewardClass::at_steps(shape, {{3}});
    EXPECT_LE(bound(one.both(step)), std::min(bound(one), bound(step)));
    // A total of all that there is says nothing; of a half it halves what is linear in it.
    EXPECT_EQ(bound(RewardClass::total(shape, 4)), all);
    EXPECT_NEAR(bound(RewardClass::total(shape, 0.5)), bound(RewardClass::total(shape)) / 2, 4e-9);
}

TEST(RewardClass, WhatCannotPayLaterNeedsNoKnowledge) {
    const LearnedMixture learned = some_learned(3, 1);
    const DeviationTable deviations = DeviationTable::by_widths(learned);
    const ClassCertificate first =
        certify_class(learned, deviations, RewardClass::at_steps(learned.shape(), {{0}}));
    EXPECT_EQ(first.bound, 0);
    EXPECT_EQ(first.most, 1);
    EXPECT_FALSE(first.vacuous);
    const ClassCertificate nothing =
        certify_class(learned, deviations, RewardClass::below(Reward::constant(learned.shape(), 0)));
    EXPECT_EQ(nothing.bound, 0);
}

TEST(RewardClass, OfAKnownModelLosesNothing) {
    const support::RandomSizes sizes{.shape = {4, 2, 4}, .features = 1, .successors = 3};
    const Knowledge known = support::knowledge_about(support::random_model(4, sizes), 4, 1);
    EXPECT_EQ(certify_class(known, RewardClass::total(sizes.shape)).bound, 0);
    EXPECT_EQ(certify_class(known, RewardClass::at_steps(sizes.shape, {{2, 3}})).bound, 0);
    EXPECT_EQ(certify_class(known, RewardClass::in_states(sizes.shape, {{1}})).bound, 0);
}

TEST(RewardClass, RefusesWhatItCannotMean) {
    const LearnedMixture learned = some_learned(5);
    const DeviationTable deviations = DeviationTable::of(learned);
    const Shape& shape = learned.shape();
    EXPECT_THROW(RewardClass::at_steps(shape, {}), InvalidArgument);
    EXPECT_THROW(RewardClass::at_steps(shape, {{4}}), InvalidArgument);
    EXPECT_THROW(RewardClass::at_steps(shape, {{-1}}), InvalidArgument);
    EXPECT_THROW(RewardClass::in_states(shape, {}), InvalidArgument);
    EXPECT_THROW(RewardClass::in_states(shape, {{4}}), InvalidArgument);
    EXPECT_THROW(RewardClass::total(shape, 0), InvalidArgument);
    EXPECT_THROW(RewardClass::total(shape, 4.5), InvalidArgument);
    const Shape other{4, 2, 5};
    EXPECT_THROW(RewardClass::all(shape).both(RewardClass::all(other)), InvalidArgument);
    EXPECT_THROW(certify_class(learned, deviations, RewardClass::all(other)), InvalidArgument);
    // Values of rewards that know the past have no span but all that is left.
    EXPECT_THROW(certify_class(learned, deviations, RewardClass::total(shape), {.certificates = {"span"}}),
                 InvalidArgument);
    EXPECT_NO_THROW(
        certify_class(learned, deviations, RewardClass::in_states(shape, {{0}}), {.certificates = {"span"}}));
}

/// Episodes of two states, two actions and three steps from state 0, of which the last action does not
/// matter: (a_0, s_1, a_1, s_2) is one of sixteen, and an event one of 65,536 sets of them.
struct EpisodeTree {
    std::array<double, 16> chance;  ///< of the states, given the actions: P(s_1|a_0) P(s_2|a_0,s_1,a_1)

    explicit EpisodeTree(const TransitionModel& model) {
        const auto law = [&](Step h, State s, Action a, State to) {
            const Index pair = model.shape().pair(s, a);
            const auto targets = model.successors().targets(pair);
            double sum = 0;
            for (std::size_t j = 0; j < targets.size(); ++j)
                if (targets[j] == to) sum += model.probabilities(h, pair)[j];
            return sum;
        };
        for (std::size_t i = 0; i < 16; ++i) {
            const Action a0 = i >> 3 & 1, a1 = i >> 1 & 1;
            const State s1 = i >> 2 & 1, s2 = i & 1;
            chance[i] = law(0, 0, a0, s1) * law(1, s1, a1, s2);
        }
    }
    /// Of the event, given a_0 and what is done after each s_1.
    double value(unsigned event, unsigned a0, const std::array<unsigned, 2>& a1) const {
        double sum = 0;
        for (unsigned s1 = 0; s1 < 2; ++s1)
            for (unsigned s2 = 0; s2 < 2; ++s2) {
                const unsigned i = a0 << 3 | s1 << 2 | a1[s1] << 1 | s2;
                if (event >> i & 1) sum += chance[i];
            }
        return sum;
    }
};

/// Over all policies that know the past: the loss of the model's best one, and the largest error of a value.
struct WorstOfEvent {
    double loss = 0, error = 0;
};
WorstOfEvent worst_of(unsigned event, const EpisodeTree& model, const EpisodeTree& truth) {
    double planned = -1, achieved = 0, best = 0, error = 0;
    for (unsigned code = 0; code < 8; ++code) {
        const std::array<unsigned, 2> a1{code >> 1 & 1, code >> 2 & 1};
        const double modelled = model.value(event, code & 1, a1), real = truth.value(event, code & 1, a1);
        if (modelled > planned) achieved = real;
        planned = std::max(planned, modelled);
        best = std::max(best, real);
        error = std::max(error, std::abs(real - modelled));
    }
    return {best - achieved, error};
}

constexpr double rounding = 1e-12;

TEST(RewardClass, OfATotalHoldsForEveryEventOfTheEpisode) {
    double closest = 0;
    int exceeded = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(8, 2); ++seed) {
        Stream random = support::test_stream(seed, 813);
        const support::RandomSizes sizes{
            .shape = {2, 2, 3}, .features = 2, .successors = 2, .homogeneous = seed % 4 == 3};
        const LearnedMixture learned = support::likelihood_model(
            support::random_model(random, sizes), random, std::pow(10.0, 1 + static_cast<double>(seed % 3)));
        const ClassCertificate certificate =
            certify_class(learned, DeviationTable::by_widths(learned), RewardClass::total(sizes.shape));
        const EpisodeTree model(learned.model());
        for (int member = 0; member < 3; ++member) {
            const EpisodeTree truth(support::random_member(learned, random, member == 2));
            double loss = 0, error = 0;
            for (unsigned event = 0; event < 1U << 16; ++event) {
                const WorstOfEvent worst = worst_of(event, model, truth);
                loss = std::max(loss, worst.loss);
                error = std::max(error, worst.error);
            }
            EXPECT_LE(loss, certificate.bound + rounding) << "seed " << seed;
            // Not the loss alone: the theorem is about the error of every value.
            for (const auto& [name, bound] : certificate.candidates)
                EXPECT_LE(2 * error, bound + rounding) << name << ", seed " << seed;
            closest = std::max(closest, 2 * error / certificate.bound);
            // Twice the same reward, of a total of 2, would exceed it.
            exceeded += 2 * 2 * error > certificate.bound;
        }
    }
    EXPECT_GE(closest, 0.7);
    EXPECT_GE(exceeded, 1);
}

// Two base models that say the opposite of two actions: the plan of a tie loses all that the bound says, and
// twice that under a reward of a total of 2.
TEST(RewardClass, OfATotalIsAttainedAndDoesNotHoldForATotalOfTwo) {
    const double x = 0.1;
    const auto kernel = [&](double shift) {
        return BaseKernel{"",
                          4,
                          2,
                          {0, 2, 4, 6, 8},
                          {0, 1, 0, 1, 0, 1, 0, 1},
                          {0.5 + shift, 0.5 - shift, 0.5 - shift, 0.5 + shift, 1, 0, 0, 1}};
    };
    const std::vector<BaseKernel> kernels{kernel(x), kernel(-x)};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, kernels));
    const MixtureModel half(features, 2, StartLaw(0), Matrix::Constant(1, 2, 0.5));
    const Knowledge known = support::knowledge_about(half, 1, 0);
    const ClassCertificate certificate = certify_class(known, RewardClass::total({2, 2, 2}));
    // To be in state 1 at the end. In the model both actions are as good, and the first one is taken.
    const Reward reached({2, 2, 2}, {0, 0, 0, 0, 0, 0, 1, 1});
    Matrix first(1, 2);
    first << 1, 0;
    const MixtureModel truth(features, 2, StartLaw(0), first);
    ASSERT_TRUE(known.learned->contains(truth));
    const Policy plan = backward_induction(half, reached).policy;
    const double loss = backward_induction(truth, reached).value - evaluate(truth, plan, reached).value;
    EXPECT_NEAR(loss, 2 * x, rounding);
    EXPECT_NEAR(certificate.bound, loss, 1e-8);
    EXPECT_GE(certificate.bound, loss);
    // A reward of 2 there, or of 1 in it at both of two last steps, has a total of 2, and loses twice as
    // much.
    EXPECT_GT(2 * loss, certificate.bound);
}

TEST(RewardClass, OfATotalHoldsOffTheMixture) {
    const double zeta = 0.05;
    double closest = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(4, 2); ++seed) {
        Stream random = support::test_stream(seed, 814);
        const support::RandomSizes sizes{.shape = {2, 2, 3}, .features = 2, .successors = 2};
        const Knowledge known = support::knowledge_about(support::random_model(random, sizes), seed,
                                                         100.0 * (1.0 + static_cast<double>(seed)));
        const LearnedMixture& mixtures = known.mixture();
        const LearnedMixture learned(mixtures.model().shared_features(), 3, mixtures.model().start(), false,
                                     mixtures.sets(), 0.1, zeta,
                                     seed % 2 == 0 ? Reach::anywhere : Reach::support);
        const ClassCertificate certificate =
            certify_class(learned, DeviationTable::by_widths(learned), RewardClass::total(sizes.shape));
        EXPECT_EQ(certificate.candidates.size(), 5u);
        const EpisodeTree model(learned.model());
        for (int member = 0; member < 3; ++member) {
            const MixtureModel near = support::random_member(learned, random, false);
            Matrix value = Matrix::Zero(4, 2);
            for (Step h = 0; h < 4; ++h) value(h, sample_index(random, 2)) = 1;
            const EpisodeTree truth(support::moved_off(near, value, zeta, learned.reach(), [&] {
                return sample_index(random, 2) == 0 ? 1.0 : -1.0;
            }));
            double error = 0;
            for (unsigned event = 0; event < 1U << 16; ++event)
                error = std::max(error, worst_of(event, model, truth).error);
            for (const auto& [name, bound] : certificate.candidates)
                EXPECT_LE(2 * error, bound + rounding) << name << ", seed " << seed;
            closest = std::max(closest, 2 * error / certificate.bound);
        }
    }
    EXPECT_GE(closest, 0.5);
}

TEST(RewardClass, OfATotalHoldsForRowsInBalls) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        Stream random = support::test_stream(seed, 815);
        const support::RandomSizes sizes{.shape = {2, 2, 3}, .features = 2, .successors = 2};
        const MixtureModel centre = support::random_model(random, sizes);
        std::vector<double> radii;
        for (Index i = 0; i < 2 * 4; ++i) radii.push_back(0.2 * sample_uniform(random));
        const TransitionModel& rows = centre;
        const LearnedRows learned(rows, false, radii, 0.1);
        const ClassCertificate certificate =
            certify_class(learned, DeviationTable::of(learned), RewardClass::total(sizes.shape));
        ASSERT_EQ(certificate.candidates.size(), 2u);  // no divergences, no spans
        const EpisodeTree model(rows);
        // Each row moves all of its radius one way or the other: some of the 256 truths.
        for (unsigned code = 0; code < 256; code += 37) {
            EpisodeTree truth = model;
            const auto moved = [&](Step h, State s, Action a, State to) {
                const Index pair = rows.shape().pair(s, a);
                const auto law = rows.probabilities(h, pair);
                const double radius = radii[static_cast<std::size_t>(h * 4 + pair)];
                const bool up = code >> (h * 4 + pair) & 1;
                const double first = std::clamp(law[0] + (up ? radius : -radius), 0.0, 1.0);
                return to == 0 ? first : 1 - first;
            };
            for (unsigned i = 0; i < 16; ++i)
                truth.chance[i] =
                    moved(0, 0, i >> 3 & 1, i >> 2 & 1) * moved(1, i >> 2 & 1, i >> 1 & 1, i & 1);
            double error = 0;
            for (unsigned event = 0; event < 1U << 16; event += 3)
                error = std::max(error, worst_of(event, model, truth).error);
            for (const auto& [name, bound] : certificate.candidates)
                EXPECT_LE(2 * error, bound + rounding) << name;
        }
    }
}

/// All rewards that are 0 or 1 at the pairs of a class: the largest loss of the model's plans under a truth.
double largest_loss(const TransitionModel& model, const TransitionModel& truth, const RewardClass& rewards) {
    std::vector<std::size_t> places;
    const Shape& shape = model.shape();
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()), 0.0);
    for (Step h = 0; h < shape.horizon; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair)
            if (rewards.caps().at(h)[static_cast<std::size_t>(pair)] > 0)
                places.push_back(static_cast<std::size_t>(h * shape.pairs() + pair));
    double largest = 0;
    for (unsigned code = 0; code < 1U << places.size(); ++code) {
        for (std::size_t k = 0; k < places.size(); ++k) values[places[k]] = code >> k & 1;
        const Reward reward(shape, values);
        const Policy plan = backward_induction(model, reward).policy;
        largest =
            std::max(largest, backward_induction(truth, reward).value - evaluate(truth, plan, reward).value);
    }
    return largest;
}

TEST(RewardClass, OfStepsAndStatesHoldsForEveryRewardThere) {
    double closest = 0;
    // All of them under sanitizers, too: the closest is one of the later ones.
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(8, 8); ++seed) {
        Stream random = support::test_stream(seed, 816);
        const support::RandomSizes sizes{
            .shape = {3, 2, 4}, .features = 2, .successors = 2, .homogeneous = seed % 2 == 1};
        const LearnedMixture learned = support::likelihood_model(
            support::random_model(random, sizes), random, std::pow(10.0, 1 + static_cast<double>(seed % 3)));
        const DeviationTable deviations = DeviationTable::by_widths(learned);
        const Shape& shape = sizes.shape;
        const RewardClass state = RewardClass::in_states(shape, {{static_cast<State>(seed % 3)}});
        for (const RewardClass& rewards :
             {RewardClass::at_steps(shape, {{3}}), state, state.both(RewardClass::at_steps(shape, {{1, 2}})),
              RewardClass::in_states(shape, {{0, 2}}).both(RewardClass::at_steps(shape, {{2}}))}) {
            const ClassCertificate certificate = certify_class(learned, deviations, rewards);
            EXPECT_EQ(certificate.candidates.size(), 6u);
            for (int member = 0; member < 3; ++member) {
                const MixtureModel truth = support::random_member(learned, random, false);
                const double loss = largest_loss(learned.model(), truth, rewards);
                EXPECT_LE(loss, certificate.bound + rounding) << "seed " << seed;
                closest = std::max(closest, loss / certificate.bound);
            }
        }
    }
    EXPECT_GE(closest, 0.1);
}

}  // namespace
}  // namespace alidade::reward_class_test
