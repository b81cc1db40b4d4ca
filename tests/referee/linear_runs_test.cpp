#include <gtest/gtest.h>

#include <map>
#include <random>

#include "linear_cases.hpp"
#include "support/effort.hpp"

namespace alidade::referee_linear_runs_test {
namespace {

/// Confirms a run, and that none of its numbers is larger than the formulas make it, but for what rounding
/// may have done to sums over many episodes.
void expect_confirmed(const referee::Case& given, const std::string& what) {
    const auto findings = referee::examine(given);
    EXPECT_TRUE(referee::all_confirmed(findings)) << what << "\n" << referee_cases::complaints(findings);
    for (const referee::Finding& each : findings)
        if (each.found) {
            EXPECT_LE(*each.reported, *each.found * (1 + 1e-4) + 1e-6) << each.what << " of " << what;
        }
}

/// A linear MDP, or a mixture as one: its kind and sizes from the seed.
Problem random_problem(std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto from = [&](unsigned least, unsigned most) {
        return std::to_string(least + random() % (most - least + 1));
    };
    const std::string sizes = "?states=" + from(3, 8) + "&actions=" + from(1, 3) + "&horizon=" + from(1, 6) +
                              "&seed=" + std::to_string(seed);
    switch (seed % 6) {
        case 0:
            return make_builtin("builtin:linear-lock" + sizes + "&features=" + from(2, 5));
        case 1:
            return referee_cases::made_homogeneous(
                make_builtin("builtin:linear-random" + sizes + "&features=" + from(1, 4)));
        case 2:
            return referee_cases::with_start(
                make_builtin("builtin:linear-random" + sizes + "&features=" + from(1, 4)),
                {{0, 0.25}, {2, 0.75}});
        case 3:  // not every state can follow
            return one_hot_linear(
                make_builtin("builtin:garnet" + sizes + "&features=2&successors=" + from(1, 3)));
        case 4:
            return referee_cases::with_half_features(
                make_builtin("builtin:linear-random" + sizes + "&features=" + from(1, 4)));
        default:
            return make_builtin("builtin:linear-random" + sizes + "&features=" + from(1, 6));
    }
}

TEST(RefereeOnLinearRuns, AgreesWithEveryCertificate) {
    std::map<std::string, int> methods;
    const char* const algorithms[] = {"lsvi", "lsvi?bonus=wang", "lsvi?bonus=none", "lsvi", "lsvi"};
    const char* const confidence[] = {"", "", "", "linear?constants=paper",
                                      "linear?constants=paper&scale=0.1&precision=0.5"};
    const std::int64_t episodes[] = {1, 10, 100, 1000, 10000, 300000, 100000000};
    const auto runs = static_cast<std::uint64_t>(support::repetitions(210));
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        const referee::Case given = referee_cases::explored(random_problem(seed), algorithms[seed % 5],
                                                            confidence[seed % 5], episodes[seed % 7], seed);
        expect_confirmed(given, std::to_string(seed));
        ++methods[given.method];
    }
    if (runs < 210) return;
    EXPECT_GE(methods["coupling"], 5);
    EXPECT_GE(methods["span"], 5);
}

TEST(RefereeOnLinearRuns, AgreesOnEveryFamilyWithItsOwnSizes) {
    for (const char* family : {"builtin:linear-random", "builtin:linear-lock", "builtin:linear-grid",
                               "builtin:linear-grid?width=5&height=1", "builtin:linear-random?horizon=1"})
        for (const std::int64_t episodes : {300, 30'000'000})
            expect_confirmed(referee_cases::explored(make_builtin(family), "lsvi", "", episodes, 7), family);
}

// Successors that one step has and another has not, a start that is a law, one set for all steps.
TEST(RefereeOnLinearRuns, AgreesWhereFewStatesCanFollow) {
    const Problem chain = one_hot_linear(make_builtin("builtin:chain?states=5&horizon=6"));
    const Problem lock = one_hot_linear(make_builtin("builtin:lock"));
    for (const std::int64_t episodes : {50, 5'000, 50'000'000}) {
        expect_confirmed(referee_cases::explored(referee_cases::funnel(), "lsvi", "", episodes, 1), "funnel");
        expect_confirmed(referee_cases::explored(chain, "lsvi", "", episodes, 1), "chain");
        expect_confirmed(referee_cases::explored(lock, "lsvi", "", episodes, 1), "lock");
        expect_confirmed(referee_cases::explored(referee_cases::with_start(chain, {{0, 0.5}, {3, 0.5}}),
                                                 "lsvi", "", episodes, 2),
                         "chain with a start law");
        expect_confirmed(
            referee_cases::explored(referee_cases::made_homogeneous(chain), "lsvi", "", episodes, 3),
            "homogeneous chain");
    }
}

}  // namespace
}  // namespace alidade::referee_linear_runs_test
