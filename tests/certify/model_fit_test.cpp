#include "alidade/certify/model_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::model_fit_test {
namespace {

/// Three states and one action: from anywhere to anywhere, by two laws that differ in states 0 and 1 only.
SharedFeatures triangle() {
    const BaseKernel one{
        "one", 3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {.7, .2, .1, .1, .1, .8, .25, .25, .5}};
    const BaseKernel two{
        "two", 3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {.2, .2, .6, .5, .3, .2, .25, .25, .5}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 1, std::vector{one, two}));
}

/// ln of the largest likelihood of counts over all entries, on a grid of weights.
double grid_maximum(const FeatureMap& features, const std::vector<std::int64_t>& counts) {
    double best = -1e300;
    for (int k = 0; k <= 20'000; ++k) {
        const double x = k / 20'000.0;
        double sum = 0;
        for (Index e = 0; e < features.entries(); ++e)
            if (counts[at(e)] > 0)
                sum += static_cast<double>(counts[at(e)]) *
                       std::log(x * features.phi(e)[0] + (1 - x) * features.phi(e)[1]);
        best = std::max(best, sum);
    }
    return best;
}

/// Transitions predicted one after the other by (n_j + 1/2)/(n + m/2), in the order of the counts.
double predicted_in_turn(const FeatureMap& features, const std::vector<std::int64_t>& counts) {
    double sum = 0;
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        double n = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
            for (std::int64_t seen = 0; seen < counts[at(e)]; ++seen, ++n)
                sum += std::log((static_cast<double>(seen) + 0.5) /
                                (n + 0.5 * static_cast<double>(features.successors(pair))));
    }
    return sum;
}

Counts random_counts(std::uint64_t seed, Index horizon) {
    Counts counts(triangle(), horizon);
    Stream random = support::test_stream(seed, 71);
    for (Step h = 0; h + 1 < horizon; ++h)
        for (Index e = 0; e < counts.successors().entries(); ++e) counts.add(h, e, sample_index(random, 12));
    counts.add_episodes(1);
    return counts;
}

std::vector<std::int64_t> of_step(const Counts& counts, Step h) {
    std::vector<std::int64_t> all(at(counts.successors().entries()), 0);
    for (const SeenEntry& seen : counts.seen(h)) all[at(seen.entry)] = seen.count;
    return all;
}

TEST(ModelCheck, EvidenceIsThatOfPredictingInTurnOverTheBestWeightsOfAGrid) {
    const SharedFeatures features = triangle();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Counts counts = random_counts(seed, 4);
        const ModelFit fit = check_model(*triangle(), counts, false);
        ASSERT_EQ(fit.sets.size(), 3u);
        double largest = -1e300;
        for (Step h = 0; h < 3; ++h) {
            const auto seen = of_step(counts, h);
            // The grid misses the maximum by less than 1e-5.
            const double expected = predicted_in_turn(*features, seen) - grid_maximum(*features, seen);
            EXPECT_NEAR(fit.sets[at(h)], expected, 2e-5) << "seed " << seed;
            EXPECT_LE(fit.sets[at(h)], expected + 1e-9);
            largest = std::max(largest, fit.sets[at(h)]);
        }
        EXPECT_EQ(fit.kt, largest);
        EXPECT_NEAR(fit.threshold, std::log(100.0), 1e-12);
    }
}

TEST(ModelCheck, PooledEvidenceIsTheMeanOfTwoPredictors) {
    const SharedFeatures features = triangle();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Counts counts = random_counts(seed, 4);
        std::vector<std::int64_t> pooled(at(features->entries()), 0);
        double apart = 0;
        for (Step h = 0; h < 3; ++h) {
            apart += predicted_in_turn(*features, of_step(counts, h));
            for (Index e = 0; e < std::ssize(pooled); ++e) pooled[at(e)] += counts.count(h, e);
        }
        const double best = grid_maximum(*features, pooled);
        const double mean = std::log(0.5 * std::exp(apart - best) +
                                     0.5 * std::exp(predicted_in_turn(*features, pooled) - best));
        const ModelFit fit = check_model(*triangle(), counts, true);
        ASSERT_EQ(fit.sets.size(), 1u);
        EXPECT_NEAR(fit.sets[0], mean, 2e-5);
        EXPECT_NEAR(fit.threshold, std::log(100.0), 1e-12);
    }
}

