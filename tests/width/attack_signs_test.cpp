// Adversarial families against brute force in extended precision: the upper end of every method and every
// small budget must hold.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/width/sign_maximum.hpp"
#include "alidade/width/width.hpp"

namespace alidade::attack_signs_test {
namespace {

using Real = long double;

struct Case {
    const char* family;
    Index p, n;
    std::vector<double> g;
    detail::SignProblem problem() const { return {g, p, n}; }
};

/// max over signs of |sum s g|. By a Gray code: with 64 bits of mantissa, 2^10 updates err by less than 1e-16
/// of the sum of lengths, and every method must leave more than that.
Real brute(const Case& c) {
    std::vector<Real> sum(static_cast<std::size_t>(c.p), 0);
    for (std::size_t k = 0; k < c.g.size(); ++k) sum[k % static_cast<std::size_t>(c.p)] += c.g[k];
    std::vector<Real> sign(static_cast<std::size_t>(c.n), 1);
    const auto norm = [&] {
        Real square = 0;
        for (const Real x : sum) square += x * x;
        return std::sqrt(square);
    };
    Real best = norm();
    for (std::uint64_t code = 1; code < (std::uint64_t{1} << (c.n - 1)); ++code) {
        const auto j = static_cast<std::size_t>(std::countr_zero(code));
        for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] -= 2 * sign[j] * static_cast<Real>(c.g[j * sum.size() + i]);
        sign[j] = -sign[j];
        best = std::max(best, norm());
    }
    return best;
}

Case make(int family, Index p, Index n, std::mt19937_64& random) {
    static constexpr const char* names[] = {
        "normal",    "coplanar", "axes",         "duplicates", "scales",   "lattice",     "equal",
        "collinear", "balanced", "diagonals",    "few planes", "lopsided", "nearly axis", "with zeros",
        "rank two",  "absorbed", "antiparallel", "mixed",      "ties"};
    std::normal_distribution<double> normal;
    const auto pick = [&](int k) { return static_cast<int>(random() % static_cast<std::uint64_t>(k)); };
    Case c{names[family], p, n, std::vector<double>(static_cast<std::size_t>(p * n))};
    std::vector<double> base(static_cast<std::size_t>(p));
    for (double& x : base) x = normal(random);
    std::vector<double> second = base;
    for (double& x : second) x = normal(random);
    const auto width = static_cast<std::size_t>(p);
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
        double* g = c.g.data() + j * width;
        for (std::size_t i = 0; i < width; ++i) g[i] = normal(random);
        const double along = normal(random), across = normal(random);
        const double size = std::pow(10.0, pick(25) - 12);
        const auto axis = static_cast<std::size_t>(pick(static_cast<int>(p)));
        for (std::size_t i = 0; i < width; ++i) {
            if (family == 1 && i + 1 == width) g[i] *= 1e-9;
            if (family == 2) g[i] = i == axis ? pick(5) - 2 : 0;
            if (family == 3) g[i] = base[i] + 1e-8 * g[i];
            if (family == 4) g[i] *= size;
            if (family == 5) g[i] = pick(3) - 1;
            if (family == 6) g[i] = base[i];
            if (family == 7) g[i] = base[i] * (static_cast<double>(j) + 0.3);
            if (family == 9) g[i] = pick(2) ? 1 : -1;
            if (family == 10 && i == j % width) g[i] = 0;
            if (family == 11 && j > 0) g[i] *= 1e-7;
            if (family == 12) g[i] = (i == axis ? 1 : 0) + 1e-10 * g[i];
            if (family == 13 && j % 3 != 0) g[i] = 0;
            if (family == 14) g[i] = along * base[i] + across * second[i];
            // Added to the first in double precision, the others leave it as it is.
            if (family == 15) g[i] = base[i] * (j > 0 ? 0x1.fp-54 : 1);
            if (family == 16) g[i] = base[i] * (pick(2) ? 1 : -1) * (1 + pick(5) * 0x1p-52);
            if (family == 17) g[i] *= std::pow(10.0, pick(17) - 8);
            if (family == 18) g[i] = (i == j % width ? 1 + pick(3) * 0x1p-52 : 0) * (pick(2) ? 1 : -1);
        }
        if (family == 8 && j + 1 == static_cast<std::size_t>(n))
            for (std::size_t i = 0; i < width; ++i) {
                g[i] = 0;
                for (std::size_t k = 0; k < j; ++k) g[i] -= c.g[k * width + i];
            }
    }
    return c;
}
constexpr int families = 19;

