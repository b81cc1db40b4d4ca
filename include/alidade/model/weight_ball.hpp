#pragma once

#include <span>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// What convex weights of one step are left possible, as plain numbers: those of the simplex within a radius
/// of an estimate, and so within another of its projection onto the simplex, in one and the same norm. What
/// rounding may cost is added to both. Reads arrays that must outlive it.
struct WeightBall {
    /// A face theta_i = 0 of the simplex that the ball about the projection crosses.
    struct Face {
        Index feature = 0;  ///< i
        double square = 0;  ///< squared dual norm of e_i
        double tangent =
            0;  ///< s / sqrt(1 - s^2), s the centre's theta_i over the ball's reach in that direction
    };

    Index features = 0;                 ///< d
    Index dimension = 0;                ///< p
    const double* estimated = nullptr;  ///< d numbers: theta hat
    const double* projected = nullptr;  ///< d numbers: theta~
    /// p x d, column after column: its product with a direction has the direction's dual norm.
    const double* dual_map = nullptr;
    double radius = 0;               ///< about theta hat, in dual norms
    double estimate_rounding = 0;    ///< added to it, in lengths of a direction
    double refined_radius = 0;       ///< about theta~
    double projection_rounding = 0;  ///< added to it
    std::span<const Face> faces;
};

}  // namespace alidade
