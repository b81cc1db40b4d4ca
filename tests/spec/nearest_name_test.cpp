#include "alidade/spec/nearest_name.hpp"

#include <gtest/gtest.h>

namespace alidade::nearest_name_test {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
    EXPECT_EQ(detail::edit_distance("", ""), 0u);
    EXPECT_EQ(detail::edit_distance("", "abc"), 3u);
    EXPECT_EQ(detail::edit_distance("abc", ""), 3u);
    EXPECT_EQ(detail::edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(detail::edit_distance("sunday", "saturday"), 3u);
    EXPECT_EQ(detail::edit_distance("state", "states"), 1u);
}

TEST(Suggestion, NamesTheNearestOrNothing) {
    const std::vector<std::string> names{"states", "actions", "seed"};
    EXPECT_EQ(detail::suggestion("state", names), " (did you mean 'states'?)");
    EXPECT_EQ(detail::suggestion("aktions", names), " (did you mean 'actions'?)");
    EXPECT_EQ(detail::suggestion("temperature", names), "");
    EXPECT_EQ(detail::suggestion("", names), "");
    EXPECT_EQ(detail::suggestion("state", {}), "");
}

}  // namespace
}  // namespace alidade::nearest_name_test
