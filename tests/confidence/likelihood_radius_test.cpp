#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/radii.hpp"
#include "support/dense_algebra.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

// Laws that a likelihood radius obeys exactly, so that one that is too small breaks them whatever its share
// of failures is: these are 0.2 to 2 of 100 at delta = 0.1, and a tenth less of the radius leaves them
// below 10.
namespace alidade::likelihood_radius_test {
namespace {

/// Outcomes that are base models: f of outcome i is the i-th unit vector, and weights are probabilities.
detail::LikelihoodRows unit_rows(const std::vector<int>& counts) {
    detail::LikelihoodRows rows;
    rows.features = static_cast<Index>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        for (std::size_t j = 0; j < counts.size(); ++j) rows.rows.push_back(i == j ? 1.0 : 0.0);
        rows.counts.push_back(counts[i]);
        rows.observations += counts[i];
    }
    return rows;
}

/// The logarithm of what a Dirichlet(1/2) mixture gives to a sequence with these counts: the product of the
/// predictions (n_i + 1/2) / (t + d/2), each made before the outcome was seen.
double predictions(const std::vector<int>& counts) {
    const double half = 0.5 * static_cast<double>(counts.size());
    double sum = std::lgamma(half), total = 0;
    for (const int n : counts) {
        sum += std::lgamma(n + 0.5) - std::lgamma(0.5);
        total += n;
    }
    return sum - std::lgamma(total + half);
}

detail::LikelihoodSet set_of(const std::vector<int>& counts, double delta, bool predicted) {
    const std::vector<detail::LikelihoodRows> rows{unit_rows(counts)};
    detail::LikelihoodSetOptions options{.delta = delta};
    if (predicted) options.predicted = {predictions(counts)};
    return detail::likelihood_sets(rows, options)[0];
}

/// Calls `visit(counts, sequences)` for all counts of t outcomes of d kinds, and how many sequences have
/// them.
void for_each_count(Index d, int t, const std::function<void(const std::vector<int>&, double)>& visit) {
    std::vector<int> counts(static_cast<std::size_t>(d), 0);
    const std::function<void(std::size_t, int, double)> fill = [&](std::size_t i, int left, double log_ways) {
        if (i + 1 == counts.size()) {
            counts[i] = left;
            visit(counts, std::exp(log_ways - std::lgamma(left + 1)));
            return;
        }
        for (int n = 0; n <= left; ++n) {
            counts[i] = n;
            fill(i + 1, left - n, log_ways - std::lgamma(n + 1));
        }
    };
    fill(0, t, std::lgamma(t + 1));
}

// A regret r stands for a law of sequences, exp(L(theta~) - r) at most, and laws sum to one (Kraft): the law
// of the predictions to exactly one, that of the closed form after one outcome, where every mixture is even.
// With a tenth less of the regret the sums are 1.07 at least.
TEST(LikelihoodRadius, LeavesNoMoreThanOneToAllSequencesTogether) {
    for (Index d = 2; d <= 4; ++d)
        for (int t = 1; t <= 9 - d; ++t) {
            double closed_form = 0, determinant = 0, predicted = 0, smaller = 0;
            for_each_count(d, t, [&](const std::vector<int>& counts, double sequences) {
                const detail::LikelihoodSet set = set_of(counts, 0.1, true);
                double best = 0;  // L(theta~)
                for (std::size_t i = 0; i < counts.size(); ++i)
                    if (counts[i] > 0) best += counts[i] * std::log(set.fit.weights[static_cast<Index>(i)]);
                closed_form += sequences * std::exp(best - set.regret_kt);
                determinant += sequences * std::exp(best - set.regret_det);
                predicted += sequences * std::exp(best - set.regret_preq);
                smaller += sequences * std::exp(best - 0.9 * set.regret_preq);
            });
            EXPECT_LE(closed_form, 1 + 1e-9) << d << " features, " << t;
            EXPECT_LE(determinant, 1 + 1e-9) << d << " features, " << t;
            EXPECT_NEAR(predicted, 1, 1e-9) << d << " features, " << t;
            EXPECT_GT(smaller, 1.07);
            // The fit is inside the simplex by its barrier of 1e-6.
            if (t == 1) {
                EXPECT_NEAR(closed_form, 1, 1e-5) << d << " features";
            }
            // Jensen's inequality and the ellipsoid's share of the simplex cost some, but not all.
            EXPECT_GE(determinant, 0.02) << d << " features, " << t;
        }
}

/// P(theta leaves its set at some time up to `last`) for two outcomes, the first of probability p: exact, by
/// the law of the counts. The set is shrunk to `share` of its allowance.
double miss_probability(double p, double delta, int last, bool predicted, double share) {
    const Vector truth = (Vector(2) << p, 1 - p).finished();
    std::vector<double> alive{1.0};
    double missed = 0;
    for (int t = 1; t <= last; ++t) {
        std::vector<double> next(static_cast<std::size_t>(t) + 1, 0.0);
        for (std::size_t k = 0; k < alive.size(); ++k) {
            next[k + 1] += alive[k] * p;
            next[k] += alive[k] * (1 - p);
        }
        for (int k = 0; k <= t; ++k) {
            double& mass = next[static_cast<std::size_t>(k)];
            if (mass == 0) continue;
            const std::vector<int> counts{k, t - k};
            const detail::LikelihoodSet set = set_of(counts, delta, predicted);
            const detail::LikelihoodRows rows = unit_rows(counts);
            const bool inside = share == 1 ? contains(rows, set, truth)
                                           : detail::log_likelihood_ratio(rows, set.fit.weights, truth) <=
                                                 share * set.allowance;
            if (inside) continue;
            missed += mass;
            mass = 0;
        }
        alive = std::move(next);
    }
    return missed;
}

// Theorem 1 of docs/algorithms/likelihood.md by the exact law of all outcomes, watched at every time. The
// share of delta that is used, and that a set with nine tenths of the allowance would use, say what
// frequencies can show: at delta = 0.1 both are below 1 (0.28 and 0.49 at most), so that no number of runs
// can tell; at 1e-12, where ln(1/delta) is most of the allowance, the smaller one fails more than twice as
// often as it may.
TEST(LikelihoodRadius, LosesTheTruthWithAtMostItsProbabilityExactly) {
    constexpr int last = 60;
    for (const bool predicted : {false, true})
        for (const double delta : {0.1, 1e-3, 1e-12}) {
            if (support::effort_is("sanitized") && delta < 0.1) continue;
            double most = 0, smaller = 0;
            for (const double p : {0.5, 0.2, 0.01}) {
                most = std::max(most, miss_probability(p, delta, last, predicted, 1) / delta);
                smaller = std::max(smaller, miss_probability(p, delta, last, predicted, 0.9) / delta);
            }
            EXPECT_LE(most, 1) << "delta " << delta;
            EXPECT_GE(most, 0.04) << "delta " << delta << ": far larger than it need be";
            if (delta == 0.1) {
                EXPECT_LT(smaller, 0.6);
            }
            if (delta == 1e-12) {
                EXPECT_GT(smaller, 1.5);
            }
            const std::string name =
                std::to_string(std::log10(delta)) + (predicted ? " with predictions" : "");
            RecordProperty("share of delta " + name, std::to_string(most));
            RecordProperty("of a smaller one " + name, std::to_string(smaller));
        }
}

/// Rows of any kind: f has d numbers in (0, 1), each seen a few times.
detail::LikelihoodRows random_rows(Stream& random, Index d, Index size, double repeats) {
    detail::LikelihoodRows rows;
    rows.features = d;
    for (Index k = 0; k < size; ++k) {
        for (Index i = 0; i < d; ++i) rows.rows.push_back(0.05 + 0.9 * sample_uniform(random));
        rows.counts.push_back(std::floor(1 + repeats * sample_uniform(random)));
        rows.observations += rows.counts.back();
    }
    return rows;
}

// Theorem 1: the least regret, ln 2 or ln 3 for choosing it, and ln(n/delta), n the number of sets.
TEST(LikelihoodRadius, IsTheLeastRegretAndThePricesOfItsChoiceAndOfDelta) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 90);
        const double delta = std::pow(10.0, -1 - static_cast<double>(seed % 4));
        std::vector<detail::LikelihoodRows> rows;
        const auto sets = static_cast<std::size_t>(1 + sample_index(random, 4));
        for (std::size_t k = 0; k < sets; ++k)
            rows.push_back(random_rows(random, 2 + sample_index(random, 3), 6, 100));
        detail::LikelihoodSetOptions options{.delta = delta};
        const double shares = std::log(static_cast<double>(sets) / delta);
        for (const detail::LikelihoodSet& set : detail::likelihood_sets(rows, options))
            EXPECT_NEAR(set.allowance, std::min(set.regret_kt, set.regret_det) + std::log(2.0) + shares,
                        1e-7);
        // Predictions with the regret 1.5, and so good that they are the least: below zero there is nothing.
        for (const double regret : {1.5, 0.01}) {
            options.predicted.clear();
            for (const detail::LikelihoodRows& step : rows) {
                const Vector best = detail::maximise_likelihood(step).weights;
                double sum = 0;
                for (Index k = 0; k < step.size(); ++k)
                    sum += step.counts[static_cast<std::size_t>(k)] *
                           std::log(Eigen::Map<const Vector>(step.row(k), step.features).dot(best));
                options.predicted.push_back(sum - regret);
            }
            for (const detail::LikelihoodSet& set : detail::likelihood_sets(rows, options)) {
                EXPECT_NEAR(set.regret_preq, regret, 1e-7);
                EXPECT_NEAR(set.allowance,
                            std::min({set.regret_kt, set.regret_det, regret}) + std::log(3.0) + shares, 1e-7);
            }
        }
    }
}

