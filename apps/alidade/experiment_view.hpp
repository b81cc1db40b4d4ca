#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "alidade/files/episode_file.hpp"
#include "alidade/run/ask_tell.hpp"
#include "console.hpp"

namespace alidade::app {

/// "2026-01-31 12:00:00" UTC; "-" for 0.
std::string utc_time(std::int64_t time);
/// The same as JSON: "2026-01-31T12:00:00Z", or null.
nlohmann::ordered_json time_json(std::int64_t time);

/// Who is asking or telling, unless it is said: user@machine.
std::string this_worker();

/// A state or action by number or by name. Throws UserError naming the flag.
State state_argument(const std::string& text, const Problem& problem, const char* flag);
Action action_argument(const std::string& text, const Problem& problem, const char* flag);

/// How files of episodes of a problem are read. The problem must outlive it.
EpisodeFileOptions episode_options(const Problem& problem, const std::string& columns);

/// Opens a run to ask and tell, beside others who do. Throws UserError.
Run open_run_to_share(const std::string& folder);
/// Throws UserError if its experiments are run by something else, unless the user says that it is one system.
void require_same_system(const Run& run, bool same_system);
/// Throws UserError unless the run keeps its episodes.
void require_episodes(const Run& run);

/// {step, state, state_name, action, action_name, share}
nlohmann::ordered_json to_json(const ExperimentAim& aim, const Problem& problem);
/// "step 3, state 5, action 1"
std::string in_words(const ExperimentAim& aim, const Problem& problem);

}  // namespace alidade::app
