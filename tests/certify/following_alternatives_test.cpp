#include "alidade/certify/following_alternatives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "alidade/certify/profile_likelihood.hpp"
#include "alidade/theory/digamma.hpp"
#include "alidade/theory/radii.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

/// ln M(theta) of the alternatives that follow the mixture, and the profile likelihood: values by brute
/// force, convexity, slopes, certified minima.
namespace alidade::following_alternatives_test {
namespace {

using detail::ConvexExpansion;
using detail::ConvexFunction;
using detail::FitRows;

struct Case {
    std::shared_ptr<const FeatureMap> features;
    FitRows rows;
};

Case random_case(std::uint64_t seed, Index d, std::int64_t most) {
    const support::RandomSizes sizes{.shape = {4, 2, 2}, .features = d, .successors = 3};
    Stream random = support::test_stream(seed, 91);
    Case one{std::make_shared<const FeatureMap>(
                 FeatureMap::from_base_kernels(4, 2, support::random_kernels(random, sizes))),
             {}};
    std::vector<SeenEntry> seen;
    for (Index e = 0; e < one.features->entries(); ++e)
        if (const std::int64_t count = sample_index(random, most + 1); count > 0) seen.push_back({e, count});
    one.rows.add(*one.features, seen, 0);
    return one;
}

Vector random_weights(Stream& random, Index d) {
    const std::vector<double> law = sample_dirichlet(random, d, 1.0);
    return Eigen::Map<const Vector>(law.data(), d);
}

/// Every alternative and the profile at several parameters, over random data.
void for_each_function(std::uint64_t seed,
                       const std::function<void(const ConvexFunction&, const Case&)>& visit) {
    const Case one = random_case(seed, 3, seed % 2 == 0 ? 6 : 200);
    if (one.rows.size() == 0) return;
    for (const double alpha : {1.0, 30.0, 1e3, 1e5}) visit(detail::RowsAlternative(one.rows, alpha), one);
    for (const auto& kernel : detail::default_kernels(*one.features, one.rows))
        visit(detail::ForeignAlternative(one.rows, kernel.values, seed % 2 == 0 ? 0.1 : 0.01), one);
    const std::vector<double> fitted = one.rows.predicted(Vector::Constant(3, 1.0 / 3));
    for (const auto& kernel : detail::default_kernels(*one.features, one.rows))
        visit(detail::ConfinedAlternative(one.rows, kernel.values, seed % 2 == 0 ? 0.1 : 0.01, fitted, 2.5),
              one);
    for (const double zeta : {0.003, 0.05, 0.4}) visit(detail::NegativeProfile(one.rows, zeta), one);
}

TEST(FollowingAlternatives, AreConvexInTheWeights) {
    int midpoints = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions(400u); ++seed) {
        Stream random = support::test_stream(seed, 92);
        for_each_function(seed, [&](const ConvexFunction& function, const Case&) {
            const Vector x = random_weights(random, 3), y = random_weights(random, 3);
            const double mean = (function.value(x) + function.value(y)) / 2;
            EXPECT_LE(function.value((x + y) / 2), mean + 1e-9 * (1 + std::abs(mean)));
            ++midpoints;
        });
    }
    EXPECT_GE(midpoints, support::repetitions(8000));
}

// Of many items those that were seen once are not asked for their probability. Rows that come again and again
// bring as often what they bring once.
TEST(FollowingAlternatives, OfManyItemsAreThoseOfFewAsOftenAsTheyCome) {
    Case one = random_case(4, 3, 2);
    const Case all = one;
    constexpr Index most = 1 << 17;
    Index times = 1;
    std::vector<SeenEntry> seen;
    for (Index item = 0; item < one.rows.size(); ++item)
        seen.push_back({one.rows.entries[at(item)], static_cast<std::int64_t>(one.rows.counts[at(item)])});
    ASSERT_GT(std::ranges::count(one.rows.counts, 1.0), 2);
    for (; one.rows.size() < most; ++times) one.rows.add(*one.features, seen, 0);
    Stream random = support::test_stream(4, 97);
    const Vector weights = random_weights(random, 3);
    for (const double alpha : {1.0, 30.0, 1e5}) {
        const detail::RowsAlternative few(all.rows, alpha), many(one.rows, alpha);
        ConvexExpansion of_few, of_many;
        few.expand(weights, of_few);
        many.expand(weights, of_many);
        const auto n = static_cast<double>(times);
        EXPECT_NEAR(many.value(weights), n * few.value(weights), 1e-9 * n);
        EXPECT_NEAR(of_many.value, n * of_few.value, 1e-9 * n);
        EXPECT_LE((of_many.gradient - n * of_few.gradient).cwiseAbs().maxCoeff(), 1e-9 * n);
        EXPECT_LE((of_many.curvature - n * of_few.curvature).cwiseAbs().maxCoeff(), 1e-8 * n);
        // What rounding may have done is not said to be less than before, but for what is not computed.
        EXPECT_GT(of_many.doubt, 0);
    }
}

TEST(FollowingAlternatives, SlopesAndCurvaturesAreThoseOfDifferences) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 93);
        for_each_function(seed, [&](const ConvexFunction& function, const Case&) {
            const Vector x = 0.7 * random_weights(random, 3) + Vector::Constant(3, 0.1);
            ConvexExpansion about, above, below;
            function.expand(x, about);
            EXPECT_NEAR(about.value, function.value(x), 1e-9 * (1 + std::abs(about.value)));
            for (Index i = 0; i < 2; ++i) {
                Vector step = Vector::Zero(3);
                step[i] = 1e-6;
                step[2] = -1e-6;
                function.expand(x + step, above);
                function.expand(x - step, below);
                const Vector direction = step / 1e-6;
                const double slope = (above.value - below.value) / 2e-6,
                             size = std::abs(about.gradient.cwiseAbs().maxCoeff());
                EXPECT_NEAR(about.gradient.dot(direction), slope, 1e-4 * (1 + size));
                const Matrix full = about.curvature.selfadjointView<Eigen::Lower>();
                const double bend = (above.gradient - below.gradient).dot(direction) / 2e-6;
                EXPECT_NEAR(direction.dot(full * direction), bend, 1e-3 * (1 + std::abs(bend)));
            }
        });
    }
}

