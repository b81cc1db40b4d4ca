#include "alidade/spec/request.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"

namespace alidade::arguments_test {
namespace {

TEST(RequestArguments, TellsWhatWasGivenFromWhatWasNot) {
    std::vector<RequestParameter> parameters(2);
    parameters[0].name = "a";
    parameters[0].default_value = "2";
    parameters[0].maximum = 9;
    parameters[1] = parameters[0];
    parameters[1].name = "b";
    parameters[1].derived = true;
    const RequestArguments plain("f", parameters, {});
    EXPECT_FALSE(plain.given("a"));
    EXPECT_EQ(plain.integer("a"), 2);
    EXPECT_EQ(plain.integer_or("b", 7), 7);
    EXPECT_THROW(plain.integer("b"), BrokenInvariant);
    EXPECT_THROW(plain.integer("c"), BrokenInvariant);
    const RequestArguments full("f", parameters, {{"a", "4"}, {"b", "5"}});
    EXPECT_TRUE(full.given("a"));
    EXPECT_EQ(full.integer("a"), 4);
    EXPECT_EQ(full.integer_or("b", 7), 5);
}

TEST(RequestArguments, RefusalsStartWithWhatWasAskedFor) {
    std::vector<RequestParameter> parameters(1);
    parameters[0].name = "depth";
    parameters[0].default_value = "2";
    parameters[0].minimum = 1;
    parameters[0].maximum = 9;
    const auto refusal = [&](const std::map<std::string, std::string>& given) -> std::string {
        try {
            RequestArguments("planner rollout", parameters, given);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_TRUE(refusal({{"depth", "0"}}).starts_with("planner rollout: parameter 'depth' is '0'"));
    EXPECT_TRUE(
        refusal({{"dept", "3"}}).starts_with("planner rollout has no parameter 'dept' (did you mean"));
    EXPECT_EQ(refusal({{"depth", "9"}}), "accepted");
    parameters.clear();
    EXPECT_EQ(refusal({{"depth", "9"}}), "planner rollout has no parameter 'depth'; it takes none");
}

}  // namespace
}  // namespace alidade::arguments_test
