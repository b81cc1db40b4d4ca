#pragma once

#include <string>

#include "alidade/certify/knowledge.hpp"
#include "alidade/io/run_store.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::app {

/// Loads what the user calls a problem. Throws UserError.
Problem load_problem_argument(const std::string& source, bool normalise);

/// Opens a run's folder. Throws UserError.
RunStore open_run(const std::string& folder);

/// Computes the knowledge of a run again from its stored evidence; of a run that was killed, from its last
/// checkpoint. Throws UserError if nothing was stored yet.
Knowledge recall(const RunStore& store, int threads);

/// The explorer's options of a stored run.
ExplorerOptions explorer_options(const RunOptions& options, int threads);

/// --threads: 0 stands for all cores.
int thread_count(int wanted);

}  // namespace alidade::app
