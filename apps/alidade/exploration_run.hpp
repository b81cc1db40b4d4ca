#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alidade/explore/exploration.hpp"
#include "alidade/run/run.hpp"
#include "console.hpp"
#include "contradiction_view.hpp"
#include "system_choice.hpp"

namespace alidade::app {

/// How far a run is to go.
struct Goal {
    std::int64_t episodes = 100'000;
    std::optional<double> target;
    Threads threads;
    FitFlags fit;  ///< the model check, and what to do about a contradiction
    /// Ends the run when it says so, in place of a target: ExploreOptions::enough.
    std::function<bool(const Knowledge&)> enough = {};
};

/// What an exploration left behind.
struct Explored {
    Stopped stopped = Stopped::budget;
    Knowledge knowledge;
    RunResult result;
    std::vector<TracePoint> trace;
    std::int64_t replan_bound = 0;  ///< policies that the schedule could have computed at most
    Standing standing;              ///< whether all transitions seen contradict the model
    /// Of a run that keeps its episodes: those that broke off, and processes that this call started again.
    std::optional<std::int64_t> broken_off, restarts;
};

/// Takes up the stored run (or begins it), explores its system until the goal, the budget or
/// Ctrl-C, and stores on the way and at the end. Throws Contradiction where the run has stored one, or the
/// data leave no model to go on with, unless the goal is to go on despite it; what was seen is stored first,
/// and so is the contradiction. Where planning or certifying would outlast a signal by more
/// than a moment, the program ends here with code 130, with all episodes stored but without a certificate.
Explored explore_into(Run& store, const Goal& goal, const Console& console, SystemChoice& system);

/// What is said of a run that was interrupted.
std::string interrupted_after(std::int64_t episodes);

/// The stable object of `explore --json`.
nlohmann::ordered_json to_json(const Explored& explored, const Run& store, const Goal& goal);
/// The same for reading.
std::string describe(const Explored& explored, const Run& store, const Console& console);

/// 0 done or target met, 3 budget spent before the target, 130 interrupted, 4 the data contradict the
/// model and nobody said to go on; where several apply, 4 before 130 before 3.
int exit_code(const Explored& explored, const Goal& goal);

}  // namespace alidade::app
