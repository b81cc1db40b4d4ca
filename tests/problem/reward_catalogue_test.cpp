#include "alidade/problem/reward_catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "alidade/error.hpp"

namespace alidade::reward_catalogue_test {
namespace {

std::string refusal(const Problem& problem, const std::string& address) {
    try {
        make_reward(problem, address);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

Problem small() {
    return make_builtin("builtin:garnet?states=7&actions=3&horizon=4&successors=3");
}

/// How many (step, state, action) pay exactly `value`.
Index count(const Reward& reward, double value) {
    Index found = 0;
    for (Step h = 0; h < reward.shape().horizon; ++h)
        for (const double r : reward.at(h)) found += r == value ? 1 : 0;
    return found;
}

const NamedReward& natural(const Problem& problem, const std::string& name) {
    for (const NamedReward& own : problem.rewards())
        if (own.name == name) return own;
    throw InvalidArgument("no reward " + name);
}

TEST(RewardCatalogue, EveryFamilyHasANaturalRewardWithAMeaning) {
    for (const Family& family : families()) {
        const Problem problem = make_builtin("builtin:" + family.name);
        EXPECT_FALSE(problem.rewards().empty()) << family.name;
        for (const NamedReward& own : problem.rewards()) {
            EXPECT_TRUE(own.meaning.ends_with('.')) << family.name << " " << own.name;
            EXPECT_TRUE(names_reward(problem, own.name));
            EXPECT_EQ(make_reward(problem, own.name), own.reward) << family.name << " " << own.name;
            // A reward that is the same everywhere asks for nothing.
            const auto [least, most] = std::ranges::minmax(own.reward.values());
            EXPECT_LT(least, most) << family.name << " " << own.name;
        }
    }
}

TEST(RewardCatalogue, DocumentsEveryKindAndItsParameters) {
    std::set<std::string> names;
    for (const RewardKind& kind : reward_kinds()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
        EXPECT_TRUE(kind.meaning.ends_with('.')) << kind.name;
        for (const FamilyParameter& parameter : kind.parameters) {
            EXPECT_TRUE(parameter.meaning.ends_with('.')) << kind.name << " " << parameter.name;
            EXPECT_LT(parameter.minimum, parameter.maximum) << kind.name << " " << parameter.name;
        }
    }
    EXPECT_EQ(names, (std::set<std::string>{"dense", "binary", "sparse", "single-state", "reach"}));
}

TEST(RewardCatalogue, KindsAreWhatTheySay) {
    const Problem problem = make_builtin("builtin:garnet?states=40&actions=5&horizon=20");
    const Shape& shape = problem.shape();
    const auto size = static_cast<double>(shape.horizon * shape.pairs());
    // 4000 draws: five standard deviations are 0.04 for a fair coin and for the mean of uniforms less.
    const Reward binary = make_reward(problem, "binary");
    EXPECT_EQ(count(binary, 0) + count(binary, 1), shape.horizon * shape.pairs());
    EXPECT_NEAR(static_cast<double>(count(binary, 1)) / size, 0.5, 0.04);
    const Reward dense = make_reward(problem, "dense");
    double sum = 0;
    for (const double r : dense.values()) sum += r;
    EXPECT_NEAR(sum / size, 0.5, 0.04);
    EXPECT_LE(count(dense, 0) + count(dense, 1), 1);
    const Reward sparse = make_reward(problem, "sparse"), half = make_reward(problem, "sparse?density=0.5");
    EXPECT_NEAR(static_cast<double>(count(sparse, 1)) / size, 0.05, 0.018);
    EXPECT_NEAR(static_cast<double>(count(half, 1)) / size, 0.5, 0.04);
    EXPECT_EQ(count(make_reward(problem, "sparse?density=0"), 1), 0);
    EXPECT_EQ(count(make_reward(problem, "sparse?density=1"), 0), 0);
}

TEST(RewardCatalogue, OneStatePaysAlwaysOrAtTheEnd) {
    const Problem problem = small();
    const Reward single = make_reward(problem, "single-state?state=5"),
                 reach = make_reward(problem, "reach?state=5");
    for (Step h = 0; h < 4; ++h)
        for (State s = 0; s < 7; ++s)
            for (Action a = 0; a < 3; ++a) {
                EXPECT_EQ(single.at(h, s, a), s == 5 ? 1 : 0);
                EXPECT_EQ(reach.at(h, s, a), s == 5 && h == 3 ? 1 : 0);
            }
    std::set<std::vector<double>> drawn;
    for (int seed = 0; seed < 40; ++seed) {
        const Reward reward = make_reward(problem, "single-state?seed=" + std::to_string(seed));
        EXPECT_EQ(count(reward, 1), 4 * 3);
        drawn.insert(reward.values());
    }
    EXPECT_EQ(drawn.size(), 7u);
}

TEST(RewardCatalogue, TheAddressDecides) {
    const Problem problem = small();
    for (const char* kind : {"dense", "binary", "sparse"}) {
        const std::string name = kind;
        EXPECT_EQ(make_reward(problem, name), make_reward(problem, name + "?seed=1"));
        EXPECT_NE(make_reward(problem, name), make_reward(problem, name + "?seed=2"));
    }
    EXPECT_TRUE(names_reward(problem, "dense"));
    EXPECT_TRUE(names_reward(problem, "dense?seed=2"));
    EXPECT_FALSE(names_reward(problem, "dense.json"));
    EXPECT_FALSE(names_reward(problem, "goal"));
}

TEST(RewardCatalogue, ARewardOfTheProblemHidesAKind) {
    ProblemDescription parts = small().description();
    parts.rewards = {{"dense", "Nothing.", Reward::constant({7, 3, 4}, 0)}};
    const Problem problem(std::move(parts));
    EXPECT_EQ(make_reward(problem, "dense"), Reward::constant({7, 3, 4}, 0));
    EXPECT_SAYS(refusal(problem, "dense?seed=2"), "takes no parameter");
}

TEST(RewardCatalogue, RefusesWhatIsWrongWithTheNamesThatExist) {
    const Problem problem = small();
    const std::string unknown = refusal(problem, "dence");
    EXPECT_SAYS(unknown, "no reward 'dence'");
    EXPECT_SAYS(unknown, "did you mean 'dense'");
    for (const char* name : {"target", "sparse", "single-state", "reach"}) EXPECT_SAYS(unknown, name);
    EXPECT_SAYS(refusal(problem, "dense?sed=1"), "reward dense has no parameter 'sed'");
    EXPECT_SAYS(refusal(problem, "dense?seed=-1"), "'seed' is '-1'");
    EXPECT_SAYS(refusal(problem, "sparse?density=1.5"), "a number from 0 to 1");
    EXPECT_SAYS(refusal(problem, "sparse?"), "not of the form parameter=value");
    EXPECT_SAYS(refusal(problem, "sparse?seed=1&seed=2"), "given twice");
    EXPECT_SAYS(refusal(problem, "reach?state=7"), "there is no state 7; the problem has 7");
}

TEST(NaturalRewards, OfLocksPayWhatTheySay) {
    const Problem end = make_builtin("builtin:lock?length=3&actions=2&outcomes=2");
    const Reward& open = natural(end, "open").reward;
    const Reward& opened = natural(end, "opened").reward;
    for (State s = 0; s < end.shape().states; ++s) {
        EXPECT_EQ(open.at(0, s, 1), end.state_name(s) == "end 1" ? 1 : 0) << s;
        EXPECT_EQ(opened.at(3, s, 0), end.state_name(s).starts_with("end") ? 1 : 0) << s;
    }
    const Problem deep = make_builtin("builtin:lock?variant=deep");
    for (State s = 0; s < deep.shape().states; ++s) {
        EXPECT_EQ(natural(deep, "open").reward.at(0, s, 0), deep.state_name(s) == "end 1" ? 1 : 0);
        EXPECT_EQ(natural(deep, "opened").reward.at(0, s, 2), deep.state_name(s).starts_with("end") ? 1 : 0);
        EXPECT_EQ(natural(deep, "alive").reward.at(0, s, 0), deep.state_name(s) == "sink" ? 0 : 1);
    }
    const Problem reset = make_builtin("builtin:lock?variant=reset");
    for (State s = 0; s < 6; ++s) EXPECT_EQ(natural(reset, "open").reward.at(0, s, 0), s == 5 ? 1 : 0);
}

TEST(NaturalRewards, OfLinesAndGarnetsPayWhatTheySay) {
    const Problem river = make_builtin("builtin:riverswim?length=5");
    for (State s = 0; s < 5; ++s)
        EXPECT_DOUBLE_EQ(natural(river, "upstream").reward.at(0, s, 1), 0.25 * static_cast<double>(s));
    const Problem chain = make_builtin("builtin:chain");
    for (State s = 0; s < 6; ++s) EXPECT_EQ(natural(chain, "right-end").reward.at(0, s, 0), s == 5 ? 1 : 0);
    for (State s = 0; s < 7; ++s) EXPECT_EQ(natural(small(), "target").reward.at(0, s, 2), s == 6 ? 1 : 0);
    EXPECT_EQ(small().rewards().size(), 1u);
}

TEST(NaturalRewards, OfANeedlePayWhereTheBaseModelsDiffer) {
    const Problem problem = make_builtin("builtin:needle?states=12&fraction=0.1");
    const Reward& reward = natural(problem, "informative").reward;
    const FeatureMap& features = problem.features();
    for (State s = 0; s < 12; ++s)
        for (Action a = 0; a < 4; ++a) {
            double spread = 0;
            for (Index e = features.first_entry(features.pair(s, a));
                 e < features.first_entry(features.pair(s, a) + 1); ++e) {
                const auto [least, most] = std::ranges::minmax(features.phi(e));
                spread = std::max(spread, most - least);
            }
            EXPECT_EQ(reward.at(0, s, a), spread > 0 ? 1 : 0) << s << " " << a;
        }
}

}  // namespace
}  // namespace alidade::reward_catalogue_test
