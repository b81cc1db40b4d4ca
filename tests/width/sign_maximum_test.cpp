#include "alidade/width/sign_maximum.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::sign_maximum_test {
namespace {

enum class Kind { plain, ill_conditioned, zeros, repeated, orthogonal, deficient };
const std::vector<Kind> every_kind = {Kind::plain,    Kind::ill_conditioned, Kind::zeros,
                                      Kind::repeated, Kind::orthogonal,      Kind::deficient};

std::vector<double> random_generators(Stream& random, Index p, Index n, Kind kind) {
    std::vector<double> scale(static_cast<std::size_t>(p), 1.0);
    if (kind == Kind::ill_conditioned)
        for (double& s : scale) s = std::pow(10.0, -4 * sample_uniform(random));
    if (kind == Kind::deficient) scale[0] = 0;
    std::vector<double> g;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < p; ++i) {
            double value = scale[static_cast<std::size_t>(i)] * sample_normal(random);
            if (kind == Kind::zeros && j % 3 == 0) value = 0;
            if (kind == Kind::orthogonal) value = i == j % p ? value : 0;
            if (kind == Kind::repeated && j % 2 == 1) value = g[static_cast<std::size_t>((j - 1) * p + i)];
            g.push_back(value);
        }
    return g;
}

double brute_force(const std::vector<double>& g, Index p, Index n) {
    double best = 0;
    for (Index pattern = 0; pattern < (Index{1} << (n - 1)); ++pattern) {
        double square = 0;
        for (Index i = 0; i < p; ++i) {
            double sum = 0;
            for (Index j = 0; j < n; ++j)
                sum += ((pattern >> j) & 1 ? 1 : -1) * g[static_cast<std::size_t>(j * p + i)];
            square += sum * sum;
        }
        best = std::max(best, square);
    }
    return std::sqrt(best);
}

void expect_brackets(const detail::SignBracket& bracket, const detail::SignProblem& problem, double exact,
                     double looseness, const std::string& what) {
    EXPECT_LE(bracket.lower, exact * (1 + 1e-12) + 1e-300) << what;
    EXPECT_GE(bracket.upper, exact * (1 - 1e-14)) << what;
    EXPECT_LE(bracket.upper, exact * (1 + looseness) + 1e-300) << what;
    EXPECT_NEAR(detail::norm_at(problem, bracket.signs), bracket.lower, 1e-12 * (1 + exact)) << what;
}

// T12: the portfolio is exact where exact is cheap, whatever the generators look like.
TEST(SignMaximum, IsExactUpToTwelveGeneratorsAndInThePlane) {
    for (std::uint64_t seed = 0; seed < 240; ++seed) {
        Stream random = support::test_stream(seed);
        const Kind kind = every_kind[seed % every_kind.size()];
        const Index p = 1 + sample_index(random, 9), n = 1 + sample_index(random, p <= 2 ? 16 : 12);
        const auto g = random_generators(random, p, n, kind);
        const detail::SignProblem problem{g, p, n};
        expect_brackets(detail::sign_maximum(problem), problem, brute_force(g, p, n), 1e-9,
                        "seed " + std::to_string(seed));
    }
}

// Every kind of generators, ten thousand small problems: never a bracket without the maximum in it.
TEST(SignMaximum, BracketsTenThousandRandomAndDegenerateProblems) {
    for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
        Stream random = support::test_stream(seed, 6);
        const Kind kind = every_kind[seed % every_kind.size()];
        const Index p = 1 + sample_index(random, 6), n = 1 + sample_index(random, 7);
        const auto g = random_generators(random, p, n, kind);
        const detail::SignProblem problem{g, p, n};
        const double exact = brute_force(g, p, n);
        // Without enumeration every other method of the portfolio gets its turn.
        expect_brackets(
            detail::sign_maximum(problem, {.nodes = static_cast<Index>(seed % 3) * 50, .enumerate = 1}),
            problem, exact, 0.26, "seed " + std::to_string(seed));
    }
}

TEST(SignMaximum, ConeSearchClosesTheBracketInThreeAndFourDimensions) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 1);
        const Kind kind = every_kind[seed % every_kind.size()];
        const Index p = 3 + static_cast<Index>(seed % 2), n = 13 + sample_index(random, 4);
        const auto g = random_generators(random, p, n, kind);
        const detail::SignProblem problem{g, p, n};
        expect_brackets(detail::cone_search(problem, {}), problem, brute_force(g, p, n), 1.1e-6,
                        "seed " + std::to_string(seed));
    }
}

