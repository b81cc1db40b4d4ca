#pragma once

#include "alidade/problem/problem.hpp"

namespace alidade {

/// The same system as a linear MDP that knows nothing of base models: one feature for each state and action,
/// d = S A, one-hot, so that every law is possible. For small problems, and to see what base models are
/// worth. Names, rewards, start, target and truth are kept. Throws InvalidArgument if it is a linear MDP
/// already, has a misspecification, or more than 2000 pairs.
Problem one_hot_linear(const Problem& mixture);

}  // namespace alidade
