#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/span.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/explore/regression_source.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/theory/bounds.hpp"
#include "support/dense_algebra.hpp"
#include "support/effort.hpp"
#include "support/greedy_plans.hpp"
#include "support/pinned_failures.hpp"
#include "support/planted_truths.hpp"

// Attempts to break what is claimed with other constants than the default ones: any sharpenings left out, the
// paper's constants, signed features, misspecified truths.
namespace alidade::attack_constants_test {
namespace {

detail::RegressionSourceOptions constants_without(Index bits) {
    detail::RegressionSourceOptions options;
    for (const detail::SharpeningEntry& entry : detail::sharpenings()) {
        options.constants.sharpenings.*entry.element = (bits & 1) == 0;
        bits >>= 1;
    }
    return options;
}

detail::RegressionSourceOptions paper_constants(std::int64_t episodes) {
    detail::RegressionSourceOptions options;
    options.constants.paper = true;
    options.constants.episodes = episodes;
    return options;
}

/// As it is asked for by name.
std::string request_for(const detail::RegressionSourceOptions& options) {
    if (options.constants.paper)
        return "regression?constants=paper&episodes=" + std::to_string(options.constants.episodes);
    std::string without = detail::names_left_out(options.constants.sharpenings);
    std::ranges::replace(without, ',', '+');
    return without.empty() ? "regression" : "regression?without=" + without;
}

/// What statistics support, and the deviations with it.
struct Claims {
    Knowledge knowledge;
    DeviationTable deviations;
};

Claims claims_of(const Task& task, const detail::ValueRegression& regression, WidthMethod method,
                 std::span<const detail::RidgeStatistics> statistics) {
    const auto sets = regression.solve(statistics);
    std::vector<Matrix> metrics;
    for (const detail::RegressionSet& set : sets) metrics.push_back(set.inverse_factor);
    WidthTable widths(regression.sets(), *task.features);
    bracket_widths(*task.features, regression.features(), metrics, {.method = method}, 1, widths);
    Knowledge knowledge = detail::regression_knowledge(task, regression, sets, widths.upper, 1);
    DeviationTable deviations(knowledge.mixture(), widths);
    return {std::move(knowledge), std::move(deviations)};
}

/// The laws within the misspecification of `laws` at which the plan looks worst: its own actions lead to what
/// is worth least under it, and all others to what is worth most.
support::Laws against(const Task& task, const support::Laws& laws, const Policy& plan, const Reward& reward) {
    const Shape shape = task.shape();
    support::Laws worst = laws;
    for (int pass = 0; pass < 2; ++pass) {
        const Matrix values = evaluate(support::system_with(task, worst), plan, reward).values;
        worst = laws;
        for (Step h = 0; h + 1 < shape.horizon; ++h) {
            const Vector next = values.row(h + 1).transpose();
            for (Index pair = 0; pair < shape.pairs(); ++pair)
                support::move_mass(
                    *task.features, pair, {next.data(), at(next.size())}, task.misspecification * (1 - 1e-12),
                    plan.action(h, pair / shape.actions) != pair % shape.actions, worst[at(h)]);
        }
    }
    return worst;
}

/// Everything claimed about one policy, under one reward, on one system. How much of the reward-free bounds
/// the error of the policy's value takes up.
double check(const Claims& claims, const MixtureModel& truth, const Policy& policy, const Reward& reward,
             bool optimal) {
    const LearnedMixture& learned = claims.knowledge.mixture();
    const auto model = evaluate(learned.model(), policy, reward), real = evaluate(truth, policy, reward);
    const Matrix error = (model.values - real.values).cwiseAbs();
    const Matrix span = detail::span_recursion(learned, claims.deviations).values;
    const std::vector<double> spans = detail::value_spans(learned);
    for (Step h = 0; h < truth.shape().horizon; ++h) {
        EXPECT_LE((error.row(h) - span.row(h)).maxCoeff(), 1e-9);
        EXPECT_LE(model.values.row(h).maxCoeff() - model.values.row(h).minCoeff(), spans[at(h)] + 1e-10);
    }
    const double best = backward_induction(truth, reward).value;
    const RewardCertificate certificate = certify_reward(claims.knowledge, reward, policy);
    EXPECT_GE(real.value, certificate.value.lower);
    // No value exceeds H, which the evaluation may do by a rounding.
    EXPECT_LE(std::min(real.value, static_cast<double>(truth.shape().horizon)), certificate.value.upper);
    EXPECT_LE(best, certificate.optimal_upper + 1e-12);
    for (const auto& [name, bound] : certificate.methods) EXPECT_LE(best - real.value, bound + 1e-12) << name;
    double used = 0;
    for (const auto& [name, bound] : claims.knowledge.certificate.candidates) {
        if (optimal) {
            EXPECT_LE(best - real.value, bound + 1e-12) << name;
        }
        if (support::of_greedy_plans(name)) continue;
        EXPECT_LE(2 * std::abs(model.value - real.value), bound + 1e-12) << name;
        if (bound > 0) used = std::max(used, 2 * std::abs(model.value - real.value) / bound);
    }
    return used;
}

/// One planted truth under some constants.
double attack(std::uint64_t seed, const detail::RegressionSourceOptions& options) {
    support::PlantedTruth planted = support::planted_truth(seed);
    Stream random = support::test_stream(seed, 2);
    if (seed % 2 == 0) planted.task.misspecification = 0.9 * std::pow(10.0, -3 * sample_uniform(random));
    const Shape shape = planted.task.shape();
    const detail::ValueRegression regression = detail::value_regression(planted.task, 0.1, options.constants);
    const auto statistics = support::statistics_about(planted, regression, random, 1 - 1e-7);
    const Claims claims = claims_of(planted.task, regression, options.width, statistics);
    const auto& sets = claims.knowledge.mixture().sets();
    for (std::size_t k = 0; k < sets.size(); ++k)
        EXPECT_LE(sets[k].depth(planted.weights_of(static_cast<Index>(k))), 1);
    const support::Laws laws = support::laws_of(planted);
    double used = 0;
    for (int trial = 0; trial < 2; ++trial) {
        const Reward reward = trial == 0 ? support::random_reward(random, shape)
                                         : support::random_sparse_reward(random, shape, 0.3);
        const Policy plan = backward_induction(claims.knowledge.mixture().model(), reward).policy;
        const MixtureModel truth =
            support::system_with(planted.task, against(planted.task, laws, plan, reward));
        used = std::max(used, check(claims, truth, plan, reward, true));
        const Policy other = support::random_stochastic_policy(random, shape);
        used = std::max(used, check(claims, truth, other, reward, false));
    }
    return used;
}

constexpr WidthMethod methods[] = {WidthMethod::exact, WidthMethod::semidefinite, WidthMethod::l1};

TEST(AttackConstants, EverySubsetOfSharpeningsHoldsWithTheTruthOnTheBoundary) {
    double tightest = 0;
    for (Index bits = 0; bits < 512; ++bits)
        for (std::uint64_t turn = 0; turn < support::repetitions<std::uint64_t>(2); ++turn) {
            detail::RegressionSourceOptions options = constants_without(bits);
            const auto seed = 2 * static_cast<std::uint64_t>(bits) + turn;
            options.width = methods[seed % 3];
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << request_for(options));
            tightest = std::max(tightest, attack(seed, options));
        }
    EXPECT_GT(tightest, 0.9);  // the attack is not idle
}

TEST(AttackConstants, ThePapersConstantsHoldWithTheTruthOnTheBoundary) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(300); ++seed) {
        detail::RegressionSourceOptions options = paper_constants(1 + static_cast<std::int64_t>(seed * seed));
        options.width = methods[seed % 3];
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << request_for(options));
        attack(seed, options);
    }
}

