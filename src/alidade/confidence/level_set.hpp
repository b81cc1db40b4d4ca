#pragma once

#include <span>

#include "alidade/types.hpp"

namespace alidade::detail {

/// A convex set of weights that is known by its support function, and lies in the ellipsoid of a confidence
/// set. It does not change, and may be asked from several threads.
class LevelSet {
public:
    LevelSet() = default;
    LevelSet(const LevelSet&) = delete;
    LevelSet& operator=(const LevelSet&) = delete;
    virtual ~LevelSet() = default;

    /// At least the largest weights . direction, d numbers, of its members. `guess` is such a bound already,
    /// by which it knows where to look. Takes some hundred times as long as that of an ellipsoid.
    virtual double upper(std::span<const double> direction, double guess) const = 0;
    /// A member that is nearly as far in the direction as any; `guess` as above.
    virtual Vector farthest(std::span<const double> direction, double guess) const = 0;
    /// Whether the weights, of the simplex, are a member.
    virtual bool contains(const Vector& weights) const = 0;
};

}  // namespace alidade::detail