// The expectation over all outcomes, computed by listing them, is at most one, whatever the weights.
TEST(ModelCheck, EvidenceHasExpectationAtMostOne) {
    const SharedFeatures features = triangle();
    constexpr int n = 6;
    for (const double x : {0.0, 0.2, 0.5, 0.9, 1.0}) {
        double expectation = 0, total = 0;
        for (int a = 0; a <= n; ++a)
            for (int b = 0; a + b <= n; ++b) {
                const int c = n - a - b;
                Counts counts(features, 2);
                counts.add(0, 0, a);
                counts.add(0, 1, b);
                counts.add(0, 2, c);
                double log_probability =
                    std::lgamma(n + 1) - std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(c + 1);
                for (Index e = 0; e < 3; ++e)
                    log_probability += static_cast<double>(counts.count(0, e)) *
                                       std::log(x * features->phi(e)[0] + (1 - x) * features->phi(e)[1]);
                total += std::exp(log_probability);
                expectation += std::exp(log_probability + check_model(*features, counts, false).log_evidence);
            }
        EXPECT_NEAR(total, 1, 1e-12);
        EXPECT_LE(expectation, 1);
    }
}

const std::vector<std::string>& families() {
    static const std::vector<std::string> names{
        "builtin:garnet?states=10&actions=3&features=3&horizon=5&successors=5&concentration=1",
        "builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8&concentration=1",
        "builtin:riverswim?variant=halves", "builtin:inventory",
        "builtin:needle?states=20&horizon=5&successors=6&concentration=1&fraction=0.1"};
    return names;
}

Problem of_seed(const std::string& family, int seed) {
    return make_builtin(family + (family.find('?') == std::string::npos ? "?" : "&") +
                        "seed=" + std::to_string(seed));
}

// Looked at four times a run. Were the level attained, alarms would be Binomial(400, 0.01), above 22 with
// probability below 1e-9; the evidence of a right model falls with the data, so there are none.
TEST(ModelCheck, NoFalseAlarmInFourHundredRuns) {
    int alarms = 0;
    double largest = -1e300;
    for (const std::string& family : families())
        for (int seed = 1; seed <= support::repetitions(100); ++seed) {
            const Problem problem = of_seed(family, seed);
            CountSplittingDeployer system(problem.true_model(), static_cast<std::uint64_t>(seed));
            Counts counts(problem.shared_features(), problem.shape().horizon);
            bool alarm = false;
            for (const std::int64_t episodes : {3, 30, 300, 3000}) {
                system.deploy(Policy::uniform(problem.shape()), counts.episodes(),
                              episodes - counts.episodes(), counts);
                const ModelFit fit = check_model(problem.features(), counts, false);
                alarm = alarm || fit.contradicted;
                largest = std::max(largest, fit.log_evidence);
            }
            alarms += alarm ? 1 : 0;
        }
    EXPECT_EQ(alarms, 0);
    EXPECT_LT(largest, std::log(400.0));
    RecordProperty("largest_log_evidence", std::to_string(largest));
}

// One base model and a choice of two: no weights to fit, so E is the martingale itself, looked at after every
// transition, and the level is nearly attained. Alarms in 1000 runs are at most Binomial(1000, 0.2): above
// 264 with probability below 1e-6.
TEST(ModelCheck, TheLevelHoldsAtAllTimesAtOnce) {
    const BaseKernel coin{"coin", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {.3, .7, .3, .7}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{coin}));
    int alarms = 0;
    for (std::uint64_t run = 0; run < support::repetitions(1000u); ++run) {
        Stream random = support::test_stream(run, 73);
        Counts counts(features, 2);
        bool alarm = false;
        for (int t = 0; t < 200 && !alarm; ++t) {
            counts.add(0, sample_uniform(random) < 0.3 ? 0 : 1, 1);
            alarm = check_model(*features, counts, false, 0.2).contradicted;
        }
        alarms += alarm ? 1 : 0;
    }
    EXPECT_LE(alarms, 264);
    EXPECT_GE(alarms, support::repetitions(20));
}

