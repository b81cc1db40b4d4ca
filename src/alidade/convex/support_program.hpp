#pragma once

#include <algorithm>
#include <vector>

#include "alidade/types.hpp"
#include "interior_point.hpp"

namespace alidade::detail {

/// A direction in tangent coordinates, scaled to range 1 over the parameters.
struct SupportGoal {
    Vector direction;  // less `shift`; no elements for the zero goal of a proof of emptiness
    double shift = 0;  // the simplex's least element
    double top = 0;    // the simplex's largest element
    double base = 0;   // direction . weights at the origin
    double scale = 0;  // half range at least: value = shift + base + scale * (tangent . (zeta - origin))
    double size = 0;   // |direction|, for rounding
    Vector tangent;

    double unit() const { return std::min(scale, size); }  // of the tolerance
};

/// The constraints in coordinates counted from the origin.
struct SupportProgram {
    Matrix rows;
    Vector offsets;
    std::vector<Vector> centres;
    std::vector<QuadraticConstraint> quadratics;
};

}  // namespace alidade::detail