TEST(FollowingAlternatives, MinimaAreBelowEveryPointOfAGridAndNear) {
    for (std::uint64_t seed = 0; seed < support::repetitions(40u); ++seed)
        for_each_function(seed, [&](const ConvexFunction& function, const Case&) {
            const auto found = detail::minimise(function, Vector::Constant(3, 1.0 / 3));
            double least = std::numeric_limits<double>::infinity();
            constexpr int steps = 60;
            for (int a = 0; a <= steps; ++a)
                for (int b = 0; a + b <= steps; ++b) {
                    Vector weights(3);
                    weights << a, b, steps - a - b;
                    weights = 0.9999 * weights / steps + Vector::Constant(3, 0.0001 / 3);
                    least = std::min(least, function.value(weights));
                }
            EXPECT_LE(found.lower, least + 1e-9);
            // The profile has kinks, where mass that was not seen is just enough to give: a step may end
            // there.
            const bool kinks = dynamic_cast<const detail::NegativeProfile*>(&function) != nullptr;
            EXPECT_LE(found.value - found.lower, (kinks ? 2 : 0.05) + 1e-6 * std::abs(found.value));
            EXPECT_LE(found.lower, found.value + 1e-9);
        });
}

/// Transitions of one pair predicted one after the other, over the mixture's probabilities.
TEST(FollowingAlternatives, AreThoseOfPredictingInTurn) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case one = random_case(seed, 3, 30);
        Stream random = support::test_stream(seed, 94);
        const Vector weights = random_weights(random, 3);
        for (const double alpha : {1.0, 100.0}) {
            double expected = 0;
            for (const detail::FitRow& row : one.rows.rows) {
                double n = 0;
                for (Index item = row.first; item < row.last; ++item) {
                    const double p = one.rows.predicted(item, weights);
                    for (double seen = 0; seen < one.rows.counts[at(item)]; ++seen, ++n)
                        expected += std::log((alpha * p + seen) / (alpha + n) / p);
                }
            }
            EXPECT_NEAR(detail::RowsAlternative(one.rows, alpha).value(weights), expected, 1e-8);
        }
        for (const auto& kernel : detail::default_kernels(*one.features, one.rows)) {
            double expected = 0;
            for (Index item = 0; item < one.rows.size(); ++item) {
                const double p = one.rows.predicted(item, weights), r = kernel.values[at(item)];
                if (r >= 0) expected += one.rows.counts[at(item)] * std::log(0.97 + 0.03 * r / p);
            }
            EXPECT_NEAR(detail::ForeignAlternative(one.rows, kernel.values, 0.03).value(weights), expected,
                        1e-9);
        }
    }
}

