#include "alidade/certify/total_variance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/learned_models.hpp"

namespace alidade::total_variance_test {
namespace {

// The search over two numbers goes where it is led; a plain grid about its start is not better.
TEST(TotalVariance, IsNoWorseThanAPlainGrid) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const support::RandomSizes sizes{.shape = {6, 3, 8}, .features = 3, .successors = 4};
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed,
                                                             std::pow(10.0, static_cast<double>(seed % 5)));
        const LearnedModel& learned = *knowledge.learned;
        const DeviationTable deviations = DeviationTable::of(learned);
        const detail::DivergenceTable chis(learned, Divergence::chi_square);
        const ErrorRecursion cap = coupling_recursion(learned, deviations);
        const detail::TotalVarianceBound found = detail::total_variance_bound(learned, deviations, chis, cap);
        double leverage = 0, grid = 1e9;
        // The start of the search: the most leverage that a policy collects.
        std::vector<double> collected(6, 0.0);
        for (Step h = 6; h >= 0; --h) {
            std::vector<double> now(6, 0.0);
            for (State s = 0; s < 6; ++s)
                for (Action a = 0; a < 3; ++a)
                    now[at(s)] = std::max(now[at(s)], std::min(4.0, chis.at(h, s * 3 + a)) +
                                                          learned.model().expect(h, s * 3 + a, collected));
            collected = now;
        }
        leverage = learned.model().start().expect(collected);
        const double balance = 7 / (2 * std::sqrt(leverage));
        for (const double growth : {1e-4, 0.03, 0.5})
            for (double scale = 1.0 / 16; scale <= 16; scale *= 2) {
                const double c = scale * balance;
                const ErrorRecursion tried =
                    detail::total_variance_recursion(learned, deviations, chis, cap, {c, growth});
                const Vector first = tried.values.row(0).transpose();
                grid = std::min(grid, learned.model().start().expect({first.data(), 6}) + 49 / (8 * c));
            }
        EXPECT_LE(found.error, grid * (1 + 1e-12)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace alidade::total_variance_test
