#include "alidade/report/names.hpp"

#include <gtest/gtest.h>

#include "alidade/problem/catalogue.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing::report_names {
namespace {

using namespace alidade::report::detail;

TEST(ReportNames, AreCutBetweenCharacters) {
    EXPECT_EQ(shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
    EXPECT_EQ(shortened("ääääää", 4), "äää…");
    EXPECT_EQ(shortened("🚚🚚🚚", 2), "🚚…");
    EXPECT_EQ(shortened("", 3), "");
}

TEST(ReportNames, AreToldApart) {
    EXPECT_EQ(distinct({"a", "b", "a", "a"}), (std::vector<std::string>{"a", "b", "a (2)", "a (3)"}));
}

TEST(ReportNames, OfTenThousandCharactersAreShortAndNumbered) {
    ProblemDescription parts = small_description();
    const auto states = static_cast<std::size_t>(Problem(parts).shape().states);
    parts.state_names.assign(states, "");
    for (std::size_t s = 0; s < states; ++s)
        parts.state_names[s] = std::string(10'000, 'x') + std::to_string(s);
    const Problem problem(parts);
    const Names names = names_of(problem);
    EXPECT_LT(names.state(1).size(), 80U);
    EXPECT_NE(names.state(0), names.state(1));
}

TEST(ReportNames, OfCellsMakeAGrid) {
    const Problem walk = make_builtin("builtin:gridworld?width=3&height=2&seed=1");
    const Names names = names_of(walk);
    ASSERT_TRUE(names.grid);
    EXPECT_EQ(names.grid->columns, 3);
    EXPECT_EQ(names.grid->rows, 2);
    // Row by row from the bottom, as the family numbers them.
    EXPECT_EQ(names.grid->column[4], 1);
    EXPECT_EQ(names.grid->row[4], 1);
    EXPECT_EQ(names.arrows, (std::vector<std::string>{"↑", "→", "↓", "←"}));
    EXPECT_FALSE(names_of(make_builtin("builtin:inventory")).grid);
}

}  // namespace
}  // namespace alidade::testing::report_names
