#include "alidade/confidence/centred_radius.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/radii.hpp"
#include "support/random_models.hpp"

// Laws of the radius with a mixture about the hypothesis [docs/algorithms/likelihood.md, section 1a], against
// quadrature for two base models: weights (x, 1-x), a segment of length sqrt 2.
namespace alidade::centred_radius_test {
namespace {

using detail::LikelihoodRows;

constexpr double exponent = 0.4;  // a
constexpr double length = std::numbers::sqrt2;

LikelihoodRows rows_of(const std::vector<std::array<double, 2>>& f, const std::vector<double>& counts) {
    LikelihoodRows rows;
    rows.features = 2;
    for (std::size_t k = 0; k < f.size(); ++k) {
        if (!(counts[k] > 0)) continue;
        rows.rows.insert(rows.rows.end(), f[k].begin(), f[k].end());
        rows.counts.push_back(counts[k]);
        rows.observations += counts[k];
    }
    return rows;
}

Vector pair_of(double x) {
    return (Vector(2) << x, 1 - x).finished();
}

/// Data of two actions with three outcomes each; the truth has weight x on the first base model.
LikelihoodRows random_rows(Stream& random, double x, int observations) {
    std::vector<std::array<double, 2>> f;
    std::vector<double> counts;
    for (int action = 0; action < 2; ++action) {
        const auto one = sample_dirichlet(random, 3, 1.0), other = sample_dirichlet(random, 3, 1.0);
        for (std::size_t j = 0; j < 3; ++j) f.push_back({one[j], other[j]});
    }
    counts.assign(6, 0.0);
    for (int t = 0; t < observations; ++t) {
        const std::size_t first = t % 2 == 0 ? 0 : 3;
        double u = sample_uniform(random);
        std::size_t j = 0;
        while (j < 2 && (u -= x * f[first + j][0] + (1 - x) * f[first + j][1]) > 0) ++j;
        counts[first + j] += 1;
    }
    return rows_of(f, counts);
}

/// ln of the integral of exp(L - L(reference)) |theta - theta0|^-(1-a) along the segment, by Simpson's rule
/// in v, theta0 +- v^(1/a), which takes the pole away; a = 1 is the plain integral.
double log_integral(const LikelihoodRows& rows, const Vector& reference, double x0, double a) {
    double sum = 0;
    for (const double side : {-1.0, 1.0}) {
        const double far = length * (side > 0 ? 1 - x0 : x0), end = std::pow(far, a);
        constexpr int n = 4000;
        for (int k = 0; k <= n; ++k) {
            const double v = end * k / n, x = x0 + side * std::pow(v, 1 / a) / length;
            const double weight = k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2;
            const Vector theta = pair_of(std::clamp(x, 0.0, 1.0));
            sum +=
                weight * std::exp(-detail::log_likelihood_ratio(rows, reference, theta)) * end / (3 * n) / a;
        }
    }
    return std::log(sum);
}

TEST(SymmetricCurvature, BoundsTheLogarithm) {
    for (double b = 0; b < 0.999; b += 0.013)
        for (double x = 0; x <= b; x += 0.007)
            EXPECT_GE(std::log1p(-x * x), -detail::symmetric_curvature(b) * x * x - 1e-15) << b << ", " << x;
    for (const double b : {1e-8, 1e-4, 0.99e-3, 1.01e-3})
        EXPECT_NEAR(detail::symmetric_curvature(b), 1 + b * b / 2, 1e-9);
    EXPECT_EQ(detail::symmetric_curvature(0), 1);
}

TEST(CombinedRegret, IsItselfOfOneAndBelowEachPlusItsPrice) {
    const std::array one{1.0}, seven{7.0};
    const std::array halves{0.5, 0.5}, two{3.0, 4.0};
    EXPECT_NEAR(detail::combined_regret(one, seven), 7, 1e-15);
    EXPECT_NEAR(detail::combined_regret(halves, two), -std::log((std::exp(-3.0) + std::exp(-4.0)) / 2),
                1e-12);
    const std::array never{3.0, std::numeric_limits<double>::infinity()};
    EXPECT_NEAR(detail::combined_regret(halves, never), 3 + std::log(2.0), 1e-12);
    EXPECT_NEAR(detail::log_simplex_radius(2), std::log(length / 2), 1e-12);
    // a = p is the uniform law.
    EXPECT_NEAR(detail::centred_regret(5, 4, 3, 0.3, 0.01), 5, 1e-12);
}

// Lemma 3b for two base models: the integral of |theta - theta0|^(a-1) in closed form, equal in the middle.
TEST(CentredLaw, HasAtMostItsNormaliser) {
    const double most = length / exponent * std::exp(-(1 - exponent) * detail::log_simplex_radius(2));
    for (double x = 0; x <= 1; x += 0.01) {
        const double mass =
            (std::pow(length * x, exponent) + std::pow(length * (1 - x), exponent)) / exponent;
        EXPECT_LE(mass, most * (1 + 1e-12)) << x;
    }
    EXPECT_NEAR(2 * std::pow(length / 2, exponent) / exponent, most, 1e-12);
}

// Lemma 3c, with and without the law's density.
TEST(InnerGaussian, IsBelowTheIntegral) {
    double nearest = 1e9;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed, 500);
        const double truth = seed % 5 == 0 ? 0 : seed % 5 == 1 ? 1 : sample_uniform(random);
        const LikelihoodRows rows = random_rows(
            random, truth, 1 + static_cast<int>(std::pow(3000.0, static_cast<double>(seed % 8) / 7)));
        const Vector weights = detail::maximise_likelihood(rows).weights;
        const Vector centre = detail::maximise_likelihood(rows, {.barrier = 1}).weights;
        const detail::HypothesisMetric metric = detail::HypothesisMetric::of({}, 1);
        for (const double share : {0.1, 1.0}) {
            const detail::InnerGaussian inner = detail::inner_gaussian(rows, weights, centre, metric, share);
            const double uniform = std::log(length) - log_integral(rows, weights, 0.5, 1);
            EXPECT_GE(inner.regret, uniform - 1e-6) << "seed " << seed;
            nearest = std::min(nearest, inner.regret - uniform);
            for (const double x0 : {0.0, 0.2, 0.7, centre[0]}) {
                const double off = length * (x0 - centre[0]), reach = off * off + inner.spread;
                const double lower = std::log(length) - inner.regret - (1 - exponent) / 2 * std::log(reach);
                EXPECT_LE(lower, log_integral(rows, weights, x0, exponent) + 1e-6) << "seed " << seed;
            }
        }
    }
    EXPECT_LT(nearest, 0.05);
}

