#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/types.hpp"
#include "sign_maximum.hpp"

namespace alidade::detail {

using Generators = Eigen::Map<const Matrix>;  // p x n

inline Generators generators_of(const SignProblem& problem) {
    return {problem.generators.data(), problem.dimension, problem.count};
}

/// At least what rounding can take from a norm |sum_j s_j g_j| computed with so many additions. An addition
/// in coordinate i errs by at most 2^-53 sum_j |g_ij|, all coordinates together by 2^-53 sum_j |g_j|; the
/// norm itself by p more of the same. Twice that, for the second order and for this sum's own rounding.
double summation_slack(const Generators& generators, Index additions);

/// Signs of the scores g_j . direction; +1 where the score is zero.
std::vector<std::int8_t> signs_towards(const Generators& generators, const Vector& direction);

/// Ascent, then single flips, until neither raises the norm; the norm reached. The first `fixed` signs stay.
double improve(const Generators& generators, std::vector<std::int8_t>& signs, Index fixed = 0);

/// The best of local searches from the directions of G G' and from its columns' signs.
double search_locally(const Generators& generators, std::vector<std::int8_t>& signs);

}  // namespace alidade::detail