TEST(SignMaximum, SignSearchClosesTheBracketInAnyDimension) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed, 2);
        const Kind kind = every_kind[seed % every_kind.size()];
        const Index p = 5 + sample_index(random, 8), n = 13 + sample_index(random, 3);
        const auto g = random_generators(random, p, n, kind);
        const detail::SignProblem problem{g, p, n};
        const double exact = brute_force(g, p, n);
        expect_brackets(detail::sign_search(problem, {.tolerance = 0.01}), problem, exact, 0.0101,
                        "seed " + std::to_string(seed));
        // The relaxation alone: never looser than sqrt(pi/2) at its optimum (Nesterov 1998).
        expect_brackets(detail::semidefinite_bracket(problem), problem, exact, 0.26,
                        "seed " + std::to_string(seed));
    }
}

TEST(SignMaximum, GivesAValidBracketWhenTheBudgetIsSpent) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 3);
        const Index p = 3 + static_cast<Index>(seed % 6), n = 15;
        const auto g = random_generators(random, p, n, Kind::plain);
        const detail::SignProblem problem{g, p, n};
        const double exact = brute_force(g, p, n);
        for (const Index nodes : {0, 1, 5})
            expect_brackets(detail::sign_maximum(problem, {.tolerance = 0, .nodes = nodes}), problem, exact,
                            0.26, "seed " + std::to_string(seed));
    }
}

TEST(BoxMaximum, IsTheMaximumOverTheVerticesOfTheBox) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 4);
        const Index p = 1 + sample_index(random, 6), m = 1 + sample_index(random, 10);
        const auto g = random_generators(random, p, m, every_kind[seed % every_kind.size()]);
        const double box = 0.5 + 4 * sample_uniform(random);
        double exact = 0;
        for (Index subset = 0; subset < (Index{1} << m); ++subset) {
            double square = 0;
            for (Index i = 0; i < p; ++i) {
                double sum = 0;
                for (Index j = 0; j < m; ++j)
                    if ((subset >> j) & 1) sum += box * g[static_cast<std::size_t>(j * p + i)];
                square += sum * sum;
            }
            exact = std::max(exact, std::sqrt(square));
        }
        const detail::SignBracket bracket = detail::box_maximum({g, p, m}, box);
        EXPECT_GE(bracket.upper, exact * (1 - 1e-14)) << "seed " << seed;
        EXPECT_LE(bracket.upper, exact * (1 + 1e-9) + 1e-300) << "seed " << seed;
        double attained = 0;
        for (Index i = 0; i < p; ++i) {
            double sum = 0;
            for (Index j = 0; j < m; ++j)
                sum += box * (1 + bracket.signs[static_cast<std::size_t>(j)]) / 2 *
                       g[static_cast<std::size_t>(j * p + i)];
            attained += sum * sum;
        }
        EXPECT_NEAR(std::sqrt(attained), exact, 1e-9 * (1 + exact)) << "seed " << seed;
    }
}

// T12: L2 <= L1 <= sqrt(p) L2; and how loose it is on dense random generators.
TEST(L1Relaxation, IsAboveTheMaximumByUpToTheRootOfTheDimension) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 5);
        const Index p = 1 + sample_index(random, 7), n = 2 + sample_index(random, 10);
        const auto g = random_generators(random, p, n, every_kind[seed % every_kind.size()]);
        const double exact = brute_force(g, p, n), l1 = detail::l1_relaxation({g, p, n});
        EXPECT_GE(l1, exact * (1 - 1e-12)) << "seed " << seed;
        EXPECT_LE(l1, exact * std::sqrt(static_cast<double>(p)) * (1 + 1e-12)) << "seed " << seed;
    }
}

TEST(SignMaximum, RefusesBadInput) {
    const std::vector<double> g(6, 1.0), bad = {1, std::nan(""), 0, 1};
    EXPECT_THROW(detail::sign_maximum({g, 2, 2}), InvalidArgument);
    EXPECT_THROW(detail::sign_maximum({bad, 2, 2}), InvalidArgument);
    EXPECT_THROW(detail::sign_maximum({g, 2, 3}, {.tolerance = -1}), InvalidArgument);
    EXPECT_THROW(detail::sign_maximum({g, 2, 3}, {.enumerate = 25}), InvalidArgument);
    EXPECT_THROW(detail::box_maximum({g, 2, 3}, 0), InvalidArgument);
    EXPECT_THROW(detail::cone_search({g, 6, 1}, {}), InvalidArgument);
    EXPECT_THROW(detail::angular_sweep({g, 3, 2}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::sign_maximum_test
