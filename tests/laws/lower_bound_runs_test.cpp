#include <gtest/gtest.h>

#include "support/effort.hpp"
#include "support/lower_bound_runs.hpp"

namespace alidade::lower_bound_runs_test {
namespace {

using support::LowerBoundCase;

const std::vector<LowerBoundCase> cases{{"hard", "hoeffding", 4, 6, 96},
                                        {"hard", "bernstein", 4, 6, 96},
                                        {"hard-simplex", "likelihood", 4, 6, 96},
                                        {"hard-short", "hoeffding", 4, 6, 96}};

// T26 with numbers: after the n episodes that an instance is made for, nobody has learned it. The mean loss
// over signs is at least what is proved for every algorithm (0.140 on the line, 0.078 in three states), so
// the mean over 50 draws is five of its standard errors below that with a probability of 3e-7. On the line
// runs lose 0.176 to 0.189 with a standard error of 0.008: a tenth of the largest loss, 0.106, is nine below.
TEST(LowerBound, InstancesAreNotLearnedByTheirEpisodes) {
    const int draws = support::repetitions(50);
    for (const LowerBoundCase& each : cases) {
        const support::LowerBoundMeans means = support::explore_draws(each, draws);
        const double largest = support::largest_loss(each);
        EXPECT_LE(means.loss, largest);
        EXPECT_LE(std::max(means.loss, means.best_loss), means.certificate);
        EXPECT_EQ(means.above, 0);
        if (draws < 50) continue;  // too few to tell
        EXPECT_GE(means.loss + 5 * means.deviation, support::proved_mean_loss(each))
            << each.family << ", " << each.algorithm;
        if (!each.is_short()) {
            EXPECT_GE(means.loss, 0.1 * largest) << each.family << ", " << each.algorithm;
        }
    }
}

}  // namespace
}  // namespace alidade::lower_bound_runs_test