// |theta^ - theta| <= |sum x eta| + |sum x e| + lambda |theta_0 - theta|, each in the dual metric: the first
// is at most noise 1/2 times the root of log det + 2 log(sets/delta), the second zeta sqrt(n), and the third
// is known here.
TEST(AttackConstants, NoRadiusIsBelowWhatTheTruthNeeds) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        support::PlantedTruth planted = support::planted_truth(seed);
        Stream random = support::test_stream(seed, 6);
        if (seed % 2 == 0) planted.task.misspecification = 0.01;
        const bool paper = seed % 10 == 9;
        const detail::RegressionSourceOptions options =
            paper ? paper_constants(1) : constants_without(sample_index(random, 512));
        const detail::ValueRegression regression =
            detail::value_regression(planted.task, 0.1, options.constants);
        const double lambda = regression.regularisation();
        const auto statistics = support::statistics_about(planted, regression, random, 0);
        for (std::size_t k = 0; k < statistics.size(); ++k) {
            const Index p = regression.dimension();
            const Matrix gram = statistics[k].gram.selfadjointView<Eigen::Lower>();
            const Matrix precision = gram + lambda * Matrix::Identity(p, p);
            const Matrix factor = support::cholesky(precision);
            double log_det = 0;
            for (Index i = 0; i < p; ++i) log_det += 2 * std::log(factor(i, i)) - std::log(lambda);
            const Vector off =
                regression.features().space.coordinates(planted.weights_of(static_cast<Index>(k)));
            const double bias =
                p > 0 ? lambda * std::sqrt(off.dot(Vector(support::solve(precision, off)))) : 0.0;
            const auto rows = static_cast<double>(statistics[k].observations);
            const double failure = 0.1 / static_cast<double>(statistics.size());
            const double needed = 0.5 * std::sqrt(std::max(0.0, log_det) + 2 * std::log(1 / failure)) + bias +
                                  planted.task.misspecification * std::sqrt(rows);
            const double radius =
                regression.radius(detail::solve_ridge(statistics[k], lambda), statistics[k].observations);
            EXPECT_GE(radius, needed * (1 - 1e-9)) << "seed " << seed << ", " << request_for(options);
            if (bias > 0.1) tightest = std::max(tightest, needed / radius);
        }
    }
    EXPECT_GT(tightest, 0.999);
}

