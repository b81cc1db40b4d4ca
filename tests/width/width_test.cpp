#include "alidade/width/width.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::width_test {
namespace {

/// Centred random generators: columns sum to zero. `decades` spreads the scales of the coordinates.
std::vector<double> random_generators(Stream& random, Index p, Index m, double decades) {
    std::vector<double> g(static_cast<std::size_t>(p * m));
    for (Index i = 0; i < p; ++i) {
        const double scale = std::pow(10.0, -decades * sample_uniform(random));
        double mean = 0;
        for (Index j = 0; j < m; ++j) {
            g[static_cast<std::size_t>(j * p + i)] = scale * sample_normal(random);
            mean += g[static_cast<std::size_t>(j * p + i)] / static_cast<double>(m);
        }
        for (Index j = 0; j < m; ++j) g[static_cast<std::size_t>(j * p + i)] -= mean;
    }
    return g;
}

/// Every vertex of the cube, one after the other.
double brute_force(const std::vector<double>& g, Index p, Index m) {
    double best = 0;
    for (Index subset = 0; subset < (Index{1} << m); ++subset) {
        double square = 0;
        for (Index i = 0; i < p; ++i) {
            double sum = 0;
            for (Index j = 0; j < m; ++j)
                if ((subset >> j) & 1) sum += g[static_cast<std::size_t>(j * p + i)];
            square += sum * sum;
        }
        best = std::max(best, square);
    }
    return std::sqrt(best);
}

TEST(Width, IsExactUpToTwelveSuccessors) {
    Width oracle;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Stream random = support::test_stream(seed);
        const Index p = 1 + sample_index(random, 9), m = 1 + sample_index(random, 12);
        const auto g = random_generators(random, p, m, 4.0 * static_cast<double>(seed % 2));
        std::vector<std::uint8_t> witness(static_cast<std::size_t>(m), 0);
        const WidthProblem problem{g, p, m};
        const WidthBracket bracket = oracle.bracket(problem, witness);
        const double exact = brute_force(g, p, m);
        EXPECT_NEAR(bracket.lower, exact, 1e-12 * (1 + exact)) << "seed " << seed;
        EXPECT_NEAR(bracket.upper, exact, 1e-9 * (1 + exact)) << "seed " << seed;
        EXPECT_GE(bracket.upper, exact * (1 - 1e-14)) << "seed " << seed;
        EXPECT_NEAR(width_at(problem, witness), bracket.lower, 1e-12 * (1 + exact)) << "seed " << seed;
    }
}

// T12 [theory §4]: lower <= exact <= upper where the bound is not an enumeration.
TEST(Width, BracketsTheExactValueWhenTooManySuccessorsToEnumerate) {
    Width oracle({.exact_successors = 1});
    double worst = 1;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Stream random = support::test_stream(seed, 1);
        const Index p = 1 + sample_index(random, 8), m = 2 + sample_index(random, 10);
        const auto g = random_generators(random, p, m, 4.0 * static_cast<double>(seed % 2));
        std::vector<std::uint8_t> witness(static_cast<std::size_t>(m), 0);
        const WidthBracket bracket = oracle.bracket({g, p, m}, witness);
        const double exact = brute_force(g, p, m);
        EXPECT_LE(bracket.lower, exact * (1 + 1e-12)) << "seed " << seed;
        EXPECT_GE(bracket.upper, exact * (1 - 1e-14)) << "seed " << seed;
        worst = std::max(worst, bracket.upper / bracket.lower);
    }
    // The eigenvalue bound is loose by a factor that does not grow with m; 1.34 was the worst seen.
    EXPECT_LE(worst, 1.6);
}

