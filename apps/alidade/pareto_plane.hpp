#pragma once

#include <vector>

/// Regions of the values of two objectives, both of which are better when larger.
namespace alidade::app {

struct Values {
    double across = 0, up = 0;
};

/// across * v.across + up * v.up <= most.
struct HalfPlane {
    double across = 0, up = 0, most = 0;
};

/// What of the rectangle from `low` to `high` lies in all half-planes: the corners of a convex polygon, none
/// if nothing does.
std::vector<Values> not_excluded(const std::vector<HalfPlane>& half_planes, const Values& low,
                                 const Values& high);

/// Mixtures of `points` and all that is no better, from `low` on, which no point lies below: the corners of a
/// convex polygon. [docs/algorithms/atlas.md, Theorem 5]
std::vector<Values> guaranteed(const std::vector<Values>& points, const Values& low);

/// What of a line that falls from left to right has no value below `low`.
std::vector<Values> from_corner(const std::vector<Values>& line, const Values& low);

}  // namespace alidade::app