/// argmax of L + mu sum ln theta_i by expectation maximisation, which needs no derivative.
Vector smoothed_maximiser(const detail::LikelihoodRows& rows, double mu) {
    const Index d = rows.features;
    Vector weights = Vector::Constant(d, 1.0 / static_cast<double>(d));
    for (int step = 0; step < 20'000; ++step) {
        Vector next = Vector::Constant(d, mu);
        for (Index k = 0; k < rows.size(); ++k) {
            const Eigen::Map<const Vector> f(rows.row(k), d);
            next += rows.counts[static_cast<std::size_t>(k)] / f.dot(weights) * f.cwiseProduct(weights);
        }
        next /= next.sum();
        const double moved = (next - weights).cwiseAbs().maxCoeff();
        weights = next;
        if (moved < 1e-15) break;
    }
    return weights;
}

/// An orthonormal basis of the vectors that sum to zero, by Helmert.
Matrix helmert(Index d) {
    Matrix basis = Matrix::Zero(d, d - 1);
    for (Index j = 1; j < d; ++j) {
        const auto size = static_cast<double>(j);
        for (Index i = 0; i < j; ++i) basis(i, j - 1) = 1 / std::sqrt(size * (size + 1));
        basis(j, j - 1) = -size / std::sqrt(size * (size + 1));
    }
    return basis;
}

