#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/types.hpp"
#include "alidade/width/sign_maximum.hpp"

namespace alidade::detail {

using Generators = Eigen::Map<const Matrix>;  // p x n

inline Generators generators_of(const SignProblem& problem) {
    return {problem.generators.data(), problem.dimension, problem.count};
}

/// Signs of the scores g_j . direction; +1 where the score is zero.
std::vector<std::int8_t> signs_towards(const Generators& generators, const Vector& direction);

/// Ascent, then single flips, until neither raises the norm; the norm reached. The first `fixed` signs stay.
double improve(const Generators& generators, std::vector<std::int8_t>& signs, Index fixed = 0);

/// The best of local searches from the directions of G G' and from its columns' signs.
double search_locally(const Generators& generators, std::vector<std::int8_t>& signs);

}  // namespace alidade::detail