TEST(Width, BoundsTheL1RelaxationFromBothSides) {
    // T12: |x|_2 <= |x|_1 <= sqrt(p) |x|_2, so the maximum of the L1 norm brackets the width.
    Width oracle;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Stream random = support::test_stream(seed, 2);
        const Index p = 1 + sample_index(random, 4), m = 2 + sample_index(random, 7);
        const auto g = random_generators(random, p, m, 0);
        std::vector<std::uint8_t> witness(static_cast<std::size_t>(m), 0);
        const double exact = oracle.bracket({g, p, m}, witness).lower;
        double l1 = 0;  // max over sign vectors of the sum of positive scores [theory §1.3]
        for (Index signs = 0; signs < (Index{1} << p); ++signs) {
            double sum = 0;
            for (Index j = 0; j < m; ++j) {
                double score = 0;
                for (Index i = 0; i < p; ++i)
                    score += ((signs >> i) & 1 ? 1 : -1) * g[static_cast<std::size_t>(j * p + i)];
                sum += std::max(0.0, score);
            }
            l1 = std::max(l1, sum);
        }
        EXPECT_LE(exact, l1 * (1 + 1e-12)) << "seed " << seed;
        EXPECT_LE(l1, exact * std::sqrt(static_cast<double>(p)) * (1 + 1e-12)) << "seed " << seed;
    }
}

TEST(Width, HandlesZeroRepeatedAndOrthogonalGenerators) {
    Width exact, bounded({.exact_successors = 1});
    const std::vector<std::pair<Index, std::vector<double>>> cases = {
        {2, {0, 0, 0, 0, 0, 0}},                  // nothing to move
        {2, {1, 0, -1, 0, 0, 0}},                 // one direction, a zero generator
        {2, {1, 0, 1, 0, -2, 0}},                 // repeated
        {2, {1, 0, -1, 0, 0, 1, 0, -1}},          // orthogonal pairs
        {1, {0.25, 0.25, 0.25, 0.25, -1}},        // p = 1
        {3, {1e-9, 0, 0, -1e-9, 0, 0, 0, 0, 0}},  // tiny
    };
    for (const auto& [p, g] : cases) {
        const Index m = static_cast<Index>(g.size()) / p;
        std::vector<std::uint8_t> witness(static_cast<std::size_t>(m), 1);
        const double truth = brute_force(g, p, m);
        const WidthBracket a = exact.bracket({g, p, m}, witness);
        EXPECT_NEAR(a.lower, truth, 1e-14);
        const WidthBracket b = bounded.bracket({g, p, m}, witness);
        EXPECT_GE(b.upper, truth * (1 - 1e-14));
        EXPECT_LE(b.lower, truth * (1 + 1e-14));
    }
}

TEST(Width, UpperEndDoesNotDependOnTheStart) {
    Width oracle({.exact_successors = 4});
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed, 3);
        const Index p = 5, m = 20;
        const auto g = random_generators(random, p, m, 1);
        std::vector<std::uint8_t> cold(20, 0), warm(20);
        for (auto& bit : warm) bit = static_cast<std::uint8_t>(sample_index(random, 2));
        EXPECT_EQ(oracle.bracket({g, p, m}, cold).upper, oracle.bracket({g, p, m}, warm).upper);
    }
}

TEST(Width, AscentNeverDescends) {
    Width oracle;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Stream random = support::test_stream(seed, 4);
        const Index p = 4, m = 16;
        const auto g = random_generators(random, p, m, 1);
        std::vector<std::uint8_t> witness(16);
        for (auto& bit : witness) bit = static_cast<std::uint8_t>(sample_index(random, 2));
        const double before = width_at({g, p, m}, witness);
        const double after = oracle.ascend({g, p, m}, witness);
        EXPECT_GE(after, before * (1 - 1e-12)) << "seed " << seed;
        EXPECT_NEAR(after, width_at({g, p, m}, witness), 1e-12);
    }
}

TEST(Width, RefusesMismatchingSizesAndBadOptions) {
    Width oracle;
    const std::vector<double> g(6, 0.0);
    std::vector<std::uint8_t> witness(2, 0);
    EXPECT_THROW(oracle.bracket({g, 2, 3}, witness), InvalidArgument);
    EXPECT_THROW(Width({.exact_successors = 0}), InvalidArgument);
    EXPECT_THROW(Width({.exact_successors = 21}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::width_test
