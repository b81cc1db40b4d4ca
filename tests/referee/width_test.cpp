#include "alidade/referee/width.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace alidade::referee_width_test {
namespace {

using referee::detail::Numbers;
using referee::detail::Real;

/// m vectors of length p that sum to zero; every third is a multiple of the one before.
std::vector<Numbers> generators(std::size_t m, std::size_t p, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Numbers> all(m, Numbers(p, 0));
    Numbers sum(p, 0);
    for (std::size_t j = 0; j + 1 < m; ++j)
        for (std::size_t k = 0; k < p; ++k) {
            all[j][k] = j % 3 == 2
                            ? -2 * all[j - 1][k]
                            : static_cast<Real>(random()) / static_cast<Real>(std::mt19937::max()) - 0.5L;
            sum[k] += all[j][k];
        }
    for (std::size_t k = 0; k < p; ++k) all[m - 1][k] = -sum[k];
    return all;
}

/// Every V, one after the other.
Real brute_force(const std::vector<Numbers>& all) {
    Real largest = 0;
    for (std::size_t V = 0; V < (std::size_t{1} << all.size()); ++V) {
        Numbers sum(all.front().size(), 0);
        for (std::size_t j = 0; j < all.size(); ++j)
            if (((V >> j) & 1U) != 0)
                for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += all[j][k];
        largest = std::max(largest, referee::detail::norm(sum));
    }
    return largest;
}

TEST(RefereeWidth, IsTheLargestOfAllVertices) {
    for (std::size_t p = 1; p <= 4; ++p)
        for (std::size_t m = 2; m <= 10; ++m) {
            const auto all = generators(m, p, static_cast<unsigned>(10 * m + p));
            const referee::detail::Width width = referee::detail::width_of(all);
            EXPECT_TRUE(width.exact);
            EXPECT_NEAR(static_cast<double>(width.upper), static_cast<double>(brute_force(all)), 1e-12);
        }
}

// Beyond 18 successors all cells of directions are listed: 19 can still be tried one by one.
TEST(RefereeWidth, OfManySuccessorsIsTheLargestOverAllCells) {
    for (std::size_t p = 1; p <= 3; ++p) {
        const auto all = generators(19, p, static_cast<unsigned>(p));
        const referee::detail::Width width = referee::detail::width_of(all);
        EXPECT_TRUE(width.exact) << p;
        EXPECT_NEAR(static_cast<double>(width.upper), static_cast<double>(brute_force(all)), 1e-12) << p;
    }
}

TEST(RefereeWidth, SaysWhereItIsOnlyAnUpperBound) {
    const auto all = generators(19, 8, 3);
    const referee::detail::Width width = referee::detail::width_of(all);
    EXPECT_FALSE(width.exact);
    EXPECT_GE(width.upper, brute_force(all));
    // Vectors on a line in a plane span no plane.
    std::vector<Numbers> line(20, Numbers{1, 1});
    for (std::size_t j = 0; j < 10; ++j) line[j] = {-1, -1};
    EXPECT_GE(referee::detail::width_of(line).upper, 10 * std::sqrt(2.0L) - 1e-12L);
}

}  // namespace
}  // namespace alidade::referee_width_test
