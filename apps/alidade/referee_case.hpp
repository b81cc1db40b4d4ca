#pragma once

#include "alidade/model/counts.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/referee/referee.hpp"
#include "alidade/run/run_record.hpp"

namespace alidade::app {

/// What a run has stored as the referee's plain numbers. `weights` are those of the model that is handed
/// over: a row a step, or one if the problem is homogeneous. Throws InvalidArgument if the evidence is of no
/// kind that is known.
referee::Case referee_case(const Problem& problem, double delta, const RunCheckpoint& checkpoint,
                           const RunResult& result, const Matrix& weights);

}  // namespace alidade::app
