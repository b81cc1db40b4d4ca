#include "alidade/estimate/linear_statistics.hpp"

#include <gtest/gtest.h>

#include "alidade/problem/problem.hpp"
#include "support/small_problem.hpp"

namespace alidade::linear_statistics_test {
namespace {

// Against a plain sum over episodes.
TEST(LinearStatistics, AreSumsOverTransitions) {
    const Problem problem(testing::linear_description());
    const PairFeatures& features = problem.pair_features();
    Counts counts(problem.shared_successors(), 3);
    const std::vector<std::vector<Index>> episodes = {{0, 0, 2, 0, 1}, {2, 1, 0, 0, 0}, {0, 0, 1, 1, 1}};
    for (const bool pooled : {false, true}) {
        std::vector<Matrix> gram(2, Matrix::Zero(2, 2)), arrivals(2, Matrix::Zero(2, 3));
        counts.clear();
        for (const auto& e : episodes) {  // s0 a0 s1 a1 s2
            counts.add(std::vector<State>{e[0], e[2], e[4]}, std::vector<Action>{e[1], e[3]});
            for (std::size_t h = 0; h < 2; ++h) {
                const std::size_t set = pooled ? 0 : h;
                const auto phi = features.phi(features.pair(e[2 * h], e[2 * h + 1]));
                gram[set] += phi * phi.transpose();
                arrivals[set].col(e[2 * h + 2]) += phi;
            }
        }
        const auto found = detail::linear_statistics(features, counts, pooled);
        ASSERT_EQ(found.size(), pooled ? 1U : 2U);
        for (std::size_t k = 0; k < found.size(); ++k) {
            const Matrix whole = found[k].rows.gram.selfadjointView<Eigen::Lower>();
            EXPECT_NEAR((whole - gram[k]).norm(), 0, 1e-14);
            EXPECT_NEAR((found[k].arrivals - arrivals[k]).norm(), 0, 1e-14);
            EXPECT_EQ(found[k].rows.observations, pooled ? 6 : 3);
            EXPECT_GT(found[k].rounding, 0);
            EXPECT_LT(found[k].rounding, 1e-13);
        }
    }
    EXPECT_TRUE(detail::linear_statistics(features, Counts(problem.shared_successors(), 1), false).empty());
}

}  // namespace
}  // namespace alidade::linear_statistics_test
