#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <span>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/dense_algebra.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"

// Attempts to break bounds by rounding, with extended precision as the judge.
namespace alidade::attack_rounding_test {
namespace {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

/// The maximum over all 2^m vertices, in extended precision.
Long brute_width(const LongMatrix& generators) {
    const Index m = generators.cols();
    LongVector sum = LongVector::Zero(generators.rows());
    Long best = 0;
    for (Index code = 1; code < (Index{1} << m); ++code) {  // Gray code: one generator enters or leaves
        const Index gray = code ^ (code >> 1), previous = (code - 1) ^ ((code - 1) >> 1);
        Index bit = 0;
        while (!(((gray ^ previous) >> bit) & 1)) ++bit;
        if ((gray >> bit) & 1)
            sum += generators.col(bit);
        else
            sum -= generators.col(bit);
        best = std::max(best, sum.squaredNorm());
    }
    return std::sqrt(best);
}

TEST(RoundingAttack, WidthBracketsHoldForDegenerateGenerators) {
    double loosest = 1;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        Stream random = support::test_stream(seed, 3);
        const Index m = 1 + static_cast<Index>(seed % 15), p = 1 + static_cast<Index>(seed % 7);
        Matrix g(p, m);
        for (Index i = 0; i < p; ++i)
            for (Index j = 0; j < m; ++j) g(i, j) = sample_normal(random);
        switch (seed % 6) {
            case 1:  // collinear
                for (Index j = 1; j < m; ++j) g.col(j) = g(0, j) * g.col(0);
                break;
            case 2:  // metrics of very different sizes
                for (Index i = 0; i < p; ++i) g.row(i) *= std::pow(10.0, -4.0 * static_cast<double>(i));
                break;
            case 3:  // many zeros and repetitions
                for (Index j = 0; j < m; ++j)
                    if (j % 3 == 1)
                        g.col(j).setZero();
                    else if (j > 2)
                        g.col(j) = g.col(0);
                break;
            case 4:  // one giant among dwarfs
                g.rightCols(m - 1) *= 1e-11;
                break;
            case 5:  // tiny as a whole
                g *= 1e-60;
                break;
            default:
                break;
        }
        g.col(0) -= g.rowwise().sum();  // sum to zero, as the tangent features of a pair do
        const auto exact = static_cast<double>(brute_width(g.cast<Long>()));
        const WidthProblem problem{{g.data(), at(m * p)}, p, m};
        for (const Index enumerated : {Index{1}, Index{20}}) {
            std::vector<std::uint8_t> witness(at(m), 0);
            const WidthBracket bracket = Width({.exact_successors = enumerated}).bracket(problem, witness);
            EXPECT_LE(bracket.lower, exact * (1 + 1e-12)) << "seed " << seed;
            EXPECT_GE(bracket.upper, exact * (1 - 1e-15) - 1e-16 * g.cwiseAbs().maxCoeff())
                << "seed " << seed << " m " << m << " p " << p;
            if (enumerated == 1 && exact > 1e-3 * g.cwiseAbs().maxCoeff())
                loosest = std::max(loosest, bracket.upper / exact);
        }
    }
    RecordProperty("loosest", std::to_string(loosest));
    // |g_j| as weights is within the dimension's root, whatever the generators.
    EXPECT_LT(loosest, 2);
}

/// What exact arithmetic makes of regression rows: the confidence set and a pair's deviation in it.
struct ExactSet {
    LongMatrix precision, factor;
    LongVector estimate;
    Long radius = 0;

