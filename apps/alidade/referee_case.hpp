#pragma once

#include <string>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/referee/referee.hpp"
#include "alidade/run/run_record.hpp"

namespace alidade::app {

/// What a run has stored as the referee's plain numbers; `confidence` is what its sets were asked for as. Of
/// `learned`, the model that is handed over, the weights are taken, or the laws if the problem is a linear
/// MDP. Throws InvalidArgument if the evidence is of no kind that is known.
referee::Case referee_case(const Problem& problem, double delta, const std::string& confidence,
                           const RunCheckpoint& checkpoint, const RunResult& result,
                           const LearnedModel& learned);

}  // namespace alidade::app
