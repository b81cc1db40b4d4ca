#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/sensitivity.hpp"
#include "alidade/confidence/bet_sets.hpp"
#include "alidade/confidence/bets.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/coverage_attack.hpp"
#include "support/effort.hpp"
#include "support/off_mixture.hpp"
#include "support/random_models.hpp"

// Attacks on what is certain where the truth may be off its mixture: sets by bets, and certificates of them.
namespace alidade::misspecification_test {
namespace {

using support::Adversary;

/// Whether the true weights are outside the set of `claimed` at some look.
bool fails(std::uint64_t seed, Adversary adversary, double zeta, double claimed, int looks) {
    support::CoverageAttack attack(seed, adversary, zeta, looks);
    const Vector& weights = attack.truth().weights;
    for (int look = 0; look < looks; ++look) {
        const BetTable table = attack.next();
        if (attack.outside(table, claimed)) return true;
        // The polytope that certificates are computed from contains the set.
        if (look + 1 < looks) continue;
        try {
            const auto sets = detail::bet_sets(std::span(&table, 1), claimed, 0.1, std::vector{weights});
            EXPECT_TRUE(sets.front().contains(weights)) << seed;
        } catch (const ModelContradiction&) {
            ADD_FAILURE() << "a set with a member is empty, seed " << seed;
        }
    }
    return false;
}

class Coverage : public ::testing::TestWithParam<Adversary> {};

TEST_P(Coverage, HoldsWhereTheClaimIsTrueAndFailsWhereItIsHalfOfIt) {
    const int runs = support::runs(40, 1000), looks = support::effort_is("long") ? 500 : 60;
    const double zeta = 0.1;
    int failures = 0, of_half = 0;
    for (int run = 0; run < runs; ++run) {
        const auto seed = static_cast<std::uint64_t>(run);
        failures += fails(seed, GetParam(), zeta, zeta, looks) ? 1 : 0;
        of_half += fails(seed, GetParam(), zeta, zeta / 2, looks) ? 1 : 0;
    }
    RecordProperty("failures", failures);
    RecordProperty("failures of half", of_half);
    EXPECT_LE(failures, support::allowed_failures(runs));
    // Under sanitizers there are too few runs to see it.
    if (!support::effort_is("sanitized")) {
        EXPECT_GT(of_half, failures) << "the test is blind";
    }
}

INSTANTIATE_TEST_SUITE_P(BetSets, Coverage,
                         ::testing::Values(Adversary::constant, Adversary::score, Adversary::alternating,
                                           Adversary::worst_pair));

/// A problem, and a truth that is off its mixture.
struct Planted {
    Task task;
    MixtureModel mixture;
    Reward reward;
    MixtureModel truth;
};

Planted planted(std::uint64_t seed, double zeta, Reach reach) {
    Stream random = support::test_stream(seed, 21);
    const support::RandomSizes sizes{.shape = {6, 2, 2 + static_cast<Index>(seed % 4)},
                                     .features = 2 + static_cast<Index>(seed % 3),
                                     .successors = 3,
                                     .start_law = seed % 2 == 0,
                                     .homogeneous = seed % 5 == 4};
    const SharedFeatures features = support::random_features(random, sizes);
    MixtureModel mixture = support::random_model(random, features, sizes);
    Reward reward = support::random_reward(random, sizes.shape);
    const Matrix values = backward_induction(mixture, reward).values;
    MixtureModel truth = support::moved_off(mixture, values, zeta, reach, seed % 2 == 0 ? 1 : -1);
    return {{features, sizes.shape.horizon, mixture.start(), sizes.homogeneous, zeta, nullptr, reach},
            std::move(mixture),
            std::move(reward),
            std::move(truth)};
}

// Every vertex of the sets is a mixture that the truth may be near to: with mass moved as an adversary would,
// no loss and no value is outside what is certified, for any reward, policy and reach.
TEST(MisspecifiedCertificates, HoldForTruthsAtVerticesAndOffThem) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(40, 8); ++seed) {
        const double zeta = std::vector{0.001, 0.02, 0.2}[seed % 3];
        const Reach reach = seed % 4 < 2 ? Reach::anywhere : Reach::support;
        const Planted given = planted(seed, zeta, reach);
        Stream random = support::test_stream(seed, 22);
        const Counts counts =
            support::counts_of(given.truth, given.task.features, seed % 2 == 0 ? 30 : 1000, random);
        const Knowledge knowledge = learn(given.task, counts, 0.1);
        const LearnedMixture& learned = knowledge.mixture();
        const Policy policy = seed % 3 == 0 ? support::random_deterministic_policy(random, learned.shape())
                                            : backward_induction(learned.model(), given.reward).policy;
        const RewardCertificate certificate = certify_reward(knowledge, given.reward, policy);
        const double shortfall = backward_induction(learned.model(), given.reward).value -
                                 evaluate(learned.model(), policy, given.reward).value;
        const auto check = [&](const MixtureModel& truth) {
            const double value = evaluate(truth, policy, given.reward).value,
                         loss = backward_induction(truth, given.reward).value - value;
            EXPECT_GE(value, certificate.value.lower - 1e-12) << seed;
            EXPECT_LE(value, certificate.value.upper + 1e-12) << seed;
            for (const auto& [name, bound] : certificate.methods)
                EXPECT_LE(loss, bound + 1e-12) << seed << " " << name;
            for (const auto& [name, bound] : knowledge.certificate.candidates)
                EXPECT_LE(loss, bound + shortfall + 1e-9) << seed << " " << name;
            tightest = std::max(tightest, (value - evaluate(learned.model(), policy, given.reward).value) /
                                              (certificate.value.upper -
                                               evaluate(learned.model(), policy, given.reward).value));
        };
        for (int k = 0; k < 12; ++k) {
            Matrix weights = learned.model().weights();
            for (Index row = 0; row < std::min<Index>(weights.rows(), std::ssize(learned.sets())); ++row) {
                const VertexSet& vertices = *learned.sets()[at(row)].vertices();
                weights.row(row) =
                    vertices.vertices().col(sample_index(random, vertices.size())).cwiseMax(0.0).transpose();
                weights.row(row) /= weights.row(row).sum();
            }
            const MixtureModel mixture(given.task.features, given.task.horizon, given.task.start, weights);
            for (const double sign : {-1.0, 1.0})
                for (const bool optimal : {true, false})
                    check(support::moved_off(mixture,
                                             optimal ? backward_induction(mixture, given.reward).values
                                                     : evaluate(mixture, policy, given.reward).values,
                                             zeta, reach, sign));
        }
    }
    RecordProperty("tightest", std::to_string(tightest));
    EXPECT_GT(tightest, 0.5);
}

