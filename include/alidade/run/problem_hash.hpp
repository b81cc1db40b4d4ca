#pragma once

#include <string>

#include "alidade/problem/problem.hpp"

namespace alidade {

/// 32 hexadecimal digits that tell problems apart for exploration: FNV-1a (128 bits) over the features,
/// the start, the horizon, whether the weights are homogeneous and the misspecification, if any. Names,
/// truth, rewards and target do not enter: a run stays valid when they change.
std::string problem_hash(const Problem& problem);

}  // namespace alidade
