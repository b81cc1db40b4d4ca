#include <gtest/gtest.h>

#include <map>
#include <random>

#include "small_cases.hpp"
#include "support/effort.hpp"

namespace alidade::referee_random_runs_test {
namespace {

/// A small garnet; sizes from the seed.
std::string random_problem(std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto from = [&](unsigned least, unsigned most) {
        return std::to_string(least + random() % (most - least + 1));
    };
    const std::string successors = from(2, 5);
    return "builtin:garnet?states=" + from(5, 8) + "&actions=" + from(1, 3) + "&features=" + from(1, 5) +
           "&horizon=" + from(1, 7) + "&successors=" + successors + "&seed=" + std::to_string(seed);
}

// A number that is not a bound would fall short of the referee's by more than the tolerance; so would a
// referee that is needlessly loose anywhere. Nothing is random once the seeds are fixed.
TEST(RefereeOnRandomRuns, AgreesWithEveryCertificate) {
    std::map<std::string, int> methods;
    const char* const algorithms[] = {"likelihood", "hoeffding", "uniform", "likelihood", "hoeffding"};
    const char* const constants[] = {"sharp", "sharp", "sharp", "sharp, confidence regression,likelihood",
                                     "sharp, confidence likelihood"};
    const std::int64_t episodes[] = {1, 10, 100, 1000, 10000, 300000};
    const auto runs = static_cast<std::uint64_t>(support::repetitions(200));
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        const Problem problem = make_builtin(random_problem(seed));
        const referee::Case given = referee_cases::explored(
            problem, algorithms[seed % 5], constants[seed % 5], episodes[seed / 5 % 6], seed);
        const auto findings = referee::examine(given);
        EXPECT_TRUE(referee::all_confirmed(findings))
            << random_problem(seed) << ", " << algorithms[seed % 5] << ", " << constants[seed % 5] << "\n"
            << referee_cases::complaints(findings);
        // Nor are the library's numbers larger than they need be, but for the search in `ltv` and its rounds.
        for (const referee::Finding& each : findings)
            if (each.found && *each.found > 1e-3 && each.what != "ltv") {
                EXPECT_LE(*each.reported, *each.found * 1.05) << each.what << " of seed " << seed;
            }
        ++methods[given.method];
    }
    if (runs < 200) return;
    EXPECT_GE(methods["ltv"], 5);
    EXPECT_GE(methods["coupling"], 5);
    EXPECT_GE(methods["span"], 5);
}

}  // namespace
}  // namespace alidade::referee_random_runs_test