TEST(Sensitivity, IsACurveThatGrowsAndContainsTheTruthWhereItsClaimIsTrue) {
    int wrong = 0, checks = 0, wrong_at_zero = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(30, 6); ++seed) {
        const double zeta = 0.05;
        Planted given = planted(seed, zeta, Reach::anywhere);
        given.task.misspecification = 0;
        Stream random = support::test_stream(seed, 23);
        const Counts counts = support::counts_of(given.truth, given.task.features, 4000, random);
        // What is handed over is that of a task that knows better: any model will do.
        Task honest = given.task;
        honest.misspecification = 0.3;
        const Knowledge knowledge = learn(honest, counts, 0.1);
        const Policy policy = backward_induction(knowledge.learned->model(), given.reward).policy;
        const RewardQuestion question{given.reward, policy};
        const Sensitivity sensitivity(given.task, counts, knowledge.mixture());
        const std::vector<double> zetas{0, 0.01, 0.03, 0.05, 0.1, 0.2};
        const auto points = sensitivity.curve(zetas, &question);
        const double value = evaluate(given.truth, policy, given.reward).value,
                     loss = backward_induction(given.truth, given.reward).value - value;
        for (std::size_t k = 0; k < points.size(); ++k) {
            EXPECT_EQ(points[k].zeta, zetas[k]);
            const bool right = !points[k].refuted && value >= points[k].value.lower &&
                               value <= points[k].value.upper && loss <= points[k].loss &&
                               loss <= points[k].reward_free;
            if (zetas[k] >= zeta) {
                ++checks;
                wrong += right ? 0 : 1;
            }
            if (k == 0) {
                wrong_at_zero += right ? 0 : 1;
                continue;
            }
            EXPECT_TRUE(points[k - 1].refuted || !points[k].refuted);
            if (points[k - 1].refuted) continue;
            EXPECT_LE(points[k - 1].loss, points[k].loss);
            EXPECT_LE(points[k - 1].reward_free, points[k].reward_free);
            EXPECT_GE(points[k - 1].value.lower, points[k].value.lower);
            EXPECT_LE(points[k - 1].value.upper, points[k].value.upper);
        }
        // The breakdown point lies on the curve.
        const double tolerance = 0.5 * (points[3].loss + points[5].loss);
        const double breakdown = sensitivity.breakdown(tolerance, &question);
        EXPECT_GT(breakdown, 0) << seed;
        EXPECT_LE(sensitivity.at(breakdown, &question).loss, tolerance);
        for (const SensitivityPoint& point : points)
            EXPECT_TRUE(point.zeta > breakdown || point.refuted ||
                        sensitivity.curve(std::vector{point.zeta, breakdown}, &question)[0].loss <=
                            tolerance);
        EXPECT_TRUE(breakdown < 0.2 || points[5].loss <= tolerance) << breakdown;
        // A plan may be optimal for every truth that is near: then nothing is lost.
        const double certain = sensitivity.breakdown(0, &question);
        EXPECT_TRUE(certain == 0 || sensitivity.at(certain, &question).loss == 0) << seed;
    }
    // One event of probability 0.9 carries every check of a seed.
    EXPECT_EQ(wrong, 0) << "of " << checks;
    EXPECT_GT(wrong_at_zero, 0) << "the truths are too near to their mixtures";
}

TEST(Sensitivity, RefutesWhatStaysInTheSupportWhereSomethingLeftIt) {
    const Planted given = planted(2, 0.2, Reach::anywhere);
    Stream random = support::test_stream(2, 24);
    Task task = given.task;
    const Counts counts = support::counts_of(given.truth, task.features, 200, random);
    ASSERT_TRUE(counts.any_elsewhere());
    const Knowledge knowledge = learn(task, counts, 0.1);
    EXPECT_TRUE(Sensitivity(task, counts, knowledge.mixture()).at(0).refuted);
    EXPECT_FALSE(Sensitivity(task, counts, knowledge.mixture()).at(0.2).refuted);
    task.reach = Reach::support;
    EXPECT_TRUE(Sensitivity(task, counts, knowledge.mixture()).at(0.2).refuted);
    EXPECT_THROW(learn(task, counts, 0.1), ModelContradiction);
    task.misspecification = 0;
    EXPECT_THROW(learn(task, counts, 0.1), ModelContradiction);
}

}  // namespace
}  // namespace alidade::misspecification_test