/// ln M of a hypothesis: what the mixtures of `centred` together gain on it.
double log_mixture(const LikelihoodRows& rows, const Vector& weights, double x0) {
    const double uniform = log_integral(rows, weights, 0.5, 1) - std::log(length);
    const double normaliser = std::log(length / exponent) - (1 - exponent) * detail::log_simplex_radius(2);
    const double centred = log_integral(rows, weights, x0, exponent) - normaliser;
    // Dirichlet(1/2): the angle is uniform.
    double kt = 0;
    constexpr int n = 4000;
    for (int k = 0; k < n; ++k) {
        const double angle = std::numbers::pi / 2 * (k + 0.5) / n;
        kt +=
            std::exp(-detail::log_likelihood_ratio(rows, weights, pair_of(std::pow(std::sin(angle), 2)))) / n;
    }
    return std::log(0.05 * kt + 0.4 * std::exp(uniform) + 0.55 * std::exp(centred)) +
           detail::log_likelihood_ratio(rows, weights, pair_of(x0));
}

// The theorem itself: a hypothesis that the set excludes has a mixture of n/delta at least, and at its ends
// not much more.
TEST(CentredRadius, ExcludesWhatTheMixtureExcludes) {
    double gap = 0;
    int ends = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 501);
        const double truth = seed % 6 == 0 ? 0 : sample_uniform(random);
        const std::vector<LikelihoodRows> rows{random_rows(
            random, truth, 1 + static_cast<int>(std::pow(3000.0, static_cast<double>(seed % 6) / 5)))};
        const detail::LikelihoodSet set =
            detail::likelihood_sets(rows, {.delta = 0.1, .radius = detail::Radius::centred})[0];
        for (double x = 0; x <= 1; x += 0.125) {
            if (contains(rows[0], set, pair_of(x))) continue;
            EXPECT_GE(log_mixture(rows[0], set.fit.weights, x), std::log(10.0) - 1e-6) << "seed " << seed;
        }
        for (const double corner : {0.0, 1.0}) {
            if (contains(rows[0], set, pair_of(corner))) continue;
            double inside = set.fit.weights[0], outside = corner;
            for (int step = 0; step < 50; ++step) {
                const double middle = (inside + outside) / 2;
                (contains(rows[0], set, pair_of(middle)) ? inside : outside) = middle;
            }
            const double excess = log_mixture(rows[0], set.fit.weights, outside) - std::log(10.0);
            EXPECT_GE(excess, -1e-6) << "seed " << seed;
            EXPECT_LE(excess, 1.5) << "seed " << seed;
            gap += excess;
            ++ends;
        }
    }
    EXPECT_GE(ends, 20);
    EXPECT_LE(gap / ends, 0.7);
}

