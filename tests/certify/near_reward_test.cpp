#include "alidade/certify/near_reward.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "alidade/certify/near_widening.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/learned_rows.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"
#include "support/off_mixture.hpp"

namespace alidade::near_reward_test {
namespace {

/// The largest loss of a policy under a truth, over all rewards within times * unit: for every other policy,
/// by enumeration, the reward that is best for it and worst for this one, wherever either is more often.
double worst_loss(const TransitionModel& truth, const Policy& policy, const Reward& reward,
                  const Reward& unit, double times) {
    const Shape& shape = truth.shape();
    const Matrix own = occupancy(truth, policy);
    const Index places = shape.horizon * shape.states;
    double worst = 0;
    for (unsigned code = 0; code < 1U << places; ++code) {  // two actions
        std::vector<std::int32_t> actions;
        for (Index i = 0; i < places; ++i) actions.push_back(code >> i & 1);
        const Matrix other = occupancy(truth, Policy::deterministic(shape, actions));
        double gained = 0;
        for (Step h = 0; h < shape.horizon; ++h)
            for (Index pair = 0; pair < shape.pairs(); ++pair) {
                const double more = other(h, pair) - own(h, pair);
                gained += more * reward.at(h)[at(pair)] + times * unit.at(h)[at(pair)] * std::abs(more);
            }
        worst = std::max(worst, gained);
    }
    return worst;
}

struct NearCase {
    Knowledge knowledge;
    Reward reward;
    Policy policy;
    RewardTolerance tolerance;
};

/// Some with a tolerance for each step, state and action, some with a policy that is not the model's best,
/// and some that is drawn.
NearCase case_of(std::uint64_t seed, Stream& random) {
    const support::RandomSizes sizes{.shape = {3, 2, 3},
                                     .features = 2 + static_cast<Index>(seed % 2),
                                     .successors = 2,
                                     .start_law = seed % 5 == 0,
                                     .homogeneous = seed % 4 == 1};
    const LearnedMixture learned = support::likelihood_model(support::random_model(random, sizes), random,
                                                             std::pow(10.0, static_cast<double>(seed % 6)));
    const DeviationTable deviations = DeviationTable::of(learned);
    RewardFreeCertificate free = certify_reward_free(learned, deviations);
    const Reward reward = support::random_reward(random, sizes.shape);
    const auto shared = std::make_shared<const LearnedMixture>(learned);
    Policy policy =
        seed % 7 == 6 ? support::random_stochastic_policy(random, sizes.shape)
        : seed % 7 == 5
            ? backward_induction(learned.model(), support::random_reward(random, sizes.shape)).policy
            : backward_induction(learned.model(), reward).policy;
    RewardTolerance tolerance = RewardTolerance::uniform(sizes.shape, 0.1 * sample_uniform(random));
    if (seed % 3 == 2)
        tolerance = {support::random_reward(random, sizes.shape), 0.2 * sample_uniform(random)};
    return {{shared, std::move(free), 0}, reward, policy, tolerance};
}

TEST(NearReward, HoldsForEveryRewardNearItUnderEveryMember) {
    double closest = 0;
    int proved = 0, exactly = 0, beyond = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(60, 6); ++seed) {
        Stream random = support::test_stream(seed, 821);
        const NearCase given = case_of(seed, random);
        const NearCertificate certificate =
            certify_near(given.knowledge, given.reward, given.policy, given.tolerance);
        exactly += certificate.loss_bound == 0;
        for (int member = 0; member < 3; ++member) {
            const MixtureModel truth = support::random_member(given.knowledge.mixture(), random, member == 2);
            const double loss =
                worst_loss(truth, given.policy, given.reward, given.tolerance.unit, given.tolerance.eta);
            for (const auto& [name, bound] : certificate.methods)
                EXPECT_LE(loss, bound + 1e-12) << name << ", seed " << seed;
            closest = std::max(closest, loss / certificate.loss_bound);
            if (!certificate.radius || *certificate.radius > 10) continue;
            ++proved;
            EXPECT_LE(
                worst_loss(truth, given.policy, given.reward, given.tolerance.unit, *certificate.radius),
                1e-12)
                << "seed " << seed;
        }
        if (!certificate.radius || *certificate.radius > 10) continue;
        // Within the radius the bound is a proof, too, and just beyond it mostly not: where what is undecided
        // lies behind an action that is worse by more, it still is.
        const auto loss_at = [&](double eta) {
            return certify_near(given.knowledge, given.reward, given.policy, {given.tolerance.unit, eta})
                .loss_bound;
        };
        EXPECT_EQ(loss_at(*certificate.radius), 0) << "seed " << seed;
        beyond += loss_at(*certificate.radius * 1.001 + 1e-9) > 0;
    }
    EXPECT_GE(proved, support::effort_is("sanitized") ? 1 : 20);
    EXPECT_GE(exactly, support::effort_is("sanitized") ? 0 : 3);
    EXPECT_GE(beyond, support::effort_is("sanitized") ? 0 : 5);
    EXPECT_GE(closest, 0.9);
}

TEST(NearReward, OfNoToleranceIsTheCertificateOfTheReward) {
    for (std::uint64_t seed = 0; seed < 7; ++seed) {
        Stream random = support::test_stream(seed, 822);
        const NearCase given = case_of(seed, random);
        const NearCertificate near = certify_near(given.knowledge, given.reward, given.policy,
                                                  RewardTolerance::uniform(given.reward.shape(), 0));
        const RewardCertificate one = certify_reward(given.knowledge, given.reward, given.policy);
        EXPECT_EQ(near.loss_bound, one.loss_bound);
        EXPECT_EQ(near.methods[2].second, one.loss_bound);
        EXPECT_NEAR(near.methods[1].second, one.methods[1].second, 1e-8);
        // Any loss is a proof's opposite.
        EXPECT_TRUE(!near.radius || one.loss_bound == 0);
    }
}

// Of the same everywhere: 2 H eta, and the slacks.
TEST(NearReward, ShiftsByWhatTwoPoliciesCollect) {
    Stream random = support::test_stream(3, 827);
    const NearCase given = case_of(3, random);
    const double loss = certify_reward(given.knowledge, given.reward, given.policy).loss_bound;
    const NearCertificate found = certify_near(given.knowledge, given.reward, given.policy,
                                               RewardTolerance::uniform(given.reward.shape(), 0.07));
    ASSERT_EQ(found.methods[2].first, "shift");
    EXPECT_NEAR(found.methods[2].second, loss + 2 * 3 * 0.07, 1e-7);
    // `plain` is what lies between the ends: their values under the reward move by 3 eta each.
    const RewardCertificate one = certify_reward(given.knowledge, given.reward, given.policy);
    EXPECT_NEAR(found.methods[0].second, one.methods[0].second + 2 * 3 * 0.07, 1e-7);
}

/// w(h,s,a) as the theorem writes it, for a policy that takes one action, in plain loops.
TEST(NearReward, WidensByWhatTheTheoremSays) {
    int together = 0, apart = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 823);
        const double zeta = seed % 3 == 2 ? 0.03 : 0.0;
        const support::RandomSizes sizes{.shape = {4, 3, 3}, .features = 2, .successors = 2};
        const LearnedMixture sets = support::likelihood_model(support::random_model(random, sizes), random,
                                                              std::pow(10.0, static_cast<double>(seed % 5)));
        const LearnedMixture learned(sets.model().shared_features(), 3, sets.model().start(), false,
                                     sets.sets(), 0.1, zeta);
        const DeviationTable deviations = DeviationTable::of(learned);
        const Reward unit = support::random_reward(random, sizes.shape);
        const Policy policy =
            backward_induction(learned.model(), support::random_reward(random, sizes.shape)).policy;
        const Matrix later = value_bounds(learned, unit, policy).policy_upper;
        const Matrix most = Matrix::Zero(3, 4);
        const std::vector<char> reachable(12, 1);
        const detail::NearRewards near{unit, 1, later, most, reachable};
        detail::NearWidening widening(learned, deviations, policy, near);
        for (Step h = 0; h < 3; ++h)
            for (State s = 0; s < 4; ++s) {
                Action b = 0;
                while (policy.probability(h, s, b) < 1) ++b;
                widening.enter(h, s);
                for (Action a = 0; a < 3; ++a) {
                    if (a == b) {
                        EXPECT_EQ(widening(a), 0);
                        continue;
                    }
                    double expected = unit.at(h, s, a) + unit.at(h, s, b);
                    if (h < 2) {
                        std::vector<double> difference(4, 0.0), next(4);
                        double largest = 0;
                        for (State t = 0; t < 4; ++t) next[at(t)] = later(h + 1, t);
                        for (const Action c : {a, b}) {
                            const Index pair = sizes.shape.pair(s, c);
                            const auto targets = learned.model().successors().targets(pair);
                            for (std::size_t j = 0; j < targets.size(); ++j) {
                                difference[at(targets[j])] +=
                                    (c == a ? 1 : -1) * learned.model().probabilities(h, pair)[j];
                                largest = std::max(largest, next[at(targets[j])]);
                            }
                        }
                        if (zeta > 0) largest = std::ranges::max(next);
                        double one = 2 * largest *
                                     (deviations.at(h, sizes.shape.pair(s, a)) +
                                      deviations.at(h, sizes.shape.pair(s, b)));
                        for (State t = 0; t < 4; ++t) one += std::abs(difference[at(t)]) * next[at(t)];
                        const auto bounds = learned.expectations();
                        const double two = (*bounds)(h, sizes.shape.pair(s, a), next).upper +
                                           (*bounds)(h, sizes.shape.pair(s, b), next).upper;
                        (one < two ? together : apart) += 1;
                        expected += std::min({one, two, 2 * largest});
                    }
                    EXPECT_NEAR(widening(a), expected, 1e-12) << "seed " << seed;
                }
            }
    }
    EXPECT_GE(together, 20);
    EXPECT_GE(apart, 20);
}