// Adaptive runs on planted truths, misspecified every other time, the sets examined on the way. Each fails
// with probability 0.1 at most; none of these did.
TEST(AttackConstants, SetsHoldTheTruthWithAnyConstants) {
    int runs = 0, failures = 0;
    for (std::uint64_t seed = 0; runs < support::repetitions(200, 33); ++seed) {
        support::PlantedTruth planted = support::planted_truth(seed);
        const Shape shape = planted.task.shape();
        if (shape.horizon == 1) continue;
        ++runs;
        support::Laws laws = support::laws_of(planted);
        if (seed % 2 == 0) planted.task.misspecification = 0.15;
        std::vector<double> order(at(shape.states));
        for (std::size_t s = 0; s < order.size(); ++s) order[s] = static_cast<double>(s);
        for (std::vector<double>& law : laws)
            for (Index pair = 0; pair < shape.pairs(); ++pair)
                support::move_mass(*planted.task.features, pair, order,
                                   planted.task.misspecification * (1 - 1e-9), true, law);
        const MixtureModel truth = support::system_with(planted.task, laws);
        SimulatedEnvironment environment(truth);
        StepwiseDeployer system(environment, seed);
        ExplorerOptions options{.algorithm = "hoeffding", .delta = 0.1, .seed = seed};
        options.schedule.kind = seed % 3 == 0 ? Schedule::Kind::every : Schedule::Kind::growth;
        options.confidence =
            request_for(seed % 11 == 10 ? paper_constants(200) : constants_without(Index{1} << (seed % 11)));
        Explorer explorer(planted.task, options);
        Stream random = support::test_stream(seed, 3);
        bool covered = true;
        while (explorer.episodes() < 200) {
            const Deployment deployment = explorer.ask();
            Counts counts(planted.task.features, shape.horizon);
            system.deploy(*deployment.policy, explorer.episodes(),
                          std::min(deployment.episodes, 200 - explorer.episodes()), counts);
            explorer.tell(counts);
            if (explorer.replans() % 10 != 0 && explorer.episodes() < 200) continue;
            const Knowledge knowledge = explorer.knowledge();
            const auto& sets = knowledge.mixture().sets();
            for (std::size_t k = 0; k < sets.size(); ++k)
                covered = covered && sets[k].depth(planted.weights_of(static_cast<Index>(k))) <= 1;
            const Reward reward = support::random_sparse_reward(random, shape, 0.3);
            const double loss = true_loss(knowledge.mixture(), truth, reward);
            EXPECT_TRUE(!covered || loss <= knowledge.certificate.bound + 1e-12) << "seed " << seed;
        }
        failures += covered ? 0 : 1;
    }
    EXPECT_TRUE(support::failures_are(failures, runs, {{200, 0}}));
}

// Was refused: the bound of the determinant is for at least one direction that something is learned in.
TEST(AttackConstants, NothingToLearnNeedsNoDeterminant) {
    const support::RandomSizes one{.shape = {3, 2, 4}, .features = 1, .successors = 3},
        sure{.shape = {3, 2, 4}, .features = 3, .successors = 1};
    for (const support::RandomSizes& sizes : {one, sure}) {
        const MixtureModel model = support::random_model(3, sizes);
        Explorer explorer({model.shared_features(), 4, model.start()},
                          {.algorithm = "hoeffding", .confidence = "regression?without=log-det"});
        explorer.ask();
        EXPECT_EQ(explorer.knowledge().certificate.bound, 0);
    }
}