// The mixture about a hypothesis is a supermartingale of mean 1 under it: all sequences of six observations,
// the action chosen by the past.
TEST(CentredLaw, IsAFairBetAgainstItsHypothesis) {
    const double laws[2][3][2] = {{{0.7, 0.1}, {0.2, 0.3}, {0.1, 0.6}}, {{0.3, 0.5}, {0.3, 0.1}, {0.4, 0.4}}};
    for (const double x0 : {0.0, 0.3, 0.9}) {
        // Nodes of a law about x0: any law will do that is the same for all sequences.
        std::vector<double> nodes, masses;
        const double whole = std::pow(x0, exponent) + std::pow(1 - x0, exponent);
        for (const double side : {-1.0, 1.0}) {
            const double end = std::pow(side > 0 ? 1 - x0 : x0, exponent);
            for (int k = 0; k < 200; ++k) {
                nodes.push_back(x0 + side * std::pow(end * (k + 0.5) / 200, 1 / exponent));
                masses.push_back(end / whole / 200);
            }
        }
        double mean = 0, high = 0;
        const std::function<void(int, int, double, std::vector<double>, bool)> go =
            [&](int t, int past, double chance, std::vector<double> gains, bool above) {
                double now = 0;
                for (std::size_t k = 0; k < nodes.size(); ++k) now += masses[k] * gains[k];
                above = above || now >= 3;
                if (t == 5) {
                    mean += chance * now;
                    if (above) high += chance;
                    return;
                }
                for (int j = 0; j < 3; ++j) {
                    const double* f = laws[past % 2][j];
                    const double likely = x0 * f[0] + (1 - x0) * f[1];
                    std::vector<double> next = gains;
                    for (std::size_t k = 0; k < nodes.size(); ++k)
                        next[k] *= (nodes[k] * f[0] + (1 - nodes[k]) * f[1]) / likely;
                    go(t + 1, past + j, chance * likely, std::move(next), above);
                }
            };
        go(0, 0, 1, std::vector<double>(nodes.size(), 1.0), false);
        EXPECT_NEAR(mean, 1, 1e-9) << x0;
        EXPECT_LE(high, 1.0 / 3) << x0;
    }
}

std::vector<LikelihoodRows> garnet_rows(Index features, std::int64_t episodes, int seed) {
    const Problem problem =
        make_builtin("builtin:garnet?states=5&actions=2&horizon=3&successors=4&concentration=1&features=" +
                     std::to_string(features) + "&seed=" + std::to_string(seed));
    Counts counts(problem.shared_features(), 3);
    CountSplittingDeployer system(problem.true_model(), 1);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return detail::likelihood_rows(problem.features(), counts, false);
}

TEST(SquaredReach, IsAboveThatOfEveryMember) {
    int members = 0;
    for (int seed = 1; seed <= 6; ++seed)
        for (const std::int64_t episodes : {10, 300, 10'000}) {
            const Index d = 2 + seed % 4;
            Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 502);
            const Matrix any = Matrix::NullaryExpr(d - 1, d - 1, [&] { return sample_normal(random); });
            const detail::HypothesisMetric metric =
                detail::HypothesisMetric::of(seed % 2 == 0 ? Matrix(any * any.transpose()) : Matrix(), d - 1);
            for (const LikelihoodRows& rows : garnet_rows(d, episodes, seed)) {
                const detail::LikelihoodSet set = detail::likelihood_sets(std::vector{rows}, {})[0];
                const Vector centre = detail::maximise_likelihood(rows, {.barrier = 1}).weights;
                const double reach = detail::squared_reach(
                    set.ellipsoid.estimate(), std::pow(set.ellipsoid.radius(), 2), centre, metric);
                for (int trial = 0; trial < 100; ++trial) {
                    const auto law = sample_dirichlet(random, d, 0.3);
                    const Vector corner = Eigen::Map<const Vector>(law.data(), d);
                    double low = 0, high = 1;
                    for (int step = 0; step < 40; ++step) {
                        const double t = (low + high) / 2;
                        (contains(rows, set, set.fit.weights + t * (corner - set.fit.weights)) ? low : high) =
                            t;
                    }
                    const Vector off = set.ellipsoid.parameters().space().basis.transpose() *
                                       (set.fit.weights + low * (corner - set.fit.weights) - centre);
                    EXPECT_LE(off.dot(metric.form * off), reach);
                    ++members;
                }
            }
        }
    EXPECT_GE(members, 3000);
}