// All outcomes of six visits of one pair: the mean of M at the true weights is one for predictors that waste
// nothing, and never more.
TEST(FollowingAlternatives, HaveMeanOneAtTheTrueWeights) {
    const Case drawn = random_case(7, 3, 0);
    const FeatureMap& map = *drawn.features;
    constexpr int n = 6;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Stream random = support::test_stream(seed, 95);
        const Vector weights = random_weights(random, 3);
        std::vector<double> rows(detail::concentrations.size(), 0.0), foreign;
        double total = 0;
        for (int a = 0; a <= n; ++a)
            for (int b = 0; a + b <= n; ++b) {
                const int c = n - a - b;
                std::vector<SeenEntry> seen;
                for (const auto& [entry, count] : {std::pair{0, a}, {1, b}, {2, c}})
                    if (count > 0) seen.push_back({entry, count});
                FitRows data;
                data.add(map, seen, 0);
                double log_probability =
                    std::lgamma(n + 1) - std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(c + 1);
                for (Index item = 0; item < data.size(); ++item)
                    log_probability += data.counts[at(item)] * std::log(data.predicted(item, weights));
                total += std::exp(log_probability);
                for (std::size_t k = 0; k < rows.size(); ++k)
                    rows[k] +=
                        std::exp(log_probability +
                                 detail::RowsAlternative(data, detail::concentrations[k]).value(weights));
                const auto kernels = detail::default_kernels(map, data);
                foreign.resize(kernels.size(), 0.0);
                for (std::size_t k = 0; k < kernels.size(); ++k)
                    foreign[k] +=
                        std::exp(log_probability +
                                 detail::ForeignAlternative(data, kernels[k].values, 0.3).value(weights));
            }
        EXPECT_NEAR(total, 1, 1e-12);
        for (const double mean : rows) EXPECT_NEAR(mean, 1, 1e-9);
        for (const double mean : foreign) EXPECT_LE(mean, 1 + 1e-12);
        EXPECT_NEAR(foreign[0], 1, 1e-9) << "uniform on the successors is a law";
    }
}

/// A linear function is its own tangent: its least value over the simplex is its least coefficient, exactly.
class Linear final : public ConvexFunction {
public:
    explicit Linear(Vector coefficients) : coefficients_(std::move(coefficients)) {}
    double value(const Vector& weights) const override { return coefficients_.dot(weights); }
    void expand(const Vector& weights, ConvexExpansion& about) const override {
        about = {value(weights), 0, coefficients_, 0, Matrix::Zero(weights.size(), weights.size())};
    }

private:
    Vector coefficients_;
};

TEST(FollowingAlternatives, LowerBoundsAreThoseOfTangents) {
    Stream random = support::test_stream(3, 98);
    for (int k = 0; k < 100; ++k) {
        const Vector c = 10 * random_weights(random, 4), x = random_weights(random, 4);
        const Linear linear(c);
        ConvexExpansion about;
        linear.expand(x, about);
        EXPECT_NEAR(detail::lower_bound(about, x), c.minCoeff(), 1e-12);
        about.doubt = 0.5;
        about.gradient_doubt = 0.125;
        EXPECT_NEAR(detail::lower_bound(about, x), c.minCoeff() - 0.75, 1e-12);
        EXPECT_NEAR(detail::minimise(linear, Vector::Constant(4, 0.25)).lower, c.minCoeff(), 1e-9);
    }
}

TEST(FollowingAlternatives, OneRowsMixtureHasTheSlopesOfDifferences) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case one = random_case(seed, 3, 100);
        Stream random = support::test_stream(seed, 96);
        const Vector x = 0.7 * random_weights(random, 3) + Vector::Constant(3, 0.1);
        for (const detail::FitRow& row : one.rows.rows) {
            const auto [value, gradient, doubt] = detail::row_mixture(one.rows, row, x);
            EXPECT_NEAR(value, detail::log_row_mixture(one.rows, row, one.rows.predicted(x)), 1e-7);
            EXPECT_LE(value, detail::log_row_mixture(one.rows, row, one.rows.predicted(x)));
            for (Index i = 0; i < 2; ++i) {
                Vector step = Vector::Zero(3);
                step[i] = 1e-6;
                step[2] = -1e-6;
                const double slope = (detail::row_mixture(one.rows, row, x + step).value -
                                      detail::row_mixture(one.rows, row, x - step).value) /
                                     2;
                EXPECT_NEAR(gradient.dot(step), slope, 1e-9 * (1 + gradient.cwiseAbs().maxCoeff()));
            }
        }
    }
}