/// One state that is followed by two others, of which R pays in the first one: a known model.
Knowledge known_fork() {
    const std::vector<BaseKernel> kernels{
        BaseKernel{"", 6, 3, {0, 1, 2, 3, 4, 5, 6}, {1, 2, 1, 1, 2, 2}, {1, 1, 1, 1, 1, 1}}};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, kernels));
    const MixtureModel model(features, 2, StartLaw(0), Matrix::Constant(1, 1, 1.0));
    return support::knowledge_about(model, 1, 1);
}

TEST(NearReward, RadiusOfAKnownModelIsAttained) {
    const Knowledge known = known_fork();
    const Shape shape{3, 2, 2};
    // In state 0 the first action leads to state 1, which pays 0.9 whatever is done, the second to 2: 0.3.
    const Reward reward(shape, {0.2, 0.4, 0, 0, 0, 0, 0, 0, 0.9, 0.1, 0.3, 0});
    const Policy plan = backward_induction(known.learned->model(), reward).policy;
    const NearCertificate found = certify_near(known, reward, plan, RewardTolerance::uniform(shape, 0.05));
    ASSERT_TRUE(found.radius);
    // A(0, second) = 0.4 + 0.3 - 0.2 - 0.9 = -0.4, and four rewards take part: 0.4 / 4. The last step's
    // differences, 0.8 / 2 and 0.3 / 2, are larger.
    EXPECT_NEAR(*found.radius, 0.1, 1e-8);
    EXPECT_LE(*found.radius, 0.1);
    EXPECT_EQ(found.loss_bound, 0);
    // Just beyond it there is a reward under which the plan loses.
    const TransitionModel& model = known.learned->model();
    const Reward unit = Reward::constant(shape, 1);
    EXPECT_LE(worst_loss(model, plan, reward, unit, *found.radius), 1e-12);
    EXPECT_GT(worst_loss(model, plan, reward, unit, *found.radius * (1 + 1e-6)), 1e-8);
    // What is lost there is what the bound says: 4 (eta - 0.1).
    const NearCertificate beyond = certify_near(known, reward, plan, RewardTolerance::uniform(shape, 0.13));
    EXPECT_NEAR(beyond.loss_bound, worst_loss(model, plan, reward, unit, 0.13), 1e-7);
}

