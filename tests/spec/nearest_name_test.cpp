#include "alidade/spec/nearest_name.hpp"

#include <gtest/gtest.h>

namespace alidade::nearest_name_test {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("sunday", "saturday"), 3u);
    EXPECT_EQ(edit_distance("state", "states"), 1u);
}

TEST(Suggestion, NamesTheNearestOrNothing) {
    const std::vector<std::string> names{"states", "actions", "seed"};
    EXPECT_EQ(suggestion("state", names), " (did you mean 'states'?)");
    EXPECT_EQ(suggestion("aktions", names), " (did you mean 'actions'?)");
    EXPECT_EQ(suggestion("temperature", names), "");
    EXPECT_EQ(suggestion("", names), "");
    EXPECT_EQ(suggestion("state", {}), "");
}

}  // namespace
}  // namespace alidade::nearest_name_test
