#pragma once

#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade {

/// The problem with its start law as a transition, as the paper has it [theory §1.1]: one more state s_0, the
/// last one, which every episode starts in and never returns to; one more step, at which every action leads
/// from s_0 to the start law, under every base model alike, so that nothing is to be learned there; and no
/// reward at that step. The other states keep their numbers, and step h becomes step h+1. Values from s_0 are
/// those of the given problem, expected over its start law. True weights of the
/// new step 0 are arbitrary.
Problem with_initial_step(const Problem& problem);

/// A reward for with_initial_step(problem): none at step 0 or in s_0, otherwise that of the step before.
Reward with_initial_step(const Reward& reward);

/// A policy for with_initial_step(problem): the given one, a step later; action 0 in s_0 and at step 0.
Policy with_initial_step(const Policy& policy);

}  // namespace alidade
