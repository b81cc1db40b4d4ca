#include "alidade/problem/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "alidade/error.hpp"

namespace alidade::catalogue_test {
namespace {

std::string refusal(const std::string& uri) {
    try {
        make_builtin(uri);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST(Catalogue, KnowsItsAddresses) {
    EXPECT_TRUE(is_builtin("builtin:garnet"));
    EXPECT_FALSE(is_builtin("garnet"));
    EXPECT_FALSE(is_builtin("problems/warehouse"));
    EXPECT_FALSE(is_builtin(""));
}

TEST(Catalogue, DocumentsEveryFamilyAndParameter) {
    std::set<std::string> names;
    for (const Family& family : families()) {
        EXPECT_TRUE(names.insert(family.name).second) << family.name;
        EXPECT_TRUE(family.summary.ends_with('.')) << family.name;
        bool has_seed = false;
        for (const FamilyParameter& parameter : family.parameters) {
            EXPECT_TRUE(parameter.meaning.ends_with('.')) << family.name << " " << parameter.name;
            EXPECT_FALSE(parameter.default_value.empty()) << family.name << " " << parameter.name;
            if (parameter.kind == ParameterKind::text) {
                EXPECT_FALSE(parameter.choices.empty()) << family.name << " " << parameter.name;
            } else {
                EXPECT_LT(parameter.minimum, parameter.maximum) << family.name << " " << parameter.name;
            }
            has_seed = has_seed || parameter.name == "seed";
        }
        EXPECT_TRUE(has_seed) << family.name;
    }
    EXPECT_EQ(names, (std::set<std::string>{"garnet", "needle", "riverswim", "lock", "chain", "inventory",
                                            "gridworld", "reservoir", "queue", "epidemic", "fishery", "hard",
                                            "hard-simplex", "hard-short", "linear-random", "linear-lock",
                                            "linear-grid"}));
}

TEST(Catalogue, ReadsAnAddress) {
    const Problem problem = make_builtin(
        "builtin:garnet?states=7&actions=3&features=2&horizon=4&successors=5&concentration=1&seed=11");
    EXPECT_EQ(problem.shape(), (Shape{7, 3, 4}));
    EXPECT_EQ(problem.features().features(), 2);
    EXPECT_EQ(problem.features().max_successors(), 5);
}

TEST(Catalogue, DefaultsAreThoseThatAreShown) {
    for (const Family& family : families()) {
        const FamilyParameter& first = family.parameters.front();
        const std::string variant = first.name == "variant" ? first.default_value : "";
        std::string uri = "builtin:" + family.name;
        char separator = '?';
        for (const FamilyParameter& parameter : family.parameters) {
            const auto& variants = parameter.variants;
            const bool taken =
                variants.empty() || std::find(variants.begin(), variants.end(), variant) != variants.end();
            if (!taken || parameter.derived) continue;
            uri += separator + parameter.name + "=" + parameter.default_value;
            separator = '&';
        }
        const Problem spelled = make_builtin(uri), plain = make_builtin("builtin:" + family.name);
        EXPECT_EQ(spelled.shape(), plain.shape()) << uri;
        if (plain.is_linear()) {
            EXPECT_EQ(spelled.pair_features(), plain.pair_features()) << uri;
            EXPECT_EQ(spelled.description().measures, plain.description().measures) << uri;
            continue;
        }
        EXPECT_EQ(spelled.features(), plain.features()) << uri;
        EXPECT_EQ(*spelled.truth(), *plain.truth()) << uri;
    }
}

TEST(Catalogue, RefusesAnUnknownFamilyWithTheNamesThatExist) {
    const std::string message = refusal("builtin:garnte");
    EXPECT_SAYS(message, "'garnte'");
    EXPECT_SAYS(message, "did you mean 'garnet'");
    for (const Family& family : families()) EXPECT_SAYS(message, family.name);
    EXPECT_SAYS(refusal("builtin:"), "families are");
    EXPECT_SAYS(refusal("garnet"), "not the address of a built-in");
}

TEST(Catalogue, RefusesAnUnknownParameterWithTheNamesThatExist) {
    const std::string message = refusal("builtin:garnet?sttes=5");
    EXPECT_SAYS(message, "builtin:garnet has no parameter 'sttes'");
    EXPECT_SAYS(message, "did you mean 'states'");
    for (const char* name :
         {"states", "actions", "features", "horizon", "successors", "concentration", "seed"})
        EXPECT_SAYS(message, name);
    EXPECT_EQ(refusal("builtin:garnet?temperature=5").find("did you mean"), std::string::npos);
}

TEST(Catalogue, RefusesMalformedAddresses) {
    for (const char* query :
         {"?", "?states", "?states=", "?=5", "?states=5&", "?&states=5", "?states=5&&seed=1"})
        EXPECT_SAYS(refusal(std::string("builtin:garnet") + query), "not of the form parameter=value");
    EXPECT_SAYS(refusal("builtin:garnet?states=9&seed=2&states=9"), "'states' is given twice");
}

TEST(Catalogue, RefusesBadNumbersWithTheRange) {
    for (const char* value :
         {"0", "-3", "1000001", "5.5", "five", "5x", " 5", "+5", "1e2", "99999999999999999999"}) {
        const std::string message = refusal(std::string("builtin:garnet?states=") + value);
        EXPECT_SAYS(message, "'states'");
        EXPECT_SAYS(message, std::string("'") + value + "'");
        EXPECT_SAYS(message, "an integer from 1 to 1000000");
    }
    for (const char* value : {"0", "-1", "nan", "inf", "0.3x", "1001", "."})
        EXPECT_SAYS(refusal(std::string("builtin:garnet?concentration=") + value),
                    "a number from 0.001 to 1000");
    EXPECT_EQ(refusal("builtin:chain?seed=9007199254740991"), "");
    EXPECT_SAYS(refusal("builtin:chain?seed=9007199254740992"), "from 0 to 9007199254740991");
    EXPECT_SAYS(refusal("builtin:chain?seed=9007199254740993"), "'seed'");
    EXPECT_SAYS(refusal("builtin:inventory?orders=0,,4"), "separated by commas");
    EXPECT_SAYS(refusal("builtin:inventory?orders=0,-1"), "contains '-1'");
    EXPECT_SAYS(refusal("builtin:lock?variant=depp"), "did you mean 'deep'");
}

TEST(Catalogue, RefusesValuesThatDoNotFitEachOther) {
    EXPECT_SAYS(refusal("builtin:garnet?states=5&successors=6"), "at most the number of states, 5");
    EXPECT_SAYS(refusal("builtin:needle?states=5&successors=6"), "builtin:needle");
    EXPECT_SAYS(refusal("builtin:lock?variant=reset&length=3&features=4"), "at most the length, 3");
    EXPECT_SAYS(refusal("builtin:inventory?capacity=5&start=6"), "at most the capacity, 5");
    EXPECT_SAYS(refusal("builtin:inventory?orders=4,0"), "ascending");
    EXPECT_SAYS(refusal("builtin:inventory?orders=4,4"), "ascending and distinct");
    EXPECT_SAYS(refusal("builtin:gridworld?width=1&height=1"), "no move");
    EXPECT_SAYS(refusal("builtin:queue?lines=5&start=6"), "at most the number of lines, 5");
    EXPECT_SAYS(refusal("builtin:queue?agents=4,2"), "ascending");
    EXPECT_SAYS(refusal("builtin:fishery?capacity=5&start=6"), "at most the capacity, 5");
    EXPECT_SAYS(refusal("builtin:fishery?quotas=2,2"), "ascending and distinct");
}

TEST(Catalogue, RefusesProblemsThatWouldFillTheMemory) {
    EXPECT_SAYS(refusal("builtin:garnet?states=1000000&actions=1000&features=1000"), "8e+12 numbers");
    EXPECT_SAYS(refusal("builtin:needle?states=1000000&actions=1000"), "numbers");
    EXPECT_SAYS(refusal("builtin:lock?outcomes=1000000"), "numbers");
}

TEST(Catalogue, RefusesParametersThatTheVariantDoesNotTake) {
    EXPECT_SAYS(refusal("builtin:riverswim?variant=halves&features=4"), "variant 'halves' does not take");
    EXPECT_SAYS(refusal("builtin:riverswim?variant=halves&features=4"), "only random does");
    EXPECT_SAYS(refusal("builtin:lock?horizon=9"), "only deep or reset does");
    EXPECT_SAYS(refusal("builtin:lock?variant=end&horizon=9"), "its parameters are variant, length, actions");
    EXPECT_SAYS(refusal("builtin:lock?variant=deep&outcomes=2"), "'outcomes'");
    EXPECT_SAYS(refusal("builtin:lock?variant=deep&features=3"), "only end or reset does");
    EXPECT_SAYS(refusal("builtin:lock?variant=reset&outcomes=2"), "only end does");
}

}  // namespace
}  // namespace alidade::catalogue_test
