#include <gtest/gtest.h>

#include "support/effort.hpp"
#include "support/one_step_designs.hpp"
#include "support/pinned_failures.hpp"

namespace alidade::one_step_coverage_test {
namespace {

using support::Choice;
using support::Excess;
using support::OneStepDesign;
using support::Truth;

struct Failures {
    int used = 0;              ///< the set as it is
    int nine_tenths = 0;       ///< with nine tenths of its allowance
    int predictions = 0;       ///< predictions alone
    int with_predictions = 0;  ///< all three mixtures
    int chi_squared = 0;
    int centred = 0;  ///< of the radius with a mixture about the hypothesis
};

Failures watch(const OneStepDesign& design, int runs, std::uint64_t seed) {
    Failures failures;
    for (int k = 0; k < runs; ++k) {
        Stream random(seed, Purpose::test, static_cast<std::uint64_t>(k), 79);
        const Excess excess = support::OneStepRun(design, random).watch();
        failures.used += excess.used > 0 ? 1 : 0;
        failures.nine_tenths += excess.nine_tenths > 0 ? 1 : 0;
        failures.predictions += excess.predictions > 0 ? 1 : 0;
        failures.with_predictions += excess.with_predictions > 0 ? 1 : 0;
        failures.chi_squared += excess.chi_squared > 0 ? 1 : 0;
        failures.centred += excess.centred > 0 ? 1 : 0;
    }
    return failures;
}

/// A design, its failures in the 40 runs of every day and in the 1000 of `--long`.
struct PinnedDesign {
    OneStepDesign design;
    Failures usual, many;
};

// [likelihood §2]: the truth stays in the set after every single observation, whoever chose the data and
// wherever the truth lies. Independent failures of probability 0.1 would be more than the binomial bound with
// probability below 1e-7. The sets fail in 0.3 to 2.7 of 100 runs, and with nine tenths of the allowance
// in 1.1 to 4.4: a bound at 10 of 100 sees neither, however many runs there are. The pins do: of 1000 runs 7
// to 24 more fail, in every design.
TEST(OneStepCoverage, HoldsAfterEveryObservationForEveryDesign) {
    const int runs = support::runs(40, 1000);
    const std::vector<PinnedDesign> designs{
        {{.features = 2, .observations = 200}, {3, 3, 5, 1}, {27, 39, 60, 22}},
        {{.features = 3, .choice = Choice::uniform, .observations = 200}, {0, 1, 2, 1}, {10, 19, 51, 21}},
        {{.features = 3, .choice = Choice::adversary, .observations = 200}, {0, 3, 5, 3}, {10, 21, 59, 17}},
        {{.features = 3, .choice = Choice::adversary, .truth = Truth::vertex, .observations = 200},
         {0, 0, 2, 0},
         {12, 19, 54, 19}},
        {{.features = 3, .concentration = 0.2, .observations = 200}, {1, 3, 2, 1}, {20, 44, 70, 18}},
        {{.features = 5, .truth = Truth::edge, .observations = 200}, {0, 0, 0, 0}, {3, 11, 71, 27}},
    };
    for (std::size_t k = 0; k < designs.size(); ++k) {
        const auto& [design, usual, many] = designs[k];
        const Failures failures = watch(design, runs, k + 1);
        const auto pinned = [&](int Failures::*of) {
            return support::failures_are(failures.*of, runs, {{40, usual.*of}, {1000, many.*of}});
        };
        EXPECT_TRUE(pinned(&Failures::used)) << "design " << k;
        EXPECT_TRUE(pinned(&Failures::nine_tenths)) << "design " << k;
        EXPECT_TRUE(pinned(&Failures::predictions)) << "design " << k;
        EXPECT_TRUE(pinned(&Failures::with_predictions)) << "design " << k;
        EXPECT_LE(failures.centred, support::allowed_failures(runs)) << "design " << k;
    }
}

// Why no radius of a fixed time serves: watched all along, half a chi-squared quantile loses the truth in 61
// of 100 runs. At that rate 60 runs have fewer than 15 failures with probability below 1e-8; at the 10 % it
// is made for they would have as many with probability below 1e-3.
TEST(OneStepCoverage, FailsForAChiSquaredRadiusThatIsWatched) {
    const Failures failures = watch({.features = 3}, support::repetitions(60), 11);
    EXPECT_GE(failures.chi_squared, support::repetitions(15));
    EXPECT_LE(failures.used, support::allowed_failures(support::repetitions(60)));
}

}  // namespace
}  // namespace alidade::one_step_coverage_test