/// Lemma 3 of docs/algorithms/likelihood.md as it is written, less L(theta): the lower bound of ln of the
/// uniform mixture over exp(L(theta)).
double lemma_3(const detail::LikelihoodRows& rows, const Vector& theta, const Vector& c, double r0,
               double rho2) {
    const Index d = rows.features, n = d - 1;
    const Matrix basis = helmert(d);
    const auto size = static_cast<double>(n);
    Matrix information = Matrix::Zero(n, n);
    std::vector<Vector> x;
    double likelihood = 0;
    for (Index k = 0; k < rows.size(); ++k) {
        const Eigen::Map<const Vector> f(rows.row(k), d);
        x.push_back(basis.transpose() * f / f.dot(c));
        information += rows.counts[static_cast<std::size_t>(k)] * x.back() * x.back().transpose();
        likelihood += rows.counts[static_cast<std::size_t>(k)] * std::log(f.dot(c) / f.dot(theta));
    }
    const Matrix regularised = information + rho2 / (r0 * r0) * basis.transpose() *
                                                 c.cwiseInverse().cwiseAbs2().asDiagonal() * basis;
    const Matrix inverse = support::inverse(regularised);
    double curved = 0, log_det = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double q = x[k].dot(inverse * x[k]), b = std::min(r0, std::sqrt(rho2 * q));
        curved += rows.counts[k] * (-b - std::log1p(-b)) / (b * b) * q;
    }
    const Matrix factor = support::cholesky(regularised);
    for (Index i = 0; i < n; ++i) log_det += 2 * std::log(factor(i, i));
    const double density = std::lgamma(size + 1) - 0.5 * std::log(static_cast<double>(d));
    const double ball = size / 2 * std::log(std::numbers::pi) - std::lgamma(size / 2 + 1);
    return density + ball + size / 2 * std::log(rho2) - log_det / 2 + likelihood - rho2 / (size + 2) * curved;
}

