#include "pareto_plane.hpp"

#include <algorithm>

namespace alidade::app {
namespace {

double excess(const HalfPlane& plane, const Values& values) {
    return plane.across * values.across + plane.up * values.up - plane.most;
}

/// Twice the area to the left of the way from a over b to c.
double turn(const Values& a, const Values& b, const Values& c) {
    return (b.across - a.across) * (c.up - a.up) - (b.up - a.up) * (c.across - a.across);
}

}  // namespace

std::vector<Values> not_excluded(const std::vector<HalfPlane>& half_planes, const Values& low,
                                 const Values& high) {
    std::vector<Values> region{low, {high.across, low.up}, high, {low.across, high.up}};
    for (const HalfPlane& plane : half_planes) {
        std::vector<Values> kept;
        for (std::size_t i = 0; i < region.size(); ++i) {
            const Values &from = region[i], &to = region[(i + 1) % region.size()];
            const double before = excess(plane, from), after = excess(plane, to);
            if (before <= 0) kept.push_back(from);
            if ((before < 0 && after > 0) || (before > 0 && after < 0)) {
                const double t = before / (before - after);
                kept.push_back(
                    {from.across + t * (to.across - from.across), from.up + t * (to.up - from.up)});
            }
        }
        region = std::move(kept);
    }
    return region;
}

std::vector<Values> guaranteed(const std::vector<Values>& points, const Values& low) {
    if (points.empty()) return {};
    Values most = low;
    for (const Values& point : points)
        most = {std::max(most.across, point.across), std::max(most.up, point.up)};
    std::vector<Values> sorted = points;
    sorted.push_back({low.across, most.up});
    sorted.push_back({most.across, low.up});
    std::sort(sorted.begin(), sorted.end(), [](const Values& a, const Values& b) {
        return a.across != b.across ? a.across < b.across : a.up > b.up;
    });
    // The upper hull from the left to the right; what is below it is the region.
    std::vector<Values> hull;
    for (const Values& point : sorted) {
        while (hull.size() > 1 && turn(hull[hull.size() - 2], hull.back(), point) >= 0) hull.pop_back();
        hull.push_back(point);
    }
    hull.push_back(low);
    return hull;
}

std::vector<Values> from_corner(const std::vector<Values>& line, const Values& low) {
    std::vector<Values> kept;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto within = [&](const Values& v) { return v.across >= low.across && v.up >= low.up; };
        if (i > 0 && within(line[i - 1]) != within(line[i])) {
            const Values &in = within(line[i]) ? line[i] : line[i - 1],
                         &out = within(line[i]) ? line[i - 1] : line[i];
            double t = 1;
            if (out.across < low.across) t = std::min(t, (in.across - low.across) / (in.across - out.across));
            if (out.up < low.up) t = std::min(t, (in.up - low.up) / (in.up - out.up));
            kept.push_back({in.across + t * (out.across - in.across), in.up + t * (out.up - in.up)});
        }
        if (within(line[i])) kept.push_back(line[i]);
    }
    return kept;
}

}  // namespace alidade::app
