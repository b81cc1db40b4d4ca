#pragma once

#include "alidade/types.hpp"
#include "local_search.hpp"

namespace alidade::detail {

/// The semidefinite relaxation max |sum_j g_j v_j'|^2 over unit vectors v_j, by the mixing method: each v_j
/// in turn is set to its best given the others. A value: children of a search node start from their parent's.
class Mixing {
public:
    explicit Mixing(const Generators& generators);
    /// Vectors of `parent` less that of generator `removed`, for a problem with one generator fewer.
    Mixing(const Mixing& parent, Index removed, const Generators& generators);

    /// `count` sweeps over all vectors.
    void sweep(const Generators& generators, int count);
    /// Sweeps, ten at a time, until the bound stops falling: |G s| <= the value returned, for all signs.
    double bound(const Generators& generators, int rounds);
    /// Signs by a few hyperplanes, improved by flips.
    double round(const Generators& generators, std::vector<std::int8_t>& signs) const;
    /// Agreement of vector j with vector `other`, in [-1, 1].
    double agreement(Index j, Index other) const { return vectors_.col(j).dot(vectors_.col(other)); }

private:
    Matrix vectors_;  // k x n, unit columns
    Matrix product_;  // p x k: sum g_j v_j'
    Vector scores_;   // y_j at the last sweep
};

/// sqrt((sum y) lambda_max(sum g g'/y)), rounded outward: a bound for any y > 0; y is floored.
double dual_bound(const Generators& generators, Vector y);

}  // namespace alidade::detail
