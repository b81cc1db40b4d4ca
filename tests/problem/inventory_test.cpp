#include <gtest/gtest.h>

#include <cmath>

#include "alidade/problem/catalogue.hpp"
#include "problem/rows.hpp"

namespace alidade::inventory_test {
namespace {

TEST(Inventory, SmallWarehouseMatchesTheHandCalculation) {
    // Demand 0, 1, 2 with weights: Poisson(3) 1, 3, 9/2; Poisson(9) 1, 9, 81/2; geometric 1, .8, .64.
    const Problem problem = make_builtin("builtin:inventory?capacity=2&orders=0,1");
    const double quiet = 8.5, busy = 50.5, geometric = 2.44;
    const Action nothing = 0, one = 1;
    // Empty shelf: stays empty whatever the demand.
    for (Index base = 0; base < 4; ++base)
        EXPECT_LE(distance(base_row(problem, base, 0, nothing), {{0, 1}}), 1e-15);
    // One unit on the shelf: gone unless the demand is 0.
    const Row shelf_one{{0, 7.5 / quiet}, {1, 1 / quiet}};
    EXPECT_LE(distance(base_row(problem, 0, 0, one), shelf_one), 1e-15);
    EXPECT_LE(distance(base_row(problem, 0, 1, nothing), shelf_one), 1e-15);
    // Two units, ordered up or cut at the capacity.
    const Row shelf_two{{0, 40.5 / busy}, {1, 9 / busy}, {2, 1 / busy}};
    EXPECT_LE(distance(base_row(problem, 1, 1, one), shelf_two), 1e-15);
    EXPECT_LE(distance(base_row(problem, 1, 2, nothing), shelf_two), 1e-15);
    EXPECT_LE(distance(base_row(problem, 1, 2, one), shelf_two), 1e-15);
    EXPECT_LE(distance(base_row(problem, 2, 2, one),
                       {{0, .64 / geometric}, {1, .8 / geometric}, {2, 1 / geometric}}),
              1e-15);
}

TEST(Inventory, BurstyDemandHasTwoPeaks) {
    // From a full shelf of 20 the next stock is 20 - k: ratios of p(k) = exp(-((k-14)/2)^2/2) +
    // 0.6 exp(-(k-2)^2/2) do not depend on the normalisation.
    const Row row = base_row(make_builtin("builtin:inventory"), 3, 20, 0);
    const double at_14 = 1 + 0.6 * std::exp(-72.0);
    const double at_2 = std::exp(-18.0) + 0.6;
    const double at_8 = std::exp(-4.5) + 0.6 * std::exp(-18.0);
    EXPECT_NEAR(row.at(18) / row.at(6), at_2 / at_14, 1e-13);
    EXPECT_NEAR(row.at(12) / row.at(6), at_8 / at_14, 1e-13);
}

TEST(Inventory, PoissonAndGeometricRatiosAreThoseOfTheirLaws) {
    const Problem problem = make_builtin("builtin:inventory");
    const Row quiet = base_row(problem, 0, 20, 0), busy = base_row(problem, 1, 20, 0),
              geometric = base_row(problem, 2, 20, 0);
    EXPECT_NEAR(quiet.at(15) / quiet.at(20), 243.0 / 120, 1e-13);           // 3^5 / 5!
    EXPECT_NEAR(busy.at(16) / busy.at(20), 6561.0 / 24, 1e-10);             // 9^4 / 4!
    EXPECT_NEAR(geometric.at(10) / geometric.at(20), 0.1073741824, 1e-14);  // 0.8^10
}

TEST(Inventory, NamesStatesActionsAndBaseModels) {
    const Problem problem = make_builtin("builtin:inventory");
    EXPECT_EQ(problem.state_name(3), "stock 3");
    EXPECT_EQ(problem.action_name(1), "order 4");
    EXPECT_EQ(problem.features().names(),
              (std::vector<std::string>{"steady", "busy", "geometric", "bursty"}));
}

TEST(Inventory, RewardsFollowTheirFormulas) {
    const Problem problem = make_builtin("builtin:inventory?capacity=2&orders=0,1");
    ASSERT_EQ(problem.rewards().size(), 3u);
    EXPECT_EQ(problem.rewards()[0].name, "service-level");
    EXPECT_EQ(problem.rewards()[1].name, "holding-cost");
    EXPECT_EQ(problem.rewards()[2].name, "balanced");
    const Reward& service = problem.rewards()[0].reward;
    const Reward& room = problem.rewards()[1].reward;
    const Reward& balanced = problem.rewards()[2].reward;
    // Demand weights of the bursty law for 0, 1, 2.
    const double b0 = std::exp(-24.5) + 0.6 * std::exp(-2.0), b1 = std::exp(-21.125) + 0.6 * std::exp(-0.5),
                 b2 = std::exp(-18.0) + 0.6;
    const double met = (4 / 8.5 + 10 / 50.5 + 1.8 / 2.44 + (b0 + b1) / (b0 + b1 + b2)) / 4;
    EXPECT_NEAR(service.at(0, 0, 1), met, 1e-14);  // one unit on the shelf
    EXPECT_NEAR(service.at(0, 1, 1), 1, 1e-14);    // two units meet every demand
    EXPECT_DOUBLE_EQ(room.at(0, 0, 0), 1);
    EXPECT_DOUBLE_EQ(room.at(0, 0, 1), 0.5);
    EXPECT_DOUBLE_EQ(room.at(0, 2, 1), 0);
    EXPECT_NEAR(balanced.at(0, 0, 1), (2 * met + 0.5) / 4, 1e-14);
    EXPECT_NEAR(balanced.at(0, 2, 0), (2 + 0 + 1) / 4.0, 1e-14);  // a full shelf and no order
}

TEST(Inventory, LargeWarehouseHasDistributionsDespiteUnderflow) {
    const Problem problem = make_builtin("builtin:inventory?capacity=400&orders=0,400&horizon=2");
    for (Index base = 0; base < 4; ++base) {
        double sum = 0;
        for (const auto& [state, chance] : base_row(problem, base, 0, 1)) sum += chance;
        EXPECT_NEAR(sum, 1, 1e-12);
    }
}

}  // namespace
}  // namespace alidade::inventory_test