TEST(NearReward, HoldsOffTheMixture) {
    const double zeta = 0.02;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(12, 2); ++seed) {
        Stream random = support::test_stream(seed, 825);
        NearCase given = case_of(6 * seed + 4, random);
        const LearnedMixture& sets = given.knowledge.mixture();
        const auto learned = std::make_shared<const LearnedMixture>(
            sets.model().shared_features(), 3, sets.model().start(), sets.homogeneous(), sets.sets(), 0.1,
            zeta, seed % 2 == 0 ? Reach::anywhere : Reach::support);
        given.knowledge = {learned, certify_reward_free(*learned, DeviationTable::of(*learned)), 0};
        const NearCertificate certificate =
            certify_near(given.knowledge, given.reward, given.policy, given.tolerance);
        for (int member = 0; member < 4; ++member) {
            const MixtureModel near = support::random_member(*learned, random, false);
            const Matrix value = evaluate(near, given.policy, given.reward).values;
            const MixtureModel truth = support::moved_off(near, value, zeta, learned->reach(), [&] {
                return sample_index(random, 2) == 0 ? 1.0 : -1.0;
            });
            const double loss =
                worst_loss(truth, given.policy, given.reward, given.tolerance.unit, given.tolerance.eta);
            for (const auto& [name, bound] : certificate.methods)
                EXPECT_LE(loss, bound + 1e-12) << name << ", seed " << seed;
            if (!certificate.radius || *certificate.radius > 10) continue;
            EXPECT_LE(
                worst_loss(truth, given.policy, given.reward, given.tolerance.unit, *certificate.radius),
                1e-12);
        }
    }
}