// Was refused: the last step of the model was the centre of the hull, which need not be a law.
TEST(AttackConstants, SignedFeaturesNeedNoLawAtTheCentreOfTheirHull) {
    Stream random = support::test_stream(5);
    const FeatureMap plain = support::random_signed_features(random, {4, 2, 3}, 3, 3, 1);
    Matrix shear = Matrix::Identity(3, 3);
    shear(1, 0) = 3;
    const auto features = std::make_shared<const FeatureMap>(support::sheared(plain, shear, 10));
    const TangentFeatures tangent(*features, TangentSpace::of(*features));
    ASSERT_LT(std::ranges::min(tangent.all_centres()), -0.01);
    for (const Index horizon : {1, 2, 3})
        for (const bool homogeneous : {false, true}) {
            Explorer explorer({features, horizon, StartLaw(0), homogeneous}, {.algorithm = "hoeffding"});
            explorer.ask();
            const Knowledge knowledge = explorer.knowledge();
            for (const double p : knowledge.mixture().model().all_probabilities(horizon - 1)) EXPECT_GE(p, 0);
        }
}

// Was refused where rounding left it a little above the bound: weights of the least norm there are.
TEST(AttackConstants, TheNormBoundMayBeTheLeastNorm) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Stream random = support::test_stream(seed, 4);
        const Index d = 1 + static_cast<Index>(seed % 3);
        const SharedFeatures models =
            support::random_features(random, {.shape = {3, 2, 2}, .features = d, .successors = 3});
        const double root = std::sqrt(static_cast<double>(d));
        const FeatureMap features = support::sheared(*models, Matrix::Identity(d, d) / root, 1);
        const ParameterSet parameters = ParameterSet::of(features);
        EXPECT_TRUE(parameters.contains(Vector::Constant(d, 1 / root)));
        EXPECT_LT(parameters.radius(), 1e-6);
    }
}

// The paper's radius is for K rows of features with |phi_V| <= 1. A run that goes on has that of the rows
// there are, and longer features what Abbasi-Yadkori's theorem asks of them.
TEST(AttackConstants, ThePapersRadiusGrowsBeyondWhatItWasToldBeforehand) {
    const support::RandomSizes sizes{.shape = {3, 2, 3}, .features = 2, .successors = 3};
    const MixtureModel model = support::random_model(1, sizes);
    const auto radius = [&](const SharedFeatures& features, std::int64_t planned, std::int64_t rows) {
        const detail::ValueRegression regression({features, 3, false, 0, 0.1},
                                                 paper_constants(planned).constants);
        return regression.radius(detail::solve_ridge(detail::RidgeStatistics(2), regression.regularisation()),
                                 rows);
    };
    const BoundSetting printed{2, 3, std::sqrt(2.0), 0.1};
    EXPECT_NEAR(radius(model.shared_features(), 100, 7), hoeffding_radius(printed, 100) / 3, 1e-12);
    EXPECT_NEAR(radius(model.shared_features(), 100, 5000), hoeffding_radius(printed, 5000) / 3, 1e-12);
    Stream random = support::test_stream(2);
    const FeatureMap plain = support::random_signed_features(random, {3, 2, 3}, 2, 3, 1);
    const auto longer =
        std::make_shared<const FeatureMap>(support::sheared(plain, 1e30 * Matrix::Identity(2, 2), 1));
    // log det of one row of norm 1e30, at least, which the printed logarithm knows nothing of.
    EXPECT_GT(radius(longer, 1, 1), 0.5 * std::sqrt(std::log(1e60)));
}

// More than 500 pairs: the shared mass instead of all pairs of rows.
TEST(AttackConstants, ContractionIsAboveEveryDistanceOfTwoRows) {
    for (const Index actions : {2, 26}) {
        const support::RandomSizes sizes{.shape = {20, actions, 2}, .features = 2, .successors = 20};
        const MixtureModel model = support::random_model(7, sizes);
        Explorer explorer({model.shared_features(), 2, model.start()}, {.algorithm = "hoeffding"});
        explorer.ask();
        const LearnedMixture learned = explorer.knowledge().mixture();
        double farthest = 0;
        for (Index one = 0; one < sizes.shape.pairs(); ++one)
            for (Index other = 0; other < one; ++other) {
                const auto a = learned.model().probabilities(0, one),
                           b = learned.model().probabilities(0, other);
                double sum = 0;
                for (std::size_t j = 0; j < a.size(); ++j) sum += std::abs(a[j] - b[j]);
                farthest = std::max(farthest, sum / 2);
            }
        EXPECT_GE(detail::contraction(learned, 0), farthest);
        if (sizes.shape.pairs() <= 500) {
            EXPECT_NEAR(detail::contraction(learned, 0), farthest, 1e-9);
        }
    }
}

}  // namespace
}  // namespace alidade::attack_constants_test
