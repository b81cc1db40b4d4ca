#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "alidade/certify/knowledge.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/run/run.hpp"

namespace alidade::app {

/// Loads what the user calls a problem; `normalise` is the flag of that name, nothing where the command has
/// none. Throws UserError, whose advice is --normalise only where that helps.
Problem load_problem_argument(const std::string& source, std::optional<bool> normalise);

/// Opens a run's folder to read: takes no lock and changes nothing in it. Throws UserError.
Run open_run(const std::string& folder);

/// Opens it to keep something with it: for as long as it is open, nobody else can write. Throws UserError.
Run open_run_to_keep(const std::string& folder);

/// Computes the knowledge of a run again from its stored evidence; of a run that was killed, from its last
/// checkpoint. Throws UserError if nothing was stored yet. Beside a writer, ask for the run's standing after
/// this: then it is of the same moment or a later one, and no contradiction is missed.
/// `assumed`: under other assumptions than the run's; then nothing that is stored is to be compared with it.
/// Throws Contradiction where the data refute them.
LoadedRun load_run(const Run& store, Threads threads, const AssumedError& assumed = {});

/// The episodes that the paper's constants are told beforehand; none of a run with other constants.
std::optional<std::int64_t> planned_episodes(const RunOptions& options);
/// Whose constants a run's sets have: "sharp", "paper" or "safe".
std::string constants_of(const RunOptions& options);

/// The probability that bounds may fail: the flag, the problem's, or 0.1. Throws UserError unless it lies
/// strictly between 0 and 1.
double delta_of(const std::optional<double>& flag, const Problem& problem);

/// --threads: 0 stands for all cores.
Threads thread_count(int wanted);

}  // namespace alidade::app
