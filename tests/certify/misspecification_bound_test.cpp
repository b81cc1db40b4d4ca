#include "alidade/certify/misspecification_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/certify/suspect_rows.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

/// How wrong, at least, and where.
namespace alidade::misspecification_bound_test {
namespace {

Counts data_of(const Problem& problem, std::int64_t episodes, std::uint64_t seed) {
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_system(), seed);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return counts;
}

// A wrong run has probability 0.01: more than 6 of 100, or 30 of 1000, would have less than 1e-4 and 1e-7.
TEST(MisspecificationBound, IsBelowWhatTheTruthIsOff) {
    int wrong = 0, found = 0;
    const int runs = support::runs(100, 1000);
    for (int run = 0; run < runs; ++run) {
        const char* const laws[] = {"random", "uniform", "shared", "lowest"};
        const double shares[] = {0.02, 0.1, 0.3};
        const Problem problem = make_builtin(fmt::format(
            "builtin:garnet?states=6&actions=2&features=3&horizon=3&successors=4&seed={}&foreign={}&"
            "foreign_law={}",
            run, shares[run % 3], laws[run % 4]));
        Counts counts(problem.shared_successors(), problem.shape().horizon);
        CountSplittingDeployer system(problem.true_system(), static_cast<std::uint64_t>(run));
        bool fails = false;
        for (const std::int64_t episodes : {100, 1000, 10'000}) {
            system.deploy(Policy::uniform(problem.shape()), counts.episodes(), episodes - counts.episodes(),
                          counts);
            const MisspecificationBound bound = misspecification_lower(problem.features(), counts, false);
            fails = fails || bound.lower > problem.true_misspecification();
            EXPECT_LE(bound.varying, bound.lower);
            found += bound.lower > 0 ? 1 : 0;
        }
        wrong += fails ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(found, support::repetitions(30)) << "else the test is blind";
}

TEST(MisspecificationBound, ReachesAFairPartOfTheTruth) {
    const Problem problem = make_builtin("builtin:garnet?foreign=0.3");
    const MisspecificationBound bound =
        misspecification_lower(problem.features(), data_of(problem, 100'000, 1), false);
    EXPECT_GT(bound.lower, 0.06);
    EXPECT_LT(bound.lower, problem.true_misspecification());
    EXPECT_TRUE(bound.step.has_value());
}

TEST(MisspecificationBound, IsZeroForRightModels) {
    for (int seed = 1; seed <= 20; ++seed) {
        const Problem problem = make_builtin(fmt::format("builtin:garnet?states=10&seed={}", seed));
        const Counts counts = data_of(problem, 3000, static_cast<std::uint64_t>(seed));
        EXPECT_EQ(misspecification_lower(problem.features(), counts, false).lower, 0);
        EXPECT_FALSE(misspecification_lower(problem.features(), counts, false).step.has_value());
    }
    EXPECT_EQ(misspecification_lower(make_builtin("builtin:garnet").features(),
                                     Counts(make_builtin("builtin:garnet").shared_features(), 5), false)
                  .lower,
              0);
}

// One base model, one pair: the law is known, and the bound is that of a coin.
TEST(MisspecificationBound, IsThatOfOneRowByHand) {
    const BaseKernel coin{"coin", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {.5, .5, .5, .5}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{coin}));
    Counts counts(features, 2);
    counts.add(0, 0, 9000);
    counts.add(0, 1, 1000);
    // Off by 0.4. Refuted is zeta if the predictor beats the best law within zeta by ln 100: 10000 KL(0.9,
    // 0.5 + zeta) = 4.6 + regret of at most 3 + 5 nats for being chosen among 12: zeta is 0.4 less 0.012 or
    // so.
    const double lower = misspecification_lower(*features, counts, false).lower;
    EXPECT_GT(lower, 0.37);
    EXPECT_LT(lower, 0.4);
    // What leads where no base model leads is off by its share.
    Counts elsewhere(features, 2, Elsewhere::counted);
    elsewhere.add(0, 0, 4000);
    elsewhere.add(0, 1, 4000);
    elsewhere.add_elsewhere(0, 0, 2000);
    const double off = misspecification_lower(*features, elsewhere, false).lower;
    EXPECT_GT(off, 0.17);
    EXPECT_LT(off, 0.2);
}

/// ln of rows(alpha)'s probability of counts of a fair coin, predicted in turn.
double predicted_coin(double alpha, int a, int b) {
    double sum = 0;
    for (int i = 0; i < a; ++i) sum += std::log((alpha / 2 + i) / (alpha + i));
    for (int i = 0; i < b; ++i) sum += std::log((alpha / 2 + i) / (alpha + a + i));
    return sum;
}

// One base model leaves no weights to choose: the bound is where ln Q - L_zeta crosses ln(2 steps/level), and
// all of it can be written down.
TEST(MisspecificationBound, CrossesItsThresholdWhereItShould) {
    const BaseKernel coin{"coin", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {.5, .5, .5, .5}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{coin}));
    for (const auto& [a, b] : {std::pair{40, 2}, {30, 1}, {200, 80}, {60, 4}})
        for (const Index horizon : {2, 4}) {
            Counts counts(features, horizon);
            counts.add(0, 0, a);
            counts.add(0, 1, b);
            double mean =
                std::exp(predicted_coin(1, a, b)) / 12;  // Krichevsky and Trofimov's, of two successors
            for (const double alpha : {1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5})
                mean += std::exp(predicted_coin(alpha, a, b)) / 12;
            const double needed = std::log(mean) - std::log(2 * static_cast<double>(horizon - 1) / 0.01);
            double low = 0, high = static_cast<double>(a) / (a + b) - 0.5;
            if (a * std::log(0.5) + b * std::log(0.5) > needed) continue;
            for (int k = 0; k < 60; ++k) {
                const double zeta = (low + high) / 2;
                (a * std::log(0.5 + zeta) + b * std::log(0.5 - zeta) <= needed ? low : high) = zeta;
            }
            const double found = misspecification_lower(*features, counts, false).lower;
            EXPECT_LE(found, low + 1e-9) << a << " " << b;
            EXPECT_GE(found, low / 1.021) << a << " " << b;
        }
}

TEST(MisspecificationBound, OfLawsThatVaryIsByBets) {
    const BaseKernel one{"one", 3, 3, {0, 3, 4, 5}, {0, 1, 2, 1, 2}, {.6, .3, .1, 1, 1}},
        other{"other", 3, 3, {0, 3, 4, 5}, {0, 1, 2, 1, 2}, {.3, .6, .1, 1, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 1, std::vector{one, other}));
    Counts counts(features, 2);
    counts.add(0, 0, 9500);
    counts.add(0, 1, 400);
    counts.add(0, 2, 100);
    // No weights make the first successor likelier than 0.6: some law is off by 0.35, and bets on it say so.
    const MisspecificationBound bound = misspecification_lower(*features, counts, false);
    EXPECT_GT(bound.varying, 0.25);
    EXPECT_LT(bound.varying, 0.35);
    EXPECT_GE(bound.lower, bound.varying);
    EXPECT_LT(bound.lower, 0.35);
}

TEST(MisspecificationBound, RefusesLevelsThatAreNone) {
    const Problem problem = make_builtin("builtin:riverswim");
    const Counts counts(problem.shared_features(), problem.shape().horizon);
    for (const double level : {0.0, 1.0, -0.1})
        EXPECT_THROW(misspecification_lower(problem.features(), counts, false, level), InvalidArgument);
}

/// The same weights at all steps, and every tenth pair off by 30 %: elsewhere the foreign law is the mixture.
Problem partly_off(std::uint64_t seed) {
    const Problem plain = make_builtin(fmt::format("builtin:garnet?seed={}", seed));
    ProblemDescription parts = plain.description();
    parts.truth = parts.truth->row(0).replicate(parts.horizon, 1);
    const MixtureModel mixture(parts.features, parts.horizon, parts.start, *parts.truth);
    ForeignPart foreign = foreign_part(*parts.features, 0.3, ForeignLaw::random, seed);
    const auto right = mixture.all_probabilities(0);
    for (Index pair = 0; pair < parts.features->pairs(); ++pair)
        if (pair % 10 != 0)
            for (Index e = parts.features->first_entry(pair); e < parts.features->first_entry(pair + 1); ++e)
                foreign.law[at(e)] = right[at(e)];
    parts.foreign = foreign;
    return Problem(std::move(parts));
}

Task within(const Problem& problem, double zeta) {
    Task task = task_of(problem);
    task.misspecification = zeta;
    return task;
}

/// Whether a row of `partly_off` is one of those that are off.
bool is_off(const Problem& problem, const Misfit& misfit) {
    return problem.shape().pair(misfit.state, misfit.action) % 10 == 0;
}

TEST(SuspectRows, AreMostlyThoseThatAreOff) {
    int bad = 0, right = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Problem problem = partly_off(seed);
        const Counts counts = data_of(problem, 100'000, seed);
        ASSERT_LT(problem.true_misspecification(), 0.3);
        const std::vector<double> zetas{0.3, 0.1, 0.02};
        const auto lists = suspect_rows(task_of(problem), counts, zetas);
        ASSERT_EQ(lists.size(), 3u);
        double last = std::numeric_limits<double>::infinity();
        for (const Misfit& misfit : lists[0].rows) {
            (is_off(problem, misfit) ? bad : right) += 1;
            EXPECT_LE(misfit.log_evidence, last);
            last = misfit.log_evidence;
            EXPECT_EQ(misfit.visits,
                      counts.visits(*misfit.step, problem.shape().pair(misfit.state, misfit.action)));
        }
        // What is listed for a larger misspecification is listed for less.
        for (std::size_t k = 0; k + 1 < lists.size(); ++k) {
            EXPECT_EQ(lists[k].misspecification, zetas[k]);
            EXPECT_TRUE(lists[k + 1].refuted || lists[k + 1].rows.size() >= lists[k].rows.size());
        }
        EXPECT_EQ(suspect_rows(within(problem, 0.1), counts).rows, lists[1].rows);
    }
    EXPECT_GE(bad, 40) << "of 8 pairs, 4 steps, 5 runs, less those that are hardly visited";
    EXPECT_LE(right, bad / 20);
}

/// 40 pairs of two successors, two base models, 12 pairs off by a quarter, all to the same side: they move
/// the weights, and the others look wrong.
struct MovedWeights {
    SharedFeatures features;
    std::vector<double> truth;  ///< chance of the first successor, pair by pair

    static constexpr Index pairs = 40, off = 12;

    MovedWeights() : truth(at(pairs), 0.5) {
        std::vector<BaseKernel> kernels{{"one", pairs, pairs, {0}, {}, {}},
                                        {"other", pairs, pairs, {0}, {}, {}}};
        for (Index pair = 0; pair < pairs; ++pair)
            for (std::size_t k = 0; k < 2; ++k) {
                const double p = k == 0 ? 0.8 : 0.2;
                kernels[k].targets.insert(kernels[k].targets.end(), {0, 1});
                kernels[k].probabilities.insert(kernels[k].probabilities.end(), {p, 1 - p});
                kernels[k].offsets.push_back(std::ssize(kernels[k].targets));
            }
        features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(pairs, 1, kernels));
        for (Index pair = 0; pair < off; ++pair) truth[at(pair)] = 0.75;
    }
    Counts data(std::int64_t visits, Stream& random) const {
        Counts counts(features, 2);
        for (Index pair = 0; pair < pairs; ++pair) {
            std::vector<std::int64_t> split(2);
            sample_multinomial(random, visits, std::vector{truth[at(pair)], 1 - truth[at(pair)]}, split);
            for (Index j = 0; j < 2; ++j)
                if (split[at(j)] > 0) counts.add(0, features->first_entry(pair) + j, split[at(j)]);
        }
        return counts;
    }
};

/// Forty rows of three successors, twelve of which are off by a quarter: they pull the weights, and lead more
/// often than any mixture to the third.
struct PulledRows {
    SharedFeatures features;
    static constexpr Index pairs = 40, off = 12;

    PulledRows() {
        std::vector<BaseKernel> kernels{{"one", pairs, pairs, {0}, {}, {}},
                                        {"other", pairs, pairs, {0}, {}, {}}};
        for (Index pair = 0; pair < pairs; ++pair)
            for (std::size_t k = 0; k < 2; ++k) {
                kernels[k].targets.insert(kernels[k].targets.end(), {0, 1, 2});
                kernels[k].probabilities.insert(kernels[k].probabilities.end(),
                                                {k == 0 ? 0.7 : 0.2, k == 0 ? 0.2 : 0.7, 0.1});
                kernels[k].offsets.push_back(std::ssize(kernels[k].targets));
            }
        features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(pairs, 1, kernels));
    }
    Counts data(std::int64_t visits, Stream& random) const {
        Counts counts(features, 2);
        for (Index pair = 0; pair < pairs; ++pair) {
            std::vector<std::int64_t> split(3);
            sample_multinomial(random, visits,
                               pair < off ? std::vector{0.6, 0.2, 0.2} : std::vector{0.45, 0.45, 0.1}, split);
            for (Index j = 0; j < 3; ++j)
                if (split[at(j)] > 0) counts.add(0, features->first_entry(pair) + j, split[at(j)]);
        }
        return counts;
    }
};

// The mean share of right rows in a list is below its level where the misspecification is true, and far above
// it where less is claimed than is true: the weights have followed the wrong rows. A share of 0.05 and its
// sum over 40 runs: with a mean of 0.05 at most each, a share in [0, 1], a mean above 0.25 has probability
// below 1e-6 (Chernoff: exp(-40 KL(0.25, 0.05)) = exp(-40 * 0.224)).
TEST(SuspectRows, AreATestOnlyWhereTheClaimIsTrue) {
    const PulledRows system;
    Stream random = support::test_stream(1, 31);
    double of_claim = 0, of_less = 0, found = 0;
    const int runs = support::repetitions(40, 10);
    for (int run = 0; run < runs; ++run) {
        const Counts counts = system.data(20'000, random);
        const std::vector<double> zetas{0.25, 0.02};
        const auto lists = suspect_rows({system.features, 2, StartLaw(0)}, counts, zetas);
        const auto right_share = [&](const SuspectRows& list) {
            double right = 0;
            for (const Misfit& misfit : list.rows) right += misfit.state >= PulledRows::off ? 1 : 0;
            return list.rows.empty() ? 0.0 : right / static_cast<double>(list.rows.size());
        };
        of_claim += right_share(lists[0]) / runs;
        found += static_cast<double>(lists[0].rows.size()) / runs;
        of_less += lists[1].refuted ? 0 : right_share(lists[1]) / runs;
    }
    RecordProperty("share of right rows", std::to_string(of_claim));
    RecordProperty("where less is claimed", std::to_string(of_less));
    EXPECT_LE(of_claim, 0.25);
    EXPECT_GE(found, PulledRows::off - 1) << "an empty list would do, too";
    EXPECT_GT(of_less, 0.25) << "the attack is none";
}

// One row that can be off, and no weights to choose: it is listed from an evidence of 1/(4/5 share) on, since
// a fifth of the share is for the sets.
TEST(SuspectRows, AreListedFromTheirLevelOn) {
    const BaseKernel coin{"coin", 2, 2, {0, 2, 3}, {0, 1, 1}, {.5, .5, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{coin}));
    Task task{features, 2, StartLaw(0)};
    task.misspecification = 0.5;
    bool below = false, above = false;
    for (int a = 5; a < 60; ++a)
        for (int b = 0; b < a; ++b) {
            double e = 0;
            for (const double alpha : {1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5})
                e += std::exp(predicted_coin(alpha, a, b) - (a + b) * std::log(0.5)) / 11;
            if (e < 22.5 || e > 27.7) continue;
            Counts counts(features, 2);
            counts.add(0, 0, a);
            if (b > 0) counts.add(0, 1, b);
            EXPECT_EQ(suspect_rows(task, counts, 0.05).rows.size(), e >= 25 ? 1u : 0u)
                << a << " " << b << " " << e;
            (e >= 25 ? above : below) = true;
        }
    EXPECT_TRUE(below && above) << "else the test is blind";
}

TEST(SuspectRows, AreNoneOfARightModel) {
    const Problem problem = make_builtin("builtin:garnet?states=10");
    const Counts counts = data_of(problem, 20'000, 1);
    EXPECT_TRUE(suspect_rows(within(problem, 0.001), counts).rows.empty());
    for (const double share : {0.0, 1.0})
        EXPECT_THROW(suspect_rows(within(problem, 0.1), counts, share), InvalidArgument);
}

// With nothing allowed for, a list would say that rows are off of which it assumes that none is.
TEST(SuspectRows, AreRefusedWhereNothingIsAllowedFor) {
    const Problem problem = partly_off(1);
    const Counts counts = data_of(problem, 1000, 1);
    EXPECT_THROW(suspect_rows(task_of(problem), counts), InvalidArgument);
    EXPECT_THROW(suspect_rows(task_of(problem), counts, std::vector{0.1, 0.0}), InvalidArgument);
}

TEST(SuspectRows, AreRefutedWithWhatTheyAssume) {
    MovedWeights system;
    std::ranges::fill(system.truth, 0.95);  // no mixture goes beyond 0.8
    Stream random = support::test_stream(2, 31);
    const Counts counts = system.data(2000, random);
    Task task{system.features, 2, StartLaw(0)};
    task.misspecification = 0.1;
    EXPECT_TRUE(suspect_rows(task, counts).refuted);
    task.misspecification = 0.2;
    EXPECT_FALSE(suspect_rows(task, counts).refuted);
    // Where the truth is said to stay in the support, a transition that left it refutes that.
    Counts left(system.features, 2, Elsewhere::counted);
    left.add_elsewhere(0, 3, 1);
    task.misspecification = 0.5;
    EXPECT_FALSE(suspect_rows(task, left).refuted);
    task.reach = Reach::support;
    EXPECT_TRUE(suspect_rows(task, left).refuted);
}

}  // namespace
}  // namespace alidade::misspecification_bound_test
