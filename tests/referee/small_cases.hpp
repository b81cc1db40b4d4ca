#pragma once

#include <string>

#include "alidade/certify/reward_class.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/referee/referee.hpp"
#include "referee_case.hpp"

/// Cases for the referee: real runs, made here, and one that is small enough for a hand calculation.
namespace alidade::referee_cases {

inline constexpr double delta = 0.1;

/// What a run of a problem would have stored and claimed; of rewards with a total of at most 1 too, if asked.
inline referee::Case explored(const Problem& problem, const std::string& algorithm,
                              const std::string& confidence, std::int64_t episodes, std::uint64_t seed,
                              bool total = false) {
    CountSplittingDeployer system(problem.true_system(), seed);
    Exploration exploration(task_of(problem),
                            {.algorithm = algorithm, .confidence = confidence, .delta = delta, .seed = seed});
    const Stopped stopped = exploration.run(system, {.episodes = episodes});
    const Knowledge& best = exploration.best();
    RunResult result;
    result.evidence = exploration.best_evidence();
    result.episodes = exploration.explorer().episodes();
    result.reward_free = best.certificate.bound;
    result.method = best.certificate.method;
    result.candidates = best.certificate.candidates;
    result.stopped = to_string(stopped);
    referee::Case given =
        app::referee_case(problem, delta, exploration.explorer().options().confidence,
                          {exploration.memory(), exploration.counts()}, result, *best.learned);
    if (total) given.total = certify_class(best, RewardClass::total(problem.shape())).candidates;
    return given;
}

/// Two states, one action, two steps, base models (0.9, 0.1) and (0.5, 0.5) from state 0; from state 1 both
/// stay. N = (1, -1)/sqrt 2, so psi = 0.4/sqrt 2 and -0.4/sqrt 2 at state 0, and weights are 1/2 +-
/// zeta/sqrt 2.
inline referee::Setting two_models() {
    referee::Setting setting;
    setting.states = 2;
    setting.actions = 1;
    setting.horizon = 2;
    setting.features = 2;
    setting.offsets = {0, 2, 3};
    setting.targets = {0, 1, 1};
    setting.phi = {0.9, 0.5, 0.1, 0.5, 1, 1};
    setting.start = {{0, 1.0}};
    setting.centre = {0.5, 0.5};
    const double root = 0.70710678118654752440;
    setting.basis = {root, -root};
    return setting;
}

inline const referee::Finding& finding(const std::vector<referee::Finding>& all, const std::string& what) {
    for (const referee::Finding& each : all)
        if (each.what == what) return each;
    throw std::out_of_range(what);
}

/// What is not confirmed, for messages.
inline std::string complaints(const std::vector<referee::Finding>& all) {
    std::string text;
    for (const referee::Finding& each : all)
        if (each.verdict != referee::Verdict::confirmed)
            text += each.what + ": " + each.note + " (" + std::to_string(each.reported.value_or(0)) +
                    " against " + std::to_string(each.found.value_or(0)) + ")\n";
    return text;
}

}  // namespace alidade::referee_cases