void check(const Case& c, Real truth, const detail::SignBracket& found, const char* method, Index nodes) {
    ASSERT_GE(static_cast<Real>(found.upper), truth)
        << method << " with " << nodes << " nodes, family " << c.family << ", p " << c.p << ", n " << c.n
        << ", short by " << static_cast<double>((truth - found.upper) / truth);
    ASSERT_LE(static_cast<Real>(found.lower), truth * (1 + 1e-13L)) << method << ' ' << c.family;
    ASSERT_EQ(static_cast<Index>(found.signs.size()), c.n);
}

TEST(SignAttack, NoMethodAndNoBudgetGivesAnUpperEndBelowBruteForce) {
    std::mt19937_64 random(20240611);
    for (int family = 0; family < families; ++family)
        for (const Index p : {1, 2, 3, 4, 6})
            for (const Index n : {1, 2, 3, 5, 8, 11}) {
                const Case c = make(family, p, n, random);
                const Real truth = brute(c);
                for (const Index nodes : {0, 1, 2, 3, 8, 21, 80}) {
                    const double tolerance = (family + nodes) % 2 == 0 ? 0.0 : 1e-3;
                    const detail::SignOptions options{.tolerance = tolerance, .nodes = nodes, .enumerate = 1};
                    check(c, truth, detail::sign_maximum(c.problem(), options), "portfolio", nodes);
                    check(c, truth, detail::sign_search(c.problem(), options), "signs", nodes);
                    if (p >= 2 && p <= 4)
                        check(c, truth, detail::cone_search(c.problem(), options), "cones", nodes);
                    if (HasFatalFailure()) return;
                }
                if (p == 2) check(c, truth, detail::angular_sweep(c.problem()), "sweep", 0);
                const detail::SignBracket exact = detail::sign_maximum(c.problem(), {.enumerate = 12});
                check(c, truth, exact, "exact", 0);
                ASSERT_LE(static_cast<Real>(exact.upper), truth * (1 + 1e-9L)) << c.family;
                if (HasFatalFailure()) return;
            }
}

