#include <gtest/gtest.h>

#include "support/effort.hpp"
#include "support/one_step_designs.hpp"

namespace alidade {
namespace {

using support::Choice;
using support::Excess;
using support::OneStepDesign;
using support::Truth;

struct Failures {
    int used = 0, predictions = 0, with_predictions = 0, chi_squared = 0;
};

Failures watch(const OneStepDesign& design, int runs, std::uint64_t seed) {
    Failures failures;
    for (int k = 0; k < runs; ++k) {
        Stream random(seed, Purpose::test, static_cast<std::uint64_t>(k), 79);
        const Excess excess = support::OneStepRun(design, random).watch();
        failures.used += excess.used > 0 ? 1 : 0;
        failures.predictions += excess.predictions > 0 ? 1 : 0;
        failures.with_predictions += excess.with_predictions > 0 ? 1 : 0;
        failures.chi_squared += excess.chi_squared > 0 ? 1 : 0;
    }
    return failures;
}

// [likelihood §2]: the truth stays in the set after every single observation, whoever chose the data and
// wherever the truth lies. A perfectly tight set would fail more often than allowed with probability below
// 1e-7; measured in 1000 runs: 2.0 % at most, predictions alone 7.6 %.
TEST(OneStepCoverage, HoldsAfterEveryObservationForEveryDesign) {
    const int runs = support::runs(40, 1000);
    const std::vector<OneStepDesign> designs{
        {.features = 2, .observations = 200},
        {.features = 3, .choice = Choice::uniform, .observations = 200},
        {.features = 3, .choice = Choice::adversary, .observations = 200},
        {.features = 3, .choice = Choice::adversary, .truth = Truth::vertex, .observations = 200},
        {.features = 3, .concentration = 0.2, .observations = 200},
        {.features = 5, .truth = Truth::edge, .observations = 200},
    };
    for (std::size_t k = 0; k < designs.size(); ++k) {
        const Failures failures = watch(designs[k], runs, k + 1);
        EXPECT_LE(failures.used, support::allowed_failures(runs)) << "design " << k;
        EXPECT_LE(failures.predictions, support::allowed_failures(runs)) << "design " << k;
        EXPECT_LE(failures.with_predictions, support::allowed_failures(runs)) << "design " << k;
    }
}

// Why no radius of a fixed time serves: watched all along, half a chi-squared quantile loses the truth in 61
// of 100 runs. At that rate 60 runs have fewer than 15 failures with probability below 1e-8; at the 10 % it
// is made for they would have as many with probability below 1e-3.
TEST(OneStepCoverage, FailsForAChiSquaredRadiusThatIsWatched) {
    const Failures failures = watch({.features = 3}, support::repetitions(60), 11);
    EXPECT_GE(failures.chi_squared, support::repetitions(15));
    EXPECT_LE(failures.used, support::allowed_failures(60));
}

}  // namespace
}  // namespace alidade