/// 0.7 of the true law and 0.3 of an arbitrary one on the same successors, where `where` says so.
Counts contaminated_data(const Problem& problem, std::int64_t episodes, std::uint64_t seed,
                         const std::function<bool(Index pair)>& where) {
    const FeatureMap& features = problem.features();
    std::vector<BaseKernel> kernels;
    for (Index i = 0; i < features.features(); ++i) kernels.push_back(features.base_kernel(i));
    Stream random = support::test_stream(seed, 72);
    BaseKernel other{"other", features.pairs(), features.states(), {0}, {}, {}};
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const auto targets = features.targets(pair);
        auto law = sample_dirichlet(random, features.successors(pair), 1.0);
        if (!where(pair))
            for (Index j = 0; j < features.successors(pair); ++j)
                law[at(j)] = features.phi(features.first_entry(pair) + j)[0];
        other.targets.insert(other.targets.end(), targets.begin(), targets.end());
        other.probabilities.insert(other.probabilities.end(), law.begin(), law.end());
        other.offsets.push_back(static_cast<std::int64_t>(other.targets.size()));
    }
    kernels.push_back(other);
    const auto wider = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(features.states(), features.actions(), kernels));
    Matrix weights(problem.truth()->rows(), features.features() + 1);
    weights << 0.7 * *problem.truth(), Vector::Constant(problem.truth()->rows(), 0.3);
    CountSplittingDeployer system(MixtureModel(wider, problem.shape().horizon, problem.start(), weights),
                                  seed);
    Counts seen(wider, problem.shape().horizon), counts(problem.shared_features(), problem.shape().horizon);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, seen);
    // The successors are the same, so the entries are.
    counts.take_record(seen.record());
    counts.add_episodes(episodes);
    return counts;
}

TEST(ModelCheck, SeesThirtyPercentOfAnotherKernelInTenThousandEpisodes) {
    for (std::size_t family = 0; family < families().size(); ++family)
        for (int seed = 1; seed <= 3; ++seed) {
            const Problem problem = of_seed(families()[family], seed);
            const Counts counts = contaminated_data(problem, 10'000, static_cast<std::uint64_t>(seed),
                                                    [](Index) { return true; });
            const ModelFit fit = check_model(problem.features(), counts, false);
            EXPECT_TRUE(fit.contradicted)
                << families()[family] << " seed " << seed << ": " << fit.log_evidence;
            RecordProperty("log_evidence_" + std::to_string(family) + "_" + std::to_string(seed),
                           std::to_string(fit.log_evidence));
        }
}

/// Uniform actions on a truth that is a little off.
ModelFit fit_of(const std::string& uri, std::int64_t episodes, std::uint64_t seed) {
    const Problem problem = make_builtin(uri + "&seed=" + std::to_string(seed));
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_system(), seed);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return check_model(problem.features(), counts, false);
}

