#include <gtest/gtest.h>

#include <functional>

#include "linear_cases.hpp"

// Faults in what runs of linear MDPs have stored. The referee must not be content with any.
namespace alidade::referee_linear_faults_test {
namespace {

using referee::Case;

constexpr const char* problem = "builtin:linear-random?states=6&actions=2&features=3&horizon=4&seed=5";

const Case& sound() {
    static const Case given = referee_cases::explored(make_builtin(problem), "lsvi", "", 300'000, 3);
    return given;
}

void expect_found(const std::string& where, const std::function<void(Case&)>& plant) {
    Case given = sound();
    plant(given);
    const auto after = referee::examine(given);
    EXPECT_EQ(referee_cases::finding(after, where).verdict, referee::Verdict::not_confirmed)
        << where << "\n"
        << referee_cases::complaints(after);
}

double& candidate(Case& given, const std::string& name) {
    for (auto& [each, value] : given.candidates)
        if (each == name) return value;
    throw std::out_of_range(name);
}

TEST(RefereeLinearFaults, TheSoundRunIsConfirmedAndNotVacuous) {
    const auto findings = referee::examine(sound());
    EXPECT_TRUE(referee::all_confirmed(findings)) << referee_cases::complaints(findings);
    EXPECT_LT(sound().bound, 3.0);
    EXPECT_EQ(sound().candidates.size(), 7U);
}

TEST(RefereeLinearFaults, ACandidateThatIsOnePerMilleTooSmallIsFound) {
    for (const char* name : {"model", "coupling", "span", "printed", "wang"})
        expect_found(name, [&](Case& given) { candidate(given, name) *= 0.999; });
}

TEST(RefereeLinearFaults, ABoundOrMethodThatIsNotTheLeastCandidateIsFound) {
    expect_found("bound", [](Case& given) { given.bound *= 0.9; });
    expect_found("bound", [](Case& given) {
        given.bound *= 0.9;
        candidate(given, given.method) *= 0.9;
    });
    expect_found("method", [](Case& given) { given.bound *= 1.1; });
    expect_found("method", [](Case& given) { given.method = given.method == "wang" ? "model" : "wang"; });
    // Two candidates under each other's name.
    expect_found("printed",
                 [](Case& given) { std::swap(candidate(given, given.method), candidate(given, "printed")); });
}

TEST(RefereeLinearFaults, AnotherDeltaIsFound) {
    expect_found("bound", [](Case& given) { given.delta = 0.05; });
    expect_found("method", [](Case& given) { given.delta = 1.5; });
}

TEST(RefereeLinearFaults, ChangedCountsAreFound) {
    expect_found("counts", [](Case& given) { ++given.counted.counts.front(); });
    expect_found("evidence", [](Case& given) { ++given.evidence.likelihood->counts.front(); });
    expect_found("evidence", [](Case& given) {
        for (std::int64_t& count : given.evidence.likelihood->counts) count *= 2;
        given.evidence.likelihood->episodes *= 2;
    });
    // At the last step, where nobody has to leave again, and everywhere in the same way: it is consistent.
    // But the rows that were handed over are not those of these data.
    expect_found("bound", [](Case& given) {
        const std::size_t entries = given.setting.targets.size(),
                          last = given.counted.counts.size() - entries;
        for (std::size_t e = last; e < last + entries; e += 6) {
            auto& counts = given.counted.counts;
            counts[e + 1] += counts[e];
            counts[e] = 0;
        }
        given.evidence.likelihood = given.counted;
        given.latest.reset();
    });
    // A third of the data, with all that is said of them.
    expect_found("bound", [](Case& given) {
        for (std::int64_t& count : given.counted.counts) count /= 3;
        given.whole_episodes = false;
        given.evidence.likelihood->counts = given.counted.counts;
        given.latest.reset();
    });
}

TEST(RefereeLinearFaults, AChangedNumberOfEpisodesIsFound) {
    expect_found("episodes", [](Case& given) { ++given.episodes; });
    expect_found("episodes", [](Case& given) { given.episodes = 10; });
    expect_found("counts", [](Case& given) { ++given.counted.episodes; });
    expect_found("evidence", [](Case& given) { --given.evidence.likelihood->episodes; });
}

TEST(RefereeLinearFaults, FeaturesOfAnotherProblemAreFound) {
    const auto other = [](const std::string& seed) {
        return [seed](Case& given) {
            const Problem stranger =
                make_builtin("builtin:linear-random?states=6&actions=2&features=3&horizon=4&seed=" + seed);
            const auto values = stranger.pair_features().values();
            given.setting.phi.assign(values.begin(), values.end());
        };
    };
    for (const char* seed : {"6", "7", "8"}) expect_found("bound", other(seed));
    // Half as long, and the same bound of the measures: they cannot make laws.
    expect_found("problem", [](Case& given) {
        for (double& value : given.setting.phi) value /= 2;
    });
    expect_found("problem", [](Case& given) { given.setting.phi[0] += 1e-3; });
    expect_found("problem", [](Case& given) { given.setting.phi[1] = 1.5; });
}

TEST(RefereeLinearFaults, AnotherSettingIsFound) {
    // A looser bound of the measures regularises less.
    expect_found("bound", [](Case& given) { given.setting.norm_bound *= 30; });
    expect_found("problem", [](Case& given) { given.setting.norm_bound = 0.5; });
    expect_found("problem", [](Case& given) { given.setting.norm_bound = 0; });
    expect_found("problem", [](Case& given) { given.setting.start[0].second = 0.5; });
    expect_found("problem", [](Case& given) { given.setting.misspecification = 0.1; });
    expect_found("counts", [](Case& given) { given.setting.start = {{1, 1.0}}; });
}

TEST(RefereeLinearFaults, LawsThatWereNotLearnedAreFound) {
    expect_found("laws", [](Case& given) { given.laws[0] += 0.01; });
    expect_found("laws", [](Case& given) {
        given.laws[0] += 2;
        given.laws[1] -= 2;
    });
    // Still a law, and another one than the data's.
    expect_found("bound", [](Case& given) {
        for (std::size_t e = 0; e < given.laws.size(); e += 6) {
            const double moved = given.laws[e] / 2;
            given.laws[e] -= moved;
            given.laws[e + 1] += moved;
        }
    });
}

TEST(RefereeLinearFaults, WhatHasOtherSizesIsRefused) {
    Case given = sound();
    given.laws.pop_back();
    EXPECT_THROW(referee::examine(given), InvalidArgument);
    given = sound();
    given.setting.phi.pop_back();
    EXPECT_THROW(referee::examine(given), InvalidArgument);
    given = sound();
    given.evidence.likelihood.reset();
    EXPECT_THROW(referee::examine(given), InvalidArgument);
    given = sound();
    given.candidates.emplace_back("hybrid", 0.001);  // needs weights
    EXPECT_EQ(referee_cases::finding(referee::examine(given), "hybrid").verdict,
              referee::Verdict::not_checked);
}

}  // namespace
}  // namespace alidade::referee_linear_faults_test
