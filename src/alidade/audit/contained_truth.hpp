#pragma once

#include "alidade/certify/knowledge.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::detail {

/// Whether the problem's truth lies in the confidence sets: then every bound holds. Of a truth with a foreign
/// part, if its weights do and no law is farther from their mixture than the misspecification that was
/// learned with.
bool contains_truth(const Knowledge& knowledge, const Problem& problem);

}  // namespace alidade::detail
