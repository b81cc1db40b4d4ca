#include "alidade/spec/request.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"

namespace alidade::request_test {
namespace {

using Given = std::map<std::string, std::string>;

TEST(Request, IsANameAndWhatFollowsTheQuestionMark) {
    EXPECT_EQ(parse_request("uct", "uct").name, "uct");
    EXPECT_EQ(parse_request("uct", "uct").given, Given{});
    const Request full = parse_request("uct?simulations=20&exploration=1e-3", "");
    EXPECT_EQ(full.name, "uct");
    EXPECT_EQ(full.given, (Given{{"simulations", "20"}, {"exploration", "1e-3"}}));
    EXPECT_EQ(parse_request("a?x=y=z", "").given, (Given{{"x", "y=z"}}));
}

TEST(Request, RefusesPartsThatAreNoAssignments) {
    for (const char* text : {"a?", "a?x", "a?x=", "a?=1", "a?x=1&", "a?x=1&x=2"})
        EXPECT_THROW(parse_request(text, text), InvalidArgument) << text;
}

}  // namespace
}  // namespace alidade::request_test