// What experiments/model_check.cpp measured with these seeds, halved; Krichevsky and Trofimov's predictor
// alone sees none of it.
TEST(ModelCheck, HasPower) {
    struct Case {
        const char* uri;
        std::int64_t episodes;
        double least;
    };
    for (const auto& [uri, episodes, least] :
         {Case{"builtin:garnet?foreign=0.02", 100'000, 23}, Case{"builtin:garnet?foreign=0.05", 100'000, 360},
          Case{"builtin:garnet?foreign=0.05&foreign_law=uniform", 100'000, 70},
          Case{"builtin:inventory?start=0&foreign=0.02", 100'000, 2.5},
          Case{"builtin:inventory?start=0&foreign=0.05", 100'000, 140},
          Case{"builtin:inventory?start=0&foreign=0.01&foreign_law=lowest", 10'000, 11},
          Case{"builtin:inventory?start=0&foreign=0.05&foreign_law=lowest", 1'000, 19}})
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            const ModelFit fit = fit_of(uri, episodes, seed);
            EXPECT_GE(fit.log_evidence, least) << uri << " seed " << seed;
            EXPECT_GT(fit.log_evidence, fit.kt) << uri;
        }
    // A right model costs little.
    for (const char* uri : {"builtin:garnet?foreign=0", "builtin:inventory?foreign=0"})
        for (const std::int64_t episodes : {1'000, 10'000, 100'000})
            EXPECT_GE(fit_of(uri, episodes, 1).log_evidence, -6) << uri;
}

/// Right models: weights inside, on an edge or at a vertex, rows on which the base models agree, pooled or
/// not.
Problem right_model(int run) {
    const std::string sizes = "states=6&actions=2&features=3&horizon=4&successors=4&concentration=1";
    const Problem drawn =
        of_seed(run % 2 == 0 ? "builtin:garnet?" + sizes : "builtin:needle?" + sizes + "&fraction=0.5", run);
    ProblemDescription parts = drawn.description();
    parts.homogeneous = run % 5 == 0;
    if (parts.homogeneous) parts.truth = Matrix(parts.truth->topRows(1));
    for (Index h = 0; h < parts.truth->rows(); ++h) {
        if (run % 3 == 1) parts.truth->row(h) << 1, 0, 0;
        if (run % 3 == 2) {
            (*parts.truth)(h, 2) = 0;
            parts.truth->row(h) /= parts.truth->row(h).sum();
        }
    }
    return Problem(std::move(parts));
}

// Four looks at each. Alarms at level 0.1 of 200 runs are at most Binomial(200, 0.1), above 46 with
// probability below 1e-6; those of 2000 runs at most Binomial(2000, 0.1), above 270. There are none: the
// evidence of a right model is a mean over a hundred alternatives, of which most say nothing.
TEST(ModelCheck, RightModelsOfEveryKindAreLeftAlone) {
    int alarms = 0;
    double largest = -1e300;
    const int runs = support::runs(200, 2000);
    for (int run = 0; run < runs; ++run) {
        const Problem problem = right_model(run);
        CountSplittingDeployer system(problem.true_model(), static_cast<std::uint64_t>(run));
        Counts counts(problem.shared_features(), problem.shape().horizon);
        bool alarm = false;
        for (const std::int64_t episodes : {5, 50, 500, 5000}) {
            system.deploy(Policy::uniform(problem.shape()), counts.episodes(), episodes - counts.episodes(),
                          counts);
            const ModelFit fit = check_model(problem.features(), counts, problem.homogeneous(), 0.1);
            alarm = alarm || fit.contradicted;
            largest = std::max(largest, fit.log_evidence);
        }
        alarms += alarm ? 1 : 0;
    }
    EXPECT_EQ(alarms, 0);
    RecordProperty("largest_log_evidence", std::to_string(largest));
}

TEST(ModelCheck, SeesASuspectedKernelWithFewerData) {
    const Problem problem = of_seed(families()[1] + "&foreign=0.1&foreign_law=shared", 2);
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_system(), 2);
    system.deploy(Policy::uniform(problem.shape()), 0, 2'000, counts);
    const FeatureMap& map = problem.features();
    BaseKernel suspect{.name = "culprit", .rows = map.pairs(), .columns = map.states(), .offsets = {0}};
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e) {
            suspect.targets.push_back(map.targets()[at(e)]);
            suspect.probabilities.push_back(problem.foreign()->law[at(e)]);
        }
        suspect.offsets.push_back(static_cast<std::int64_t>(suspect.targets.size()));
    }
    const ModelFit without = check_model(map, counts, false);
    const ModelFit with = check_model(map, counts, false, 0.01, std::vector{suspect});
    EXPECT_GT(with.log_evidence, without.log_evidence + 3);
    EXPECT_EQ(with.best.front().alternative, "foreign: culprit");
    suspect.probabilities[0] += 0.1;
    EXPECT_THROW(check_model(map, counts, false, 0.01, std::vector{suspect}), InvalidArgument);
    suspect.rows -= 1;
    EXPECT_THROW(check_model(map, counts, false, 0.01, std::vector{suspect}), InvalidArgument);
}

TEST(ModelCheck, TransitionsToNowhereContradictByThemselves) {
    Counts counts(triangle(), 2, Elsewhere::counted);
    counts.add(0, 0, 10);
    EXPECT_FALSE(check_model(*triangle(), counts, false).contradicted);
    counts.add_elsewhere(0, 0, 1);
    EXPECT_TRUE(check_model(*triangle(), counts, false).contradicted);
}

// After one transition every alternative that begins with the mixture has said the same as the mixture: half
// of the weight for rows, a sixteenth each for weights by action and for Krichevsky and Trofimov's predictor,
// which said one half. Foreign kernels are not computed for so little.
TEST(ModelCheck, IsAMeanWithWeightsThatSumToOneAtMost) {
    const BaseKernel coin{"coin", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {.3, .7, .3, .7}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{coin}));
    for (const Index entry : {0, 1}) {
        Counts counts(features, 2);
        counts.add(0, entry, 1);
        const double p = entry == 0 ? 0.3 : 0.7;
        EXPECT_NEAR(check_model(*features, counts, false).log_evidence, std::log(0.5 + (1 + 0.5 / p) / 16),
                    1e-9);
    }
    // Of three steps half is their product, half their mean.
    Counts counts(features, 4);
    counts.add(0, 0, 1);
    counts.add(1, 1, 1);
    const double first = 0.5 / 0.3, second = 0.5 / 0.7;
    const double kt = (first * second + (first + second + 1) / 3) / 2;
    EXPECT_NEAR(check_model(*features, counts, false).log_evidence, std::log(0.5 + (1 + kt) / 16), 1e-9);
}

TEST(ModelCheck, SaysHowSmallAnErrorItCanSee) {
    const double few = fit_of("builtin:garnet?foreign=0", 1'000, 1).unseen,
                 many = fit_of("builtin:garnet?foreign=0", 100'000, 1).unseen;
    // The error falls with the square root of the data.
    EXPECT_NEAR(few / many, 10, 0.5);
    EXPECT_EQ(check_model(*triangle(), Counts(triangle(), 3), false).unseen, 1);
}

TEST(ModelCheck, NamesThePairThatContradicts) {
    const Problem problem = of_seed(families()[0], 1);
    for (const Index culprit : {0, 4, 17, 29}) {
        const Counts counts =
            contaminated_data(problem, 200'000, 5, [&](Index pair) { return pair == culprit; });
        const ModelFit fit = check_model(problem.features(), counts, false);
        ASSERT_TRUE(fit.worst.has_value());
        EXPECT_EQ(problem.shape().pair(fit.worst->state, fit.worst->action), culprit);
        EXPECT_GT(fit.worst->log_evidence, 0);
        EXPECT_EQ(fit.worst->visits, counts.visits(*fit.worst->step, culprit));
        const Index entry = problem.features().find_entry(culprit, fit.worst->successor);
        ASSERT_GE(entry, 0);
        EXPECT_EQ(fit.worst->seen, counts.count(*fit.worst->step, entry));
        EXPECT_GT(static_cast<double>(fit.worst->seen), fit.worst->expected);
    }
}

// State 2 has one law in both base models: it says nothing about weights, but it can be wrong.
TEST(ModelCheck, RowsOnWhichBaseModelsAgreeCount) {
    Counts counts(triangle(), 2);
    for (Index j = 0; j < 3; ++j) counts.add(0, 6 + j, 1000);
    const ModelFit wrong = check_model(*triangle(), counts, false);
    EXPECT_TRUE(wrong.contradicted);
    EXPECT_EQ(wrong.worst->state, 2);
    counts.clear();
    for (Index j = 0; j < 3; ++j) counts.add(0, 6 + j, j == 2 ? 1500 : 750);
    EXPECT_FALSE(check_model(*triangle(), counts, false).contradicted);
}

TEST(ModelCheck, SeesWeightsThatChangeWithTheStepWherePoolingIsClaimed) {
    const Problem problem = of_seed(families()[0], 1);
    Counts counts(problem.shared_features(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_model(), 1);
    system.deploy(Policy::uniform(problem.shape()), 0, 10'000, counts);
    EXPECT_FALSE(check_model(problem.features(), counts, false).contradicted);
    EXPECT_TRUE(check_model(problem.features(), counts, true).contradicted);
}

TEST(ModelCheck, SaysNothingWithoutData) {
    for (const bool homogeneous : {false, true}) {
        const ModelFit fit = check_model(*triangle(), Counts(triangle(), 3), homogeneous);
        EXPECT_LE(fit.log_evidence, 0);
        EXPECT_NEAR(fit.log_evidence, 0, 1e-12);
        EXPECT_FALSE(fit.contradicted);
        EXPECT_FALSE(fit.worst.has_value());
        EXPECT_FALSE(check_model(*triangle(), Counts(triangle(), 1), homogeneous).contradicted);
    }
}

TEST(ModelCheck, RefusesLevelsThatAreNone) {
    for (const double level : {0.0, 1.0, -0.1, std::nan("")})
        EXPECT_THROW(check_model(*triangle(), Counts(triangle(), 3), false, level), InvalidArgument);
}

// Counts as large as anybody has: rounding must not make evidence. Seen exactly as expected, so ln E is minus
// the price of a predictor that had to learn, about (m-1)/2 ln n a pair.
TEST(ModelCheck, RoundingMakesNoEvidence) {
    for (const std::int64_t scale : {1'000'000L, 1'000'000'000L, 1'000'000'000'000L}) {
        Counts counts(triangle(), 2);
        const double law[] = {.45, .2, .35, .3, .2, .5, .25, .25, .5};
        for (std::size_t e = 0; e < 9; ++e)
            counts.add(0, static_cast<Index>(e),
                       static_cast<std::int64_t>(std::llround(law[e] * static_cast<double>(scale))));
        const ModelFit fit = check_model(*triangle(), counts, false);
        EXPECT_LT(fit.kt, -2.9 * std::log(static_cast<double>(scale)) + 5);
        EXPECT_LT(fit.log_evidence, 0);
    }
}

}  // namespace
}  // namespace alidade::model_fit_test