// Two weights: the ellipsoid is an interval, and the farther of its ends, or of the simplex's, is the reach.
TEST(SquaredReach, IsTheEndOfTheIntervalOfTwoWeights) {
    int by_ellipsoid = 0;
    for (int seed = 1; seed <= 6; ++seed)
        for (const std::int64_t episodes : {10, 300, 10'000})
            for (const LikelihoodRows& rows : garnet_rows(2, episodes, seed)) {
                const ConfidenceSet set = detail::likelihood_sets(std::vector{rows}, {})[0].ellipsoid;
                const Vector centre = detail::maximise_likelihood(rows, {.barrier = 1}).weights;
                const double half = set.radius() / std::sqrt(set.estimate().precision(0, 0));
                const double off = std::abs(set.estimated_weights()[0] - centre[0]) * length;
                const double corner = std::max(centre[0], centre[1]) * length;
                const double found = detail::squared_reach(set.estimate(), set.radius() * set.radius(),
                                                           centre, detail::HypothesisMetric::of({}, 1));
                const double expected = std::pow(std::min(corner, half + off), 2);
                EXPECT_NEAR(found / expected, 1, 1e-5);
                by_ellipsoid += half + off < corner;
            }
    EXPECT_GE(by_ellipsoid, 5);
}

// It pays ln(1/0.05) at most for what `plain` has, and is far smaller with many data.
TEST(CentredRadius, IsNeverMuchLargerThanThePlainOne) {
    for (int seed = 1; seed <= 6; ++seed)
        for (const std::int64_t episodes : {0, 1, 10, 1000, 100'000}) {
            const auto rows = garnet_rows(2 + seed % 4, episodes, seed);
            const auto plain = detail::likelihood_sets(rows, {});
            const auto centred = detail::likelihood_sets(rows, {.radius = detail::Radius::centred});
            for (std::size_t k = 0; k < rows.size(); ++k) {
                EXPECT_LE(centred[k].allowance, plain[k].allowance + std::log(10.0));
                if (episodes == 100'000 && seed % 4 > 0) {
                    EXPECT_LT(centred[k].allowance, plain[k].allowance - 1);
                }
            }
        }
}

// By hand: 0.05, 0.4 and 0.55 of three mixtures, and ln(n/delta) for the steps that tell.
TEST(CentredRadius, IsThatOfItsMixturesTogether) {
    const auto rows = garnet_rows(3, 1000, 1);
    detail::LikelihoodSetOptions options{.delta = 0.05, .radius = detail::Radius::centred};
    for (const detail::LikelihoodSet& set : detail::likelihood_sets(rows, options)) {
        const double sum = 0.05 * std::exp(-set.regret_kt) + 0.4 * std::exp(-set.regret_uniform) +
                           0.55 * std::exp(-set.regret_centred);
        EXPECT_NEAR(set.allowance, std::log(2 / 0.05) - std::log(sum), 1e-6);
    }
    options.prior.tells = {true, false};
    const auto sets = detail::likelihood_sets(rows, options);
    const double sum = 0.05 * std::exp(-sets[0].regret_kt) + 0.4 * std::exp(-sets[0].regret_uniform) +
                       0.55 * std::exp(-sets[0].regret_centred);
    EXPECT_NEAR(sets[0].allowance, std::log(1 / 0.05) - std::log(sum), 1e-6);
    // The other is the simplex: its corners are members of the ellipsoid.
    for (Index i = 0; i < 3; ++i) EXPECT_LE(sets[1].ellipsoid.depth(Vector::Unit(3, i)), 1 + 1e-9);
}

TEST(TellingSteps, AreThoseAtWhichSomethingCanBeLearned) {
    const auto count = [](const std::string& name) {
        const Problem problem = make_builtin(name);
        const auto steps =
            detail::telling_steps(problem.features(), problem.start(), problem.shape().horizon);
        EXPECT_EQ(static_cast<Index>(steps.size()), problem.shape().horizon - 1);
        return std::ranges::count(steps, true);
    };
    EXPECT_EQ(count("builtin:lock"), 1);
    EXPECT_EQ(count("builtin:lock?variant=deep&length=7&actions=3&horizon=9"), 3);
    EXPECT_EQ(count("builtin:riverswim"), 11);
    EXPECT_EQ(count("builtin:garnet?horizon=5&seed=1"), 4);
}

}  // namespace
}  // namespace alidade::centred_radius_test