TEST(NearReward, HoldsForRowsInBalls) {
    int proved = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(12, 2); ++seed) {
        Stream random = support::test_stream(seed, 826);
        const support::RandomSizes sizes{.shape = {3, 2, 3}, .features = 2, .successors = 2};
        const MixtureModel centre = support::random_model(random, sizes);
        const double radius = 0.1 * std::pow(0.1, static_cast<double>(seed % 4));
        const TransitionModel& rows = centre;
        const auto learned =
            std::make_shared<const LearnedRows>(rows, false, std::vector<double>(12, radius), 0.1);
        const Knowledge known{learned, certify_reward_free(*learned, DeviationTable::of(*learned)), 0};
        const Reward reward = support::random_reward(random, sizes.shape);
        const Policy plan = backward_induction(rows, reward).policy;
        const RewardTolerance tolerance = RewardTolerance::uniform(sizes.shape, 0.02);
        const NearCertificate certificate = certify_near(known, reward, plan, tolerance);
        proved += certificate.radius.has_value();
        for (int member = 0; member < 4; ++member) {
            const MixtureModel truth =
                support::moved_off(centre, evaluate(centre, plan, reward).values, radius, Reach::support,
                                   [&] { return sample_index(random, 2) == 0 ? 1.0 : -1.0; });
            const double loss = worst_loss(truth, plan, reward, tolerance.unit, tolerance.eta);
            for (const auto& [name, bound] : certificate.methods) EXPECT_LE(loss, bound + 1e-12) << name;
            if (!certificate.radius) continue;
            EXPECT_LE(worst_loss(truth, plan, reward, tolerance.unit, *certificate.radius), 1e-12);
        }
    }
    EXPECT_GE(proved, 1);
}

TEST(NearReward, RefusesWhatItCannotMean) {
    const Knowledge known = known_fork();
    const Shape shape{3, 2, 2};
    const Reward reward = Reward::constant(shape, 0.5);
    const Policy plan = backward_induction(known.learned->model(), reward).policy;
    EXPECT_THROW(certify_near(known, reward, plan, RewardTolerance::uniform(shape, -0.1)), InvalidArgument);
    EXPECT_THROW(certify_near(known, reward, plan,
                              RewardTolerance::uniform(shape, std::numeric_limits<double>::infinity())),
                 InvalidArgument);
    EXPECT_THROW(certify_near(known, reward, plan, RewardTolerance::uniform({3, 2, 3}, 0.1)),
                 InvalidArgument);
    // A tie: proved optimal, but under no other reward.
    const NearCertificate tie = certify_near(known, reward, plan, RewardTolerance::uniform(shape, 0.1));
    ASSERT_TRUE(!tie.radius || *tie.radius == 0);
    // Rewards may leave [0, 1], and then losses may leave [0, H].
    const NearCertificate far = certify_near(known, reward, plan, RewardTolerance::uniform(shape, 2));
    EXPECT_NEAR(far.most, 2 * 4, 1e-12);
    EXPECT_TRUE(far.vacuous);
}

}  // namespace
}  // namespace alidade::near_reward_test