/// ln of the mean over concentrations of one row's evidence, factor by factor in long double: no
/// cancellation.
long double exact_mixture(const FitRows& rows, const Vector& weights) {
    std::vector<long double> logs;
    for (const double concentration : detail::concentrations) {
        const long double alpha = concentration;
        long double sum = 0;
        for (int i = 0; i < static_cast<int>(rows.rows.front().visits); ++i) sum -= std::log(alpha + i);
        for (Index item = 0; item < rows.size(); ++item) {
            long double p = 0;
            for (Index j = 0; j < rows.features; ++j)
                p += rows.f(item)[j] * static_cast<long double>(weights[j]);
            for (int i = 0; i < static_cast<int>(rows.counts[at(item)]); ++i) sum += std::log(alpha + i / p);
        }
        logs.push_back(sum);
    }
    const long double largest = *std::ranges::max_element(logs);
    long double mass = 0;
    for (const long double log : logs) mass += std::exp(log - largest);
    return largest + std::log(mass / static_cast<long double>(logs.size()));
}

// The slope of rows(alpha) is a difference of numbers as large as alpha. Less its doubt, the tangent is below
// the function everywhere, beside the point where it touches as well: that is all that a minimum rests on.
TEST(FollowingAlternatives, OneRowsTangentsAreBelowIt) {
    const BaseKernel one{"one", 2, 2, {0, 2, 3}, {0, 1, 1}, {.3, .7, 1}},
        other{"other", 2, 2, {0, 2, 3}, {0, 1, 1}, {.8, .2, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{one, other}));
    for (const int n : {3, 20, 300, 5000, 30'000}) {
        if (n > support::repetitions(30'000, 300)) break;
        FitRows rows;
        rows.add(*features, std::vector<SeenEntry>{{0, n}, {1, 2 * n}}, 0);
        for (const double share : {0.1, 0.83}) {
            Vector weights(2);
            weights << share, 1 - share;
            const auto found = detail::row_mixture(rows, rows.rows.front(), weights);
            for (const double step : {0.0, 1e-12, -1e-9, 1e-6, -1e-3, 0.1}) {
                Vector there(2);
                there << share + step, 1 - share - step;
                const Vector move = there - weights;
                EXPECT_GE(exact_mixture(rows, there), found.value + found.gradient.dot(move) -
                                                          found.gradient_doubt * move.cwiseAbs().sum())
                    << n << " " << share << " " << step;
            }
            EXPECT_LE(found.gradient_doubt, 1e-9 * (1 + found.gradient.cwiseAbs().maxCoeff()) * n);
        }
    }
}

// Summed over all that can be seen, the confined alternative's probabilities are those of a law, or less.
TEST(FollowingAlternatives, ConfinementSpendsNoMoreThanItHas) {
    Stream random = support::test_stream(1, 99);
    for (int run = 0; run < 30; ++run) {
        const support::RandomSizes sizes{.shape = {3, 1, 2}, .features = 2, .successors = 3};
        const auto features = std::make_shared<const FeatureMap>(
            FeatureMap::from_base_kernels(3, 1, support::random_kernels(random, sizes)));
        const double share = random_weights(random, 2)[0];
        Vector weights(2);
        weights << share, 1 - share;
        constexpr int n = 7;
        double total = 0, confined = 0;
        for (int a = 0; a <= n; ++a)
            for (int b = 0; a + b <= n; ++b) {
                std::vector<SeenEntry> seen;
                const std::vector<int> counts{a, b, n - a - b};
                for (Index e = 0; e < 3; ++e)
                    if (counts[at(e)] > 0) seen.push_back({e, counts[at(e)]});
                FitRows rows;
                rows.add(*features, seen, 0);
                double chance = std::lgamma(n + 1);
                for (Index item = 0; item < rows.size(); ++item)
                    chance += rows.counts[at(item)] * std::log(rows.predicted(item, weights)) -
                              std::lgamma(rows.counts[at(item)] + 1);
                // The fit, by a grid.
                Vector fit = weights;
                double best = -1e300;
                for (int k = 1; k < 400; ++k) {
                    Vector tried(2);
                    tried << k / 400.0, 1 - k / 400.0;
                    const double log = detail::log_likelihood(rows, rows.predicted(tried));
                    if (log <= best) continue;
                    best = log;
                    fit = tried;
                }
                const auto kernel = detail::default_kernels(*features, rows).front();
                const std::vector<double> fitted = rows.predicted(fit);
                const detail::ConfinedAlternative alternative(
                    rows, kernel.values, 0.3, fitted,
                    detail::mixture_regret(rows.informative_count(), rows.features));
                const double value = alternative.value(weights);
                total += std::exp(chance + value);
                // At least what either part is worth.
                const double apart =
                    std::log(0.95) + detail::ForeignAlternative(rows, kernel.values, 0.3).value(weights);
                EXPECT_GE(value, apart - 1e-12);
                const double ahead = best - detail::log_likelihood(rows, rows.predicted(weights)) -
                                     detail::mixture_regret(n, 2);
                EXPECT_NEAR(value, std::log(std::exp(apart) + 0.05 * std::exp(ahead)), 1e-9);
                confined = std::max(confined, value - apart);
            }
        EXPECT_LE(total, 1 + 1e-9) << run;
        EXPECT_GT(total, 0.94) << run;
        EXPECT_GT(confined, 0.0);
    }
}

TEST(Digamma, IsTheSlopeOfTheLogarithmOfGamma) {
    EXPECT_NEAR(detail::digamma(1), -0.57721566490153286, 1e-14);
    EXPECT_NEAR(detail::trigamma(1), 1.6449340668482264, 1e-14);
    for (const double x : {1e-3, 0.3, 1.0, 2.5, 9.99, 10.0, 77.0, 1e5}) {
        EXPECT_NEAR(detail::digamma(x + 1) - detail::digamma(x), 1 / x, 1e-13 / x + 1e-13);
        EXPECT_NEAR(detail::trigamma(x) - detail::trigamma(x + 1), 1 / (x * x), 1e-13 / (x * x) + 1e-13);
        const double h = 1e-4 * x;
        EXPECT_NEAR((std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h), detail::digamma(x),
                    1e-6 * (1 + std::abs(detail::digamma(x))));
    }
}

// A law that is within zeta of the mixture and as likely as the bound says: by weak duality neither can be
// better.
TEST(RowProfile, IsAttainedByALawWithinZeta) {
    for (std::uint64_t seed = 0; seed < support::repetitions(2000u); ++seed) {
        Stream random = support::test_stream(seed, 97);
        const Index m = 2 + sample_index(random, 6);
        std::vector<double> law = sample_dirichlet(random, m, 0.5), counts, probabilities;
        // Some are impossible for the mixture, some were not seen.
        if (seed % 3 == 0) law[0] = 0;
        double sum = 0, unseen = 0, visits = 0;
        for (const double p : law) sum += p;
        for (double& p : law) p /= sum;
        for (Index j = 0; j < m; ++j) {
            const double n = static_cast<double>(sample_index(random, 3) == 0 ? 0 : sample_index(random, 50));
            if (n > 0) {
                counts.push_back(n);
                probabilities.push_back(law[at(j)]);
                visits += n;
            } else {
                unseen += law[at(j)];
            }
        }
        const double elsewhere = seed % 5 == 0 ? static_cast<double>(1 + sample_index(random, 20)) : 0.0;
        visits += elsewhere;
        if (visits == 0) continue;
        const double zeta = seed % 7 == 0 ? 1.0 : std::pow(10, -3 * sample_uniform(random));
        const detail::RowProfile profile = detail::profile_row(counts, probabilities, elsewhere, zeta);
        double mass = 0, raised = 0, value = 0;
        for (std::size_t j = 0; j < counts.size(); ++j) {
            const double ratio =
                probabilities[j] > 0 ? counts[j] / probabilities[j] : std::numeric_limits<double>::infinity();
            const double p = counts[j] / std::clamp(ratio, profile.low, profile.high);
            mass += p;
            raised += std::max(0.0, p - probabilities[j]);
            value += counts[j] * std::log(p);
        }
        if (elsewhere > 0) {
            const double p = elsewhere / profile.high;
            mass += p;
            raised += p;
            value += elsewhere * std::log(p);
        }
        ASSERT_LE(mass, 1 + 1e-9) << seed;
        raised += std::max(0.0, 1 - mass - unseen);  // what is left goes where nothing was seen
        EXPECT_LE(raised, zeta + 1e-9) << seed;
        EXPECT_NEAR(profile.value, value, 1e-9 * (1 + std::abs(value))) << seed;
        double best = elsewhere > 0 ? elsewhere * std::log(elsewhere / visits) : 0.0;
        for (const double n : counts) best += n * std::log(n / visits);
        EXPECT_LE(profile.value, best + 1e-9 * (1 + std::abs(best)));
        if (zeta == 1.0) {
            EXPECT_NEAR(profile.value, best, 1e-9 * (1 + std::abs(best)));
        }
    }
}

}  // namespace
}  // namespace alidade::following_alternatives_test