TEST(DeterminantRegret, IsTheBestOfItsLemma) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        Stream random = support::test_stream(seed, 91);
        const Index d = 2 + static_cast<Index>(seed % 3);
        const auto n = static_cast<double>(d - 1);
        const detail::LikelihoodRows rows =
            random_rows(random, d, 5, std::pow(10.0, static_cast<double>(seed % 4)));
        const Vector theta = detail::maximise_likelihood(rows).weights;
        for (const bool thorough : {false, true}) {
            double best = -std::numeric_limits<double>::infinity();
            for (const double mu : thorough ? std::vector{0.5, 1.0, 2.0} : std::vector{1.0})
                for (const double r0 : thorough ? std::vector{0.3, 0.6, 0.85} : std::vector{0.6, 0.85})
                    for (const double rho2 : thorough ? std::vector{n / 2, n, n + 2} : std::vector{n, n + 2})
                        best = std::max(best, lemma_3(rows, theta, smoothed_maximiser(rows, mu), r0, rho2));
            EXPECT_NEAR(detail::determinant_regret(rows, theta, thorough), -best, 1e-6) << "seed " << seed;
        }
    }
}

// With many data the ellipsoid is the convex set: both ends of the segment that two weights leave are nearly
// on its boundary, and never beyond. A squared radius that is a tenth too small has them 5 of 100 outside.
TEST(LikelihoodSets, NearlyFillTheirEllipsoidsWithManyData) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Stream random = support::test_stream(seed, 92);
        detail::LikelihoodRows rows = random_rows(random, 2, 8, 1);
        // In the proportions of the weights (.4, .6), so that the best ones are inside.
        rows.observations = 0;
        for (Index k = 0; k < rows.size(); k += 2) {
            double *one = rows.rows.data() + 2 * k, *other = one + 2;
            for (int i = 0; i < 2; ++i) other[i] = 1 - one[i];
            for (Index row : {k, k + 1}) {
                const double* f = rows.row(row);
                double& count = rows.counts[static_cast<std::size_t>(row)];
                count = std::round(1e7 * (0.4 * f[0] + 0.6 * f[1]));
                rows.observations += count;
            }
        }
        const detail::LikelihoodSet set = detail::likelihood_sets(std::vector{rows}, {})[0];
        for (const Index corner : {0, 1}) {
            double low = 0, high = 1;
            const Vector centre = set.fit.weights, away = Vector::Unit(2, corner) - centre;
            for (int step = 0; step < 60; ++step) {
                const double middle = (low + high) / 2;
                (contains(rows, set, centre + middle * away) ? low : high) = middle;
            }
            const double depth = set.ellipsoid.depth(centre + low * away);
            EXPECT_LE(depth, 1 + 1e-9) << "seed " << seed;
            EXPECT_GE(depth, 0.99) << "seed " << seed;
        }
    }
}

// All data speak against the second base model, n rows (1, 1/2): the best weights are (1, 0), and the set is
// the segment where -n ln(1 - theta_2/2) <= B. Its end is where the ellipsoid's term of an excluded base
// model has its whole weight. That term a tenth too large has it 4 of 100 outside.
TEST(LikelihoodSets, NearlyFillTheirEllipsoidsWhereABaseModelIsExcluded) {
    for (const double n : {1e4, 1e6}) {
        const detail::LikelihoodRows rows{2, {1, 0.5}, {n}, n};
        const detail::LikelihoodSet set = detail::likelihood_sets(std::vector{rows}, {})[0];
        const double end = 2 * -std::expm1(-set.allowance / n);
        const double depth = set.ellipsoid.depth((Vector(2) << 1 - end, end).finished());
        EXPECT_LE(depth, 1 + 1e-6) << n;
        EXPECT_GE(depth, 0.98) << n;
    }
}

// Base models that nearly agree have a likelihood that is nearly linear: from weights where the search has
// not begun, the best ones gain what the gap says, less a part in two hundred.
TEST(LikelihoodFit, MeasuresAGapThatNearlyAlikeModelsReach) {
    const double n = 1000, apart = 0.01;
    const detail::LikelihoodRows rows{2, {0.5 * (1 + apart), 0.5 * (1 - apart)}, {n}, n};
    const Vector even = Vector::Constant(2, 0.5);
    const detail::LikelihoodFit fit = detail::maximise_likelihood(rows, {.steps = 0}, even);
    const double gained = n * std::log1p(apart);
    EXPECT_GE(fit.gap, gained);
    EXPECT_LE(fit.gap, 1.01 * gained);
}

}  // namespace
}  // namespace alidade::likelihood_radius_test