    ExactSet(const LongMatrix& gram, const LongVector& moment, Long failure, const Matrix& basis) {
        const Long lambda = 0.25L;
        const Index p = gram.rows();
        precision = gram + lambda * LongMatrix::Identity(p, p);
        const Eigen::LLT<LongMatrix> cholesky(precision);
        factor = cholesky.matrixL();
        estimate = cholesky.solve(moment);
        Long log_det = 0;
        for (Index i = 0; i < p; ++i) log_det += 2 * std::log(factor(i, i)) - std::log(lambda);
        Long bias = 0;
        for (Index i = 0; i < basis.rows(); ++i) {
            const LongVector vertex = basis.row(i).transpose().cast<Long>();
            bias = std::max(bias, lambda * factor.triangularView<Eigen::Lower>().solve(vertex).norm());
        }
        radius = 0.5L * std::sqrt(log_det + 2 * std::log(1 / failure)) + bias;
    }
};

struct ManyRows {
    const char* what;
    int additions;
    std::int64_t repeats;
    int rare;     ///< additions, one row each, of the other direction
    double most;  ///< how much looser, relatively, the deviation may be
};

// One direction is known from very many rows, the other from few or none: rounding errors of the first are
// of the size of the second. The deviation of a pair that moves in the second must still be above what
// exact arithmetic gives (in extended precision, 2048 times finer).
TEST(RoundingAttack, DeviationsSurviveGramsOfVeryDifferentDirections) {
    const ManyRows cases[] = {{"one big deployment", 1, 1'000'000'000'000, 100, 0.02},
                              {"a hundred big deployments", 100, 10'000'000'000, 1000, 0.1},
                              {"every episode on its own", support::repetitions(1'000'000), 1, 20, 1e-4},
                              {"at the limit of counting", 10, 100'000'000'000'000, 30, 100},
                              {"nothing seen of the other", 30, 30'000'000'000, 0, 0.5}};
    for (const ManyRows& rows : cases) {
        double loosest = 0;
        for (std::uint64_t seed = 0;
             seed < support::repetitions<std::uint64_t>(rows.additions > 1000 ? 4 : 20); ++seed) {
            Stream random = support::test_stream(seed, 4);
            const support::RandomSizes sizes{.shape = {5, 1, 2}, .features = 4, .successors = 5};
            const SharedFeatures features = support::random_features(random, sizes);
            const ParameterSet parameters = ParameterSet::of(*features);
            const TangentFeatures tangent(*features, parameters.space());
            const Index p = 3;
            detail::RidgeStatistics statistics(p);
            LongMatrix gram = LongMatrix::Zero(p, p);
            LongVector moment = LongVector::Zero(p);
            // The truth is the centre, so that all residuals are pure noise; here exactly zero.
            const auto add = [&](Index pair, std::int64_t repeats, unsigned subset) {
                Vector x = Vector::Zero(p);
                for (Index j = 0; j < 5; ++j)
                    if ((subset >> j) & 1) x += tangent.psi(pair * 5 + j);
                statistics.add(x.data(), repeats, 0);
                const LongVector exact = x.cast<Long>();
                gram += static_cast<Long>(repeats) * exact * exact.transpose();
            };
            for (int k = 0; k < rows.additions; ++k) add(0, rows.repeats, 1);
            for (int k = 0; k < rows.rare; ++k) add(1 + k % 2, 1, 6);
            const ExactSet exact(gram, moment, 0.1L, parameters.space().basis);
            const auto sets = detail::regression_sets(features, std::span(&statistics, 1), 0.1);
            WidthTable widths(1, *features);
            bracket_widths(*features, tangent, sets, {}, 1, widths);
            for (Index pair = 0; pair < 5; ++pair) {
                LongMatrix generators(p, 5);
                for (Index j = 0; j < 5; ++j)
                    generators.col(j) = exact.factor.triangularView<Eigen::Lower>().solve(
                        tangent.psi(pair * 5 + j).cast<Long>());
                const auto needed = static_cast<double>(exact.radius * brute_width(generators));
                const double given = sets[0].refined_radius() * widths.upper_of(0)[at(pair)];
                EXPECT_GE(given, needed * (1 - 1e-12)) << rows.what << ", seed " << seed << ", pair " << pair
                                                       << ": short by " << (1 - given / needed);
                loosest = std::max(loosest, given / needed - 1);
            }
        }
        RecordProperty(std::string("loosest") + std::to_string(rows.additions), std::to_string(loosest));
        EXPECT_LT(loosest, rows.most) << rows.what;
    }
}

// A pair with two successors moves along one line only. Known from very many rows, that line's deviation is
// tiny, and nothing of the metric's other directions, however poorly known, may be rounded into it.
TEST(RoundingAttack, TinyDeviationsSurviveDirectionsThatAreUnknown) {
    double loosest = 0, shortest = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Stream random = support::test_stream(seed, 14);
        const Index d = 3 + static_cast<Index>(seed % 6), p = d - 1;
        const SharedFeatures features =
            support::random_features(random, {.shape = {2, 1, 2}, .features = d, .successors = 2});
        const ParameterSet parameters = ParameterSet::of(*features);
        const TangentFeatures tangent(*features, parameters.space());
        detail::RidgeStatistics statistics(p);
        const Vector x = tangent.psi(0);
        statistics.add(x.data(), 100'000'000'000, 0);
        const LongMatrix gram = 1e11L * x.cast<Long>() * x.transpose().cast<Long>();
        const ExactSet exact(gram, LongVector::Zero(p), 0.1L, parameters.space().basis);
        const auto sets = detail::regression_sets(features, std::span(&statistics, 1), 0.1);
        WidthTable widths(1, *features);
        bracket_widths(*features, tangent, sets, {}, 1, widths);
        // |x|^2 / (1/4 + n |x|^2), the dual norm along the line, by hand
        const double square = x.squaredNorm();
        const double width = std::sqrt(square / (0.25 + 1e11 * square));
        const double needed = static_cast<double>(exact.radius) * width;
        const double given = sets[0].refined_radius() * widths.upper_of(0)[0];
        shortest = std::max(shortest, 1 - given / needed);
        loosest = std::max(loosest, given / needed - 1);
        EXPECT_GE(given, needed - 1e-14) << "seed " << seed;
        const Vector f = features->phi_value(0, std::vector<double>{1, 0});
        const Interval range = sets[0].range({f.data(), at(d)});
        EXPECT_GE(range.upper - range.lower, 2 * needed - 1e-13) << "seed " << seed;
        EXPECT_LE(range.upper - range.lower, 2.1 * needed) << "seed " << seed;
    }
    RecordProperty("loosest", std::to_string(loosest));
    RecordProperty("shortest", fmt::format("{}", shortest));
    EXPECT_LT(loosest, 0.05);
}

// Base models that nearly agree: the rounding of their rows is then large next to their differences.
TEST(RoundingAttack, WidthsOfBaseModelsThatNearlyAgreeAreBracketed) {
    for (const Index d : {2, 3, 5})
        for (const Index m : {2, 7, 13, 30})
            for (const double difference : {1e-5, 1e-9, 1e-13, 1e-16})
                for (std::uint64_t seed = 0; seed < 4; ++seed) {
                    Stream random = support::test_stream(seed, 6);
                    auto kernels =
                        support::random_kernels(random, {.shape = {m, 1, 2}, .features = d, .successors = m});
                    for (std::size_t i = 1; i < kernels.size(); ++i)
                        for (std::size_t e = 0; e < kernels[i].probabilities.size(); ++e)
                            kernels[i].probabilities[e] = (1 - difference) * kernels[0].probabilities[e] +
                                                          difference * kernels[i].probabilities[e];
                    const auto shared =
                        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(m, 1, kernels));
                    const FeatureMap& features = *shared;
                    const ParameterSet parameters = ParameterSet::of(features);
                    const detail::RidgeStatistics nothing(d - 1);
                    const auto sets = detail::regression_sets(shared, std::span(&nothing, 1), 0.1);
                    WidthTable widths(1, features);
                    ASSERT_NO_THROW(bracket_widths(features, TangentFeatures(features, parameters.space()),
                                                   sets, {}, 1, widths))
                        << "d " << d << " m " << m << " difference " << difference;
                    // Two base models' distance is the width times the distance of their weights, sqrt(2).
                    for (Index pair = 0; pair < m; ++pair) {
                        Long distance = 0;
                        for (Index j = 0; j < m; ++j) {
                            const auto phi = features.phi(features.first_entry(pair) + j);
                            distance += std::abs(static_cast<Long>(phi[0]) - static_cast<Long>(phi[1])) / 2;
                        }
                        EXPECT_GE(widths.upper_of(0)[at(pair)] * 0.5 * std::sqrt(2.0),
                                  static_cast<double>(distance) * (1 - 1e-12) - 1e-15);
                    }
                }
}

// The estimate lies outside the simplex, nearly or exactly a radius away: the set is a sliver along a face,
// whose length sqrt(radius^2 - residual^2) is all cancellation.
TEST(RoundingAttack, SliversOfConfidenceSetsAreCovered) {
    const ParameterSet parameters = ParameterSet::simplex(3);
    double loosest = 0;
    int slivers = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        for (const double excess : {1e-15, 1e-12, 1e-8, 1e-4}) {
            Stream random = support::test_stream(seed, 8);
            detail::RidgeStatistics statistics(2);
            const double scale = std::pow(10.0, static_cast<double>(seed % 5) * 2.5);
            for (int t = 0; t < 6; ++t) {
                const double x[2] = {sample_normal(random), sample_normal(random) * (t % 2 ? 1 : scale)};
                statistics.add(x, 1, 0);
            }
            detail::RidgeEstimate estimate = detail::solve_ridge(statistics, 0.25);
            // Straight out, in the metric, from the middle of the edge opposite to the third vertex.
            const Vector out = parameters.space().basis.row(2).transpose();
            const Vector step = support::solve(estimate.precision, out);
            const Vector middle = (Vector(3) << 0.4, 0.6, 0).finished();
            const Vector outside = parameters.space().weights(parameters.space().coordinates(middle) -
                                                              0.3 / out.dot(step) * step);
            estimate.coordinates = parameters.space().coordinates(outside);
            const Projection projection = project(parameters, estimate.coordinates, estimate.factor);
            if (projection.active != 1) continue;
            ++slivers;
            // Along the edge 2 = 0, in extended precision: the ball's chord about the nearest point.
            const LongMatrix factor = estimate.factor.cast<Long>();
            const auto whiten = [&](const Vector& weights) {
                const LongVector offset = weights.cast<Long>() - outside.cast<Long>();
                return LongVector(factor.transpose() *
                                  (parameters.space().basis.transpose().cast<Long>() * offset));
            };
            const LongVector first = whiten(Vector::Unit(3, 0)), second = whiten(Vector::Unit(3, 1));
            const LongVector edge = second - first;
            const Long nearest = -first.dot(edge) / edge.squaredNorm();
            const Long distance = (first + nearest * edge).norm();
            const double radius = static_cast<double>(distance) * (1 + excess);
            const Long chord = std::sqrt(std::max(0.0L, Long(radius) * Long(radius) - distance * distance));
            const ConfidenceSet set(parameters, estimate, radius);
            EXPECT_GE(set.refined_radius(), static_cast<double>(chord)) << "seed " << seed << " " << excess;
            for (const Long sign : {-1.0L, 1.0L}) {
                const Long t = nearest + sign * chord / edge.norm();
                if (t < 0 || t > 1) continue;
                const Vector f = (Vector(3) << 0.2, 0.9, 0.4).finished();
                const auto value = static_cast<double>((1 - t) * 0.2L + t * 0.9L);
                const Interval range = set.range({f.data(), 3});
                EXPECT_LE(value, range.upper + 1e-15);
                EXPECT_GE(value, range.lower - 1e-15);
            }
            if (excess == 1e-4)
                loosest = std::max(loosest, set.refined_radius() / static_cast<double>(chord) - 1);
        }
    RecordProperty("loosest", fmt::format("{}", loosest));
    EXPECT_GE(slivers, 100);
    EXPECT_LT(loosest, 0.01);
}

// Rows, start laws and policies may be off by 1e-9 as they are read; the system that they describe is not.
TEST(RoundingAttack, ProbabilitiesThatAreOffWithinToleranceDoNotBreakCertificates) {
    const Shape shape{3, 2, 40};
    for (const double off : {9e-10, -9e-10}) {
        Stream random = support::test_stream(1, 2);
        auto kernels = support::random_kernels(random, {.shape = shape, .features = 2, .successors = 3});
        for (BaseKernel& kernel : kernels)
            for (double& p : kernel.probabilities) p *= 1 + off;
        const auto features =
            std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, kernels));
        const MixtureModel truth(features, shape.horizon,
                                 StartLaw({{0, 0.5 * (1 + off)}, {2, 0.5 * (1 + off)}}),
                                 support::random_weights(random, shape.horizon, 2));
        const Knowledge knowledge = support::knowledge_about(truth, 1, 100);
        const Policy policy = Policy::stochastic(
            shape, std::vector<double>(at(shape.horizon * shape.pairs()), 0.5 * (1 + off)));
        // Whatever happens, a reward of one at every step adds up to the horizon; and one of two thirds to
        // that share of it.
        for (const double each : {1.0, 0.625}) {
            const double value = each * 40;
            const RewardCertificate certificate =
                certify_reward(knowledge, Reward::constant(shape, each), policy);
            EXPECT_LE(certificate.value.lower, value);
            EXPECT_GE(certificate.value.upper, value);
            EXPECT_GE(certificate.optimal_upper, value);
            EXPECT_NEAR(evaluate(truth, policy, Reward::constant(shape, each)).value, value, 1e-12);
        }
    }
}

// Cheap to simulate, and the place where gram matrices are huge.
TEST(RoundingAttack, CertificatesOfATrillionEpisodesHold) {
    for (const char* name : {"builtin:garnet?states=5&actions=2&features=4&horizon=4&successors=3&seed=3",
                             "builtin:riverswim?length=6&horizon=8"})
        for (const std::int64_t episodes : {std::int64_t{1'000'000}, std::int64_t{1'000'000'000'000}}) {
            const Problem problem = make_builtin(name);
            const MixtureModel truth = problem.true_model();
            CountSplittingDeployer system(truth, 5);
            Exploration exploration(task_of(problem), {.algorithm = "hoeffding", .delta = 0.1, .seed = 5});
            exploration.run(system, {.episodes = episodes});
            const AuditResult result =
                audit(exploration.best(), truth, {.rewards = 30, .climb_steps = 30, .seed = 5});
            EXPECT_TRUE(result.truth_in_confidence_set) << name;
            EXPECT_EQ(result.violations, 0) << name;
            RecordProperty(std::string("bound") + std::to_string(episodes) + name[8],
                           std::to_string(exploration.best().certificate.bound));
        }
}

}  // namespace
}  // namespace alidade::attack_rounding_test
