#include "alidade/referee/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "linear_cases.hpp"

namespace alidade::referee_linear_test {
namespace {

using referee::detail::Facts;
using referee::detail::LinearSet;
using referee::detail::Numbers;
using referee::detail::Real;

constexpr double tiny = 1e-12;

/// What the referee finds for every candidate that it is told of.
std::map<std::string, double> found(referee::Case given) {
    for (const char* name : {"model", "coupling", "span", "printed", "wang"})
        given.candidates.emplace_back(name, 0.0);
    std::map<std::string, double> all;
    for (const referee::Finding& each : referee::examine(given))
        if (each.found) all[each.what] = *each.found;
    return all;
}

// 3000 times to state 0, 1000 times to state 1: Lambda = diag(4001, 1), ln det = ln 4001, two states can
// follow and there is one set: beta = 1/2 sqrt(ln 4001 + 2 (ln 2 + ln 10)) + sqrt 2, u = beta / sqrt 4001.
TEST(RefereeLinear, RegressionOfTwoStepsIsTheHandCalculatedOne) {
    const referee::Case given = referee_cases::two_pairs_case(2, {3000, 1000, 0}, {0.75, 0.25, 1}, 4000);
    const Facts facts(given.setting);
    EXPECT_EQ(referee::detail::following_states(facts), std::vector<Index>{2});
    const double beta = 3.3040392, u = beta / std::sqrt(4001.0);
    EXPECT_NEAR(beta, std::sqrt(std::log(4001.0) + 2 * std::log(20.0)) / 2 + std::sqrt(2.0), 1e-6);
    const LinearSet set = referee::detail::linear_sets(given, facts)[0];
    EXPECT_NEAR(static_cast<double>(set.measures[0][0]), 3000.0 / 4001, tiny);
    EXPECT_NEAR(static_cast<double>(set.measures[1][0]), 1000.0 / 4001, tiny);
    EXPECT_EQ(set.measures[1][1], 0);
    EXPECT_NEAR(static_cast<double>(set.bonus[0]), u, 1e-8);
    EXPECT_NEAR(static_cast<double>(set.bonus[1]), beta, 1e-6);
    EXPECT_NEAR(static_cast<double>(set.tau[0]), u, 1e-8);
    EXPECT_EQ(set.tau[1], 0);  // nothing else can follow
    auto all = found(given);
    EXPECT_NEAR(all["model"], 2 * u, 1e-8);
    EXPECT_NEAR(all["coupling"], 2 * u, 1e-8);
    EXPECT_NEAR(all["span"], 2 * u, 1e-8);
    EXPECT_NEAR(all["printed"], 2 * 2 * u, 1e-8);
    EXPECT_NEAR(all["wang"], 2 * 2 * 1.5 * u, 1e-8);  // H = 2: u + u/2, and H times that
}

// From step 1 on half of the 3000 in state 0 stay; those in state 1 stay there, which nobody needs to learn.
// Two sets, so ln(2/0.1) in place of ln 10.
TEST(RefereeLinear, BoundsOfThreeStepsAreTheHandCalculatedOnes) {
    auto all = found(referee_cases::two_pairs_case(3, {3000, 1000, 0, 1500, 1500, 1000},
                                                   {0.75, 0.25, 1, 0.5, 0.5, 1}, 4000));
    const auto beta = [](double determinant) {
        return std::sqrt(std::log(determinant) + 2 * (std::log(2.0) + std::log(20.0))) / 2 + std::sqrt(2.0);
    };
    const double u = beta(4001) / std::sqrt(4001.0), v = beta(3001.0 * 1001) / std::sqrt(3001.0);
    const double known = beta(3001.0 * 1001) / std::sqrt(1001.0);  // u of state 1, where Algorithm 3 looks
    EXPECT_NEAR(all["model"], 2 * (2 * u + 0.75 * v), 1e-9);
    // Mass u is taken from state 1, whose error is 0.
    EXPECT_NEAR(all["coupling"], 2 * (2 * u + 0.75 * v), 1e-9);
    // At step 1 rows (1/2, 1/2) and (0, 1) are 1/2 apart, so that values have spans 1 and 1.5; and the worst
    // row within u stays more often.
    EXPECT_NEAR(all["span"], 2 * (1.5 * u + (0.75 + u) * v), 1e-9);
    // phi . mu^ V is 3000/4001 of V(0) and 1000/4001 of V(1), and V_1 = 2 u of each, or 4/3 u.
    EXPECT_NEAR(all["printed"], 2 * (4 * u + 3000.0 / 4001 * 2 * v + 1000.0 / 4001 * 2 * known), 1e-9);
    const double third = 4.0 / 3;
    EXPECT_NEAR(all["wang"], 6 * (2 * third * u + 3000.0 / 4001 * third * v + 1000.0 / 4001 * third * known),
                1e-9);
}

TEST(RefereeLinear, StepsThatArePooledAreOneSet) {
    referee::Case given =
        referee_cases::two_pairs_case(3, {3000, 1000, 0, 2250, 750, 1000}, {0.75, 0.25, 1}, 4000);
    given.setting.homogeneous = true;
    const Facts facts(given.setting);
    const LinearSet set = referee::detail::linear_sets(given, facts).at(0);
    // All of delta for the one set; det = (3000 + 1000 + 2250 + 750 + 1)(1000 + 1).
    const double beta =
        std::sqrt(std::log(7001.0) + std::log(1001.0) + 2 * (std::log(2.0) + std::log(10.0))) / 2 +
        std::sqrt(2.0);
    EXPECT_NEAR(static_cast<double>(set.bonus[0]), beta / std::sqrt(7001.0), tiny);
    EXPECT_NEAR(static_cast<double>(set.measures[0][0]), 5250.0 / 7001, tiny);
}

// 0 -> {0, 1}, 1 -> {2}, 2 -> {2, 3}, 3 -> {3}.
TEST(RefereeLinear, OnlyStatesThatCanFollowAreCounted) {
    referee::Setting setting;
    setting.states = 4;
    setting.actions = 1;
    setting.horizon = 4;
    setting.features = 1;
    setting.pair_features = true;
    setting.phi = {1, 1, 1, 1};
    setting.offsets = {0, 2, 3, 5, 6};
    setting.targets = {0, 1, 2, 2, 3, 3};
    setting.start = {{0, 1.0}, {3, 0.0}};
    EXPECT_EQ(referee::detail::following_states(Facts(setting)), (std::vector<Index>{2, 3, 4}));
    setting.start = {{1, 1.0}};
    EXPECT_EQ(referee::detail::following_states(Facts(setting)), (std::vector<Index>{1, 2, 2}));
    setting.start = {{1, 0.5}, {3, 0.5}};
    EXPECT_EQ(referee::detail::following_states(Facts(setting)), (std::vector<Index>{2, 2, 2}));
    setting.homogeneous = true;
    setting.start = {{0, 1.0}};
    EXPECT_EQ(referee::detail::following_states(Facts(setting)), std::vector<Index>{4});
    // Where one state can follow nothing is noise, and only the prior is left.
    EXPECT_EQ(referee::detail::linear_beta(Facts(setting), 5, 1, 0.1L), 1);
}

// Every law P that all V in {0,1}^S allow, |phi . mu^ V - P V| <= u, is within tau of the row that is handed
// over, whatever that row is; and such P are there.
TEST(RefereeLinear, NoPossibleLawIsFartherThanTheDeviation) {
    std::mt19937 random(4);
    const auto draw = [&] { return static_cast<double>(random() % 1000) / 999; };
    const auto law_of = [&](std::size_t size) {
        std::vector<double> law(size);
        double sum = 0;
        for (double& p : law) sum += p = std::pow(draw(), 3) + 1e-9;
        for (double& p : law) p /= sum;
        return law;
    };
    int possible = 0;
    for (int trial = 0; trial < 400; ++trial) {
        // Two pairs with overlapping features on four states; the second cannot lead to state 3.
        referee::Case given;
        given.setting = referee_cases::two_pairs(2);
        given.setting.states = 4;
        given.setting.offsets = {0, 4, 7, 11, 15};
        given.setting.targets = {0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3};
        given.setting.phi = {0.9, 0.1, 0.2, 0.8, 0.5, 0.5, 0.6, 0.4};
        given.setting.start = {{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}};
        given.delta = 0.1;
        for (int e = 0; e < 15; ++e) given.counted.counts.push_back(static_cast<int>(random() % 60));
        given.evidence.likelihood = given.counted;
        for (const std::size_t size : {4U, 3U, 4U, 4U})
            for (const double p : law_of(size)) given.laws.push_back(p);
        const Facts facts(given.setting);
        LinearSet set;
        try {
            set = referee::detail::linear_sets(given, facts)[0];
        } catch (const referee::detail::Contradicted&) {
            continue;
        }
        for (std::size_t pair = 0; pair < 2; ++pair)
            for (int attempt = 0; attempt < 50; ++attempt) {
                const std::size_t first = pair == 0 ? 0 : 4, size = pair == 0 ? 4 : 3;
                std::vector<double> truth = law_of(size);
                truth.resize(4, 0);
                bool allowed = true;
                for (unsigned V = 0; V < 16; ++V) {
                    Real difference = 0;
                    for (unsigned s = 0; s < 4; ++s)
                        if (((V >> s) & 1U) != 0)
                            difference += referee::detail::dot(facts.phi[pair], set.measures[s]) - truth[s];
                    allowed = allowed && std::abs(difference) <= set.bonus[pair];
                }
                if (!allowed) continue;
                ++possible;
                Real variation = 0;
                for (std::size_t s = 0; s < size; ++s)
                    variation += std::abs(Real{truth[s]} - given.laws[first + s]) / 2;
                EXPECT_LE(variation, set.tau[pair] + 1e-12L);
            }
    }
    EXPECT_GE(possible, 1000);
}

// Features (1.2, -0.2)/2 are a law only if those of the first two states are: all go to 0 from the first and
// to 1 from the second, so that the third would have to lead to 1 with probability -0.2.
TEST(RefereeLinear, DataThatNoMeasuresExplainAreFound) {
    referee::Case given;
    given.setting = referee_cases::two_pairs(2);
    given.setting.states = 3;
    given.setting.offsets = {0, 2, 4, 6};
    given.setting.targets = {0, 1, 0, 1, 0, 1};
    given.setting.phi = {0.5, 0, 0, 0.5, 0.6, -0.1};
    given.setting.norm_bound = 2.9;
    given.setting.start = {{0, 0.5}, {1, 0.5}};
    given.delta = 0.1;
    given.counted = {{50000, 0, 0, 50000, 0, 0}, 100000};
    given.evidence.likelihood = given.counted;
    given.episodes = 100000;
    given.laws = {1, 0, 0, 1, 1, 0};
    given.candidates = {{"model", 2}};
    given.bound = 2;
    given.method = "model";
    const auto findings = referee::examine(given);
    EXPECT_EQ(referee_cases::finding(findings, "problem").verdict, referee::Verdict::confirmed);
    EXPECT_EQ(referee_cases::finding(findings, "bound").verdict, referee::Verdict::not_confirmed);
    EXPECT_NE(referee_cases::finding(findings, "bound").note.find("no model possible"), std::string::npos);
}

// No data at all: the rows are even, and the deviation is that of the farthest law, 1 - 1/m.
TEST(RefereeLinear, WithoutDataNothingIsKnown) {
    const referee::Case given = referee_cases::two_pairs_case(2, {0, 0, 0}, {0.5, 0.5, 1}, 0);
    const Facts facts(given.setting);
    EXPECT_EQ(referee::detail::linear_sets(given, facts)[0].tau, (Numbers{0.5L, 0}));
}

}  // namespace
}  // namespace alidade::referee_linear_test