// Without a tolerance: until no generator changes sign within a cone that could matter.
TEST(SignAttack, ConesSplitToTheEndStayAboveBruteForceAndCloseTheBracket) {
    std::mt19937_64 random(7);
    for (int family = 0; family < families; ++family)
        for (const Index p : {3, 4}) {
            const Case c = make(family, p, 12, random);
            const Real truth = brute(c);
            const detail::SignBracket found =
                detail::cone_search(c.problem(), {.tolerance = 0, .nodes = 20'000});
            check(c, truth, found, "cones", 20'000);
            ASSERT_LE(static_cast<Real>(found.upper), truth * (1 + 1.1e-9L)) << c.family << " p " << p;
            if (HasFatalFailure()) return;
        }
}

TEST(SignAttack, UpperEndsHoldAtEveryScaleOfFiniteGenerators) {
    std::mt19937_64 random(11);
    for (const int exponent : {-1040, -700, -530, -500, -40, 40, 500, 530, 700, 1000})
        for (const Index p : {1, 2, 3, 5})
            for (const Index n : {1, 4, 9}) {
                Case c = make(0, p, n, random);
                for (double& x : c.g) x = std::ldexp(x, exponent);
                const Real truth = brute(c);
                for (const Index nodes : {0, 100}) {
                    for (const Index enumerate : {1, 12})
                        check(c, truth,
                              detail::sign_maximum(c.problem(), {.nodes = nodes, .enumerate = enumerate}),
                              "portfolio", nodes);
                    check(c, truth, detail::sign_search(c.problem(), {.nodes = nodes}), "signs", nodes);
                    if (p == 2) check(c, truth, detail::angular_sweep(c.problem()), "sweep", 0);
                    if (p == 3)
                        check(c, truth, detail::cone_search(c.problem(), {.nodes = nodes}), "cones", nodes);
                }
                // Among the smallest numbers the spacing is the limit.
                ASSERT_LE(detail::sign_maximum(c.problem()).upper,
                          static_cast<double>(truth * (1 + 1e-9L)) + 1e-323);
                if (HasFatalFailure()) return;
            }
}

/// max over V in {0,1}^m of |sum V g|: with g_0 = sum g, half of the signs' maximum of m + 1 generators,
/// here summed straight from the definition.
Real brute_box(const Case& c) {
    Real best = 0;
    for (std::uint64_t code = 0; code < (std::uint64_t{1} << c.n); ++code) {
        Real square = 0;
        for (Index i = 0; i < c.p; ++i) {
            Real sum = 0;
            for (Index j = 0; j < c.n; ++j)
                if ((code >> j) & 1U) sum += c.g[static_cast<std::size_t>(j * c.p + i)];
            square += sum * sum;
        }
        best = std::max(best, square);
    }
    return std::sqrt(best);
}

TEST(SignAttack, TheBoxIsBoundedForGeneratorsOfAnySum) {
    std::mt19937_64 random(13);
    for (int family = 0; family < families; ++family)
        for (const Index p : {1, 2, 3, 5})
            for (const int exponent : {0, -540, 540}) {
                Case c = make(family, p, 9, random);
                for (double& x : c.g) x = std::ldexp(x, exponent);
                const Real truth = brute_box(c);
                for (const Index nodes : {0, 1, 5, 200}) {
                    const detail::SignBracket box =
                        detail::box_maximum(c.problem(), 1, {.nodes = nodes, .enumerate = 1});
                    check(c, truth, box, "box", nodes);
                    for (const Index exact : {1, 12}) {
                        Width width({.exact_successors = exact, .nodes = nodes});
                        std::vector<std::uint8_t> witness(9, 0);
                        const WidthBracket found = width.bracket({c.g, p, 9}, witness);
                        ASSERT_GE(static_cast<Real>(found.upper), truth)
                            << c.family << " p " << p << " nodes " << nodes << " exact " << exact
                            << " exponent " << exponent;
                        ASSERT_LE(static_cast<Real>(found.lower), truth * (1 + 1e-13L));
                    }
                    if (HasFatalFailure()) return;
                }
            }
}

/// One long generator an axis and many that rounding swallows; the maximum by hand: the root of the sum over
/// axes of the square of the sum of lengths.
TEST(SignAttack, ManyGeneratorsThatRoundingSwallowsAreStillCounted) {
    constexpr Index n = 3000;
    for (const Index p : {1, 2, 3, 4, 6}) {
        Case c{"swallowed", p, n, std::vector<double>(static_cast<std::size_t>(p * n))};
        std::vector<Real> total(static_cast<std::size_t>(p), 0);
        for (Index j = 0; j < n; ++j) {
            const double length = j < 2 * p ? 0.5 : 0x1.fp-54;
            // In pairs of opposites, so that they also make a width problem.
            c.g[static_cast<std::size_t>(j * p + j / 2 % p)] = j % 2 == 0 ? length : -length;
            total[static_cast<std::size_t>(j / 2 % p)] += length;
        }
        Real square = 0;
        for (const Real x : total) square += x * x;
        const Real truth = std::sqrt(square);
        for (const Index nodes : {0, 20}) {
            check(c, truth, detail::sign_maximum(c.problem(), {.nodes = nodes}), "portfolio", nodes);
            Width width({.nodes = nodes});
            std::vector<std::uint8_t> witness(n, 0);
            ASSERT_GE(static_cast<Real>(width.bracket({c.g, p, n}, witness).upper), truth / 2) << "p " << p;
        }
        if (p == 2) check(c, truth, detail::angular_sweep(c.problem()), "sweep", 0);
        if (HasFatalFailure()) return;
    }
}

// The semidefinite bound is homogeneous: a change of unit by a power of two changes nothing but the unit.
TEST(SignAttack, BracketsScaleWithTheUnit) {
    std::mt19937_64 random(17);
    for (const Index p : {1, 2, 3, 5}) {
        const Case c = make(0, p, 15, random);
        const detail::SignBracket one = detail::sign_maximum(c.problem(), {.nodes = 30});
        for (const int exponent : {-800, -60, 60, 800}) {
            Case other = c;
            for (double& x : other.g) x = std::ldexp(x, exponent);
            const detail::SignBracket scaled = detail::sign_maximum(other.problem(), {.nodes = 30});
            EXPECT_EQ(scaled.upper, std::ldexp(one.upper, exponent));
            EXPECT_EQ(scaled.lower, std::ldexp(one.lower, exponent));
            EXPECT_EQ(scaled.signs, one.signs);
        }
    }
}

TEST(SignAttack, SumsBeyondTheLargestNumberGiveAnInfiniteUpperEndAndAFiniteLowerOne) {
    for (const Index p : {1, 2, 3, 5}) {
        const Case c{"huge", p, 14, std::vector<double>(static_cast<std::size_t>(14 * p), 1.7e308)};
        for (const Index nodes : {0, 10}) {
            const detail::SignBracket signs = detail::sign_maximum(c.problem(), {.nodes = nodes});
            EXPECT_EQ(signs.upper, std::numeric_limits<double>::infinity());
            EXPECT_LE(signs.lower, std::numeric_limits<double>::max());
            EXPECT_EQ(detail::box_maximum(c.problem(), 1, {.nodes = nodes}).upper,
                      std::numeric_limits<double>::infinity());
        }
        // Brought back into range by the box: 14 times 1.7e308 / 1e10, in each of p coordinates.
        const detail::SignBracket small = detail::box_maximum(c.problem(), 1e-10);
        EXPECT_NEAR(small.upper / 1e298, 14 * 1.7 * std::sqrt(static_cast<double>(p)), 1e-4);
    }
}

TEST(SignAttack, GeneratorsThatAreNotFiniteAreRefusedByEveryMethod) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (const Index p : {1, 2, 3, 5})
            for (const Index n : {1, 14}) {
                std::vector<double> g(static_cast<std::size_t>(p * n), 1.0);
                g.back() = bad;
                const detail::SignProblem problem{g, p, n};
                EXPECT_THROW(detail::sign_maximum(problem), InvalidArgument);
                EXPECT_THROW(detail::sign_search(problem, {}), InvalidArgument);
                EXPECT_THROW(detail::box_maximum(problem, 1), InvalidArgument);
                if (p == 2) {
                    EXPECT_THROW(detail::angular_sweep(problem), InvalidArgument);
                }
                if (p == 3) {
                    EXPECT_THROW(detail::cone_search(problem, {}), InvalidArgument);
                }
                for (const Index nodes : {0, 10}) {
                    Width width({.nodes = nodes});
                    std::vector<std::uint8_t> witness(static_cast<std::size_t>(n), 0);
                    EXPECT_THROW(width.bracket({g, p, n}, witness), InvalidArgument);
                }
            }
}

TEST(SignAttack, NothingToMoveInHasNoWidth) {
    Width width;
    std::vector<std::uint8_t> none, one(1, 1);
    EXPECT_EQ(width.bracket({{}, 0, 1}, one).upper, 0);
    EXPECT_EQ(width.bracket({{}, 3, 0}, none).upper, 0);
    const std::vector<double> zeros(45, 0.0);
    for (const Index nodes : {0, 10}) {
        EXPECT_EQ(detail::sign_maximum({zeros, 3, 15}, {.nodes = nodes}).upper, 0);
        EXPECT_EQ(detail::sign_search({zeros, 3, 15}, {.nodes = nodes}).upper, 0);
        EXPECT_EQ(detail::cone_search({zeros, 3, 15}, {.nodes = nodes}).upper, 0);
    }
    EXPECT_THROW(detail::sign_search({{}, 3, 0}, {}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::attack_signs_test
