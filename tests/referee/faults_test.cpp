#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "small_cases.hpp"

// Each fault is one changed number in what a run has stored. The referee must not be content.
namespace alidade::referee_faults_test {
namespace {

using referee::Case;

constexpr const char* problem = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3&seed=5";

const Case& sound(const std::string& algorithm, const std::string& confidence) {
    static std::map<std::string, Case> made;
    auto& given = made[algorithm + " " + confidence];
    if (given.candidates.empty())
        given = referee_cases::explored(make_builtin(problem), algorithm, confidence, 2000, 3);
    return given;
}

/// The referee is content without the fault and not with it; `where` is what it complains of.
void expect_found(Case given, const std::string& where, const std::function<void(Case&)>& plant) {
    const auto before = referee::examine(given);
    EXPECT_TRUE(referee::all_confirmed(before)) << referee_cases::complaints(before);
    plant(given);
    const auto after = referee::examine(given);
    EXPECT_EQ(referee_cases::finding(after, where).verdict, referee::Verdict::not_confirmed)
        << referee_cases::complaints(after);
}

double& candidate(Case& given, const std::string& name) {
    for (auto& [each, value] : given.candidates)
        if (each == name) return value;
    throw std::out_of_range(name);
}

TEST(RefereeFaults, ACandidateThatIsOnePerCentTooSmallIsFound) {
    for (const char* name : {"model", "coupling", "span"})
        expect_found(sound("hoeffding", ""), name, [&](Case& given) { candidate(given, name) *= 0.99; });
    for (const char* name : {"model", "coupling", "span", "trajectory-kl", "hybrid"})
        expect_found(sound("likelihood", ""), name, [&](Case& given) { candidate(given, name) *= 0.99; });
    // Of the search for `ltv` all that is below what the others prove is found.
    expect_found(sound("likelihood", ""), "ltv",
                 [](Case& given) { candidate(given, "ltv") = 0.99 * candidate(given, "hybrid"); });
}

TEST(RefereeFaults, ATotalThatIsOnePerCentTooSmallIsFound) {
    const Case sound_case = referee_cases::explored(
        make_builtin("builtin:garnet?states=5&actions=2&features=3&horizon=4&successors=3"), "likelihood", "",
        300, 1, true);
    ASSERT_EQ(sound_case.total.size(), 5u);
    EXPECT_TRUE(referee::all_confirmed(referee::examine(sound_case)));
    for (std::size_t k = 0; k < 4; ++k) {
        Case given = sound_case;
        given.total[k].second *= 0.99;
        for (const referee::Finding& each : referee::examine(given))
            EXPECT_EQ(each.verdict == referee::Verdict::confirmed,
                      each.what != "total: " + given.total[k].first)
                << each.what;
    }
    // Nor is there a proof of spans for rewards that know the past.
    Case given = sound_case;
    given.total.emplace_back("span", 1.0);
    EXPECT_FALSE(referee::all_confirmed(referee::examine(given)));
}

TEST(RefereeFaults, ABoundOrMethodThatIsNotTheLeastCandidateIsFound) {
    for (const char* algorithm : {"hoeffding", "likelihood"}) {
        expect_found(sound(algorithm, ""), "bound", [](Case& given) { given.bound *= 0.99; });
        expect_found(sound(algorithm, ""), "method", [](Case& given) { given.bound *= 1.01; });
        expect_found(sound(algorithm, ""), "method",
                     [](Case& given) { given.method = given.method == "model" ? "span" : "model"; });
    }
}

TEST(RefereeFaults, AChangedCountIsFound) {
    expect_found(sound("hoeffding", ""), "counts", [](Case& given) { ++given.counted.counts.front(); });
    expect_found(sound("likelihood", ""), "counts", [](Case& given) {
        // From one successor to another: totals are the same, but not who leaves which state.
        for (std::int64_t& count : given.counted.counts)
            if (count > 0 && (&count)[1] > 0) {
                --count;
                ++(&count)[1];
                return;
            }
    });
    expect_found(sound("likelihood", ""), "evidence",
                 [](Case& given) { given.evidence.likelihood->counts.front() += 1; });
    expect_found(sound("likelihood", ""), "evidence", [](Case& given) {
        for (std::int64_t& count : given.evidence.likelihood->counts) count *= 2;  // twice the data
        given.evidence.likelihood->episodes *= 2;
    });
}

TEST(RefereeFaults, AScaledGramMatrixIsFound) {
    expect_found(sound("hoeffding", ""), "bound", [](Case& given) {
        for (double& element : given.evidence.regression->gram) element *= 0.9;
    });
    expect_found(sound("hoeffding", ""), "evidence", [](Case& given) {
        for (double& element : given.evidence.regression->gram) element *= 1.1;
    });
    // Also where no memory of the run is left to compare with, if it is more than the counts allow.
    expect_found(sound("hoeffding", ""), "evidence", [](Case& given) {
        given.latest.reset();
        for (double& element : given.evidence.regression->gram) element *= 10;
    });
}

TEST(RefereeFaults, AMovedMomentIsFound) {
    expect_found(sound("hoeffding", ""), "evidence",
                 [](Case& given) { given.evidence.regression->moment.front() += 1; });
    expect_found(sound("hoeffding", ""), "evidence", [](Case& given) {
        given.latest.reset();
        given.evidence.regression->moment.front() += 1e4;
    });
}

TEST(RefereeFaults, ASmallerDeltaIsFound) {
    for (const char* algorithm : {"hoeffding", "likelihood"})
        expect_found(sound(algorithm, ""), "bound", [](Case& given) { given.delta = 0.05; });
    expect_found(sound("likelihood", ""), "method", [](Case& given) { given.delta = 0; });
}

TEST(RefereeFaults, AChangedNumberOfEpisodesIsFound) {
    expect_found(sound("hoeffding", ""), "episodes", [](Case& given) { ++given.episodes; });
    expect_found(sound("likelihood", ""), "episodes", [](Case& given) { given.episodes = 10; });
    expect_found(sound("hoeffding", ""), "episodes",
                 [](Case& given) { --given.evidence.regression->episodes; });
    expect_found(sound("hoeffding", ""), "episodes",
                 [](Case& given) { ++given.evidence.regression->observations.front(); });
    expect_found(sound("likelihood", ""), "counts", [](Case& given) { ++given.counted.episodes; });
}

TEST(RefereeFaults, MovedWeightsAreFound) {
    const auto move = [](double amount) {
        return [amount](Case& given) {
            given.weights[0] += amount;
            given.weights[1] -= amount;
        };
    };
    for (const char* algorithm : {"hoeffding", "likelihood"}) {
        const Case& given = sound(algorithm, "");
        const double amount = given.weights[1] > 0.2 ? 0.1 : -0.1;
        expect_found(given, "bound", move(amount));
        expect_found(given, "weights", [](Case& other) { other.weights[0] += 0.1; });
    }
}

TEST(RefereeFaults, AChangedProblemIsFound) {
    expect_found(sound("likelihood", ""), "problem", [](Case& given) { given.setting.phi[0] += 1e-6; });
    expect_found(sound("likelihood", ""), "problem",
                 [](Case& given) { given.setting.start[0].second = 0.5; });
    expect_found(sound("hoeffding", ""), "problem", [](Case& given) {
        given.setting.basis.resize(3);  // a direction is forgotten
        given.evidence.regression.reset();
        given.evidence.likelihood = given.counted;
        given.latest.reset();
    });
    expect_found(sound("hoeffding", ""), "counts", [](Case& given) {
        given.setting.start = {{given.setting.start[0].first == 0 ? 1 : 0, 1.0}};
    });
}

TEST(RefereeFaults, SetsOfBothKindsHaveHalfOfDeltaEach) {
    const Case& given = sound("likelihood", "regression,likelihood");
    expect_found(given, "bound", [](Case& other) { other.bound *= 0.99; });
    expect_found(given, "bound", [](Case& other) { other.delta *= 0.5; });
}

TEST(RefereeFaults, WeightsThatNoRowHadAreFound) {
    const Case& given = sound("uniform", "weighted");
    expect_found(given, "evidence", [](Case& fault) {
        auto& least = fault.evidence.weighted->least_variances;
        *std::ranges::find_if(least, [](double variance) { return variance > 0; }) = 0;
    });
    expect_found(given, "evidence",
                 [](Case& fault) { fault.evidence.weighted->inverse_variances[0] *= 1e4; });
    expect_found(given, "evidence", [](Case& fault) { fault.evidence.weighted->rows.observations[0] += 1; });
    expect_found(given, "evidence", [](Case& fault) {
        for (double& sum : fault.evidence.weighted->rows.gram) sum *= 1e6;
    });
    // Half of delta for each of both regressions.
    expect_found(given, "bound", [](Case& fault) { fault.delta /= 1.2; });
}

TEST(RefereeFaults, PredictionsThatAreTooGoodAreFound) {
    const Case& given = sound("likelihood", "likelihood?prequential=true");
    expect_found(given, "evidence", [](Case& other) { other.evidence.predicted[0] = 0; });
    expect_found(given, "evidence", [](Case& other) { other.evidence.predicted[0] -= 1; });
}

TEST(RefereeFaults, WhatIsNotKnownIsNotConfirmed) {
    Case given = sound("likelihood", "");
    given.candidates.emplace_back("oracle", 0.001);
    given.bound = 0.001;
    given.method = "oracle";
    const auto findings = referee::examine(given);
    EXPECT_EQ(referee_cases::finding(findings, "oracle").verdict, referee::Verdict::not_checked);
    EXPECT_EQ(referee_cases::finding(findings, "bound").verdict, referee::Verdict::not_checked);
    given = sound("likelihood", "");
    given.weights.pop_back();
    EXPECT_THROW(referee::examine(given), InvalidArgument);
}

}  // namespace
}  // namespace alidade::referee_faults_test
