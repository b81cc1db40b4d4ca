#include "weight_face.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace alidade::app {
namespace {

bool on_face(const std::vector<double>& weights, const std::array<std::size_t, 3>& objectives) {
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (weights[i] > 0 && std::find(objectives.begin(), objectives.end(), i) == objectives.end())
            return false;
    return true;
}

/// Twice the area of a triangle, with the sign of its direction.
double signed_area(const Point& a, const Point& b, const Point& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

double area_of(const FaceTriangle& triangle) {
    return 0.5 * std::abs(signed_area(triangle.places[0], triangle.places[1], triangle.places[2]));
}

Point centre_of(const FaceTriangle& triangle) {
    const auto& [a, b, c] = triangle.places;
    return {(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3};
}

int level_of(double bound, double most) {
    if (!(most > 0)) return 0;
    return std::clamp(static_cast<int>(std::ceil(bound / most * FaceMap::levels)) - 1, 0,
                      FaceMap::levels - 1);
}

}  // namespace

FaceMap::FaceMap(const Atlas& atlas, const std::array<std::size_t, 3>& objectives,
                 const std::array<Point, 3>& places)
    : places_(places), near_(static_cast<std::size_t>(buckets) * buckets) {
    for (const std::vector<double>& weights : atlas.corners) {
        Point place;
        for (std::size_t i = 0; i < 3; ++i) {
            place.x += weights[objectives.at(i)] * places.at(i).x;
            place.y += weights[objectives.at(i)] * places.at(i).y;
        }
        corner_places_.push_back(place);
    }
    std::set<Index> used;
    for (const AtlasCell& cell : atlas.cells) {
        FaceTriangle triangle{.policy = cell.policy};
        std::size_t found = 0;
        for (std::size_t j = 0; j < cell.corners.size(); ++j) {
            if (!on_face(atlas.corners[at(cell.corners[j])], objectives)) continue;
            triangle.corners.at(found) = cell.corners[j];
            triangle.places.at(found) = corner_places_[at(cell.corners[j])];
            triangle.bound = std::max(triangle.bound, cell.bounds[j]);
            ++found;
        }
        if (found < 3) continue;
        triangle.level = level_of(triangle.bound, atlas.loss_bound);
        triangles_.push_back(triangle);
        used.insert(triangle.corners.begin(), triangle.corners.end());
    }
    corners_.assign(used.begin(), used.end());
    std::stable_sort(triangles_.begin(), triangles_.end(), [](const FaceTriangle& a, const FaceTriangle& b) {
        return a.level != b.level ? a.level > b.level : a.policy < b.policy;
    });
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
        const auto [left, right] =
            std::minmax({triangles_[i].places[0].x, triangles_[i].places[1].x, triangles_[i].places[2].x});
        const auto [top, bottom] =
            std::minmax({triangles_[i].places[0].y, triangles_[i].places[1].y, triangles_[i].places[2].y});
        const double size = places_[1].x - places_[0].x;
        for (int row = bucket(top, places_[2].y, size); row <= bucket(bottom, places_[2].y, size); ++row)
            for (int column = bucket(left, places_[0].x, size); column <= bucket(right, places_[0].x, size);
                 ++column)
                near_[static_cast<std::size_t>(row * buckets + column)].push_back(i);
    }
}

int FaceMap::bucket(double value, double least, double size) const {
    return std::clamp(static_cast<int>((value - least) / size * buckets), 0, buckets - 1);
}

bool FaceMap::inside(const FaceTriangle& triangle, const Point& place) const {
    const auto& [a, b, c] = triangle.places;
    const double one = signed_area(a, b, place), two = signed_area(b, c, place),
                 three = signed_area(c, a, place);
    return (one >= 0 && two >= 0 && three >= 0) || (one <= 0 && two <= 0 && three <= 0);
}

Index FaceMap::plan_at(const Point& place) const {
    const double size = places_[1].x - places_[0].x;
    const auto& candidates = near_[static_cast<std::size_t>(bucket(place.y, places_[2].y, size) * buckets +
                                                            bucket(place.x, places_[0].x, size))];
    for (auto i = candidates.rbegin(); i != candidates.rend(); ++i)
        if (inside(triangles_[*i], place)) return triangles_[*i].policy;
    return -1;
}

std::vector<Index> FaceMap::corners_between(const FaceTriangle& triangle, std::size_t from,
                                            std::size_t to) const {
    const Point start = triangle.places.at(from), stop = triangle.places.at(to);
    const double x = stop.x - start.x, y = stop.y - start.y, square = x * x + y * y;
    std::vector<std::pair<double, Index>> along{{0, triangle.corners.at(from)}, {1, triangle.corners.at(to)}};
    // Cells of one size may meet several smaller ones along an edge.
    for (const Index corner : corners_) {
        const Point place = corner_places_[at(corner)];
        const double t = ((place.x - start.x) * x + (place.y - start.y) * y) / square;
        if (!(t > 1e-9 && t < 1 - 1e-9)) continue;
        if (std::hypot(place.x - start.x - t * x, place.y - start.y - t * y) < 1e-6)
            along.emplace_back(t, corner);
    }
    std::sort(along.begin(), along.end());
    std::vector<Index> corners;
    for (const auto& [t, corner] : along) corners.push_back(corner);
    return corners;
}

std::string FaceMap::borders() const {
    std::set<std::pair<Index, Index>> pieces;
    for (const FaceTriangle& triangle : triangles_)
        for (std::size_t i = 0; i < 3; ++i) {
            const std::vector<Index> corners = corners_between(triangle, i, (i + 1) % 3);
            for (std::size_t j = 0; j + 1 < corners.size(); ++j)
                pieces.insert(std::minmax(corners[j], corners[j + 1]));
        }
    std::string data;
    for (const auto& [one, other] : pieces) {
        const Point from = corner_places_[at(one)], to = corner_places_[at(other)];
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        if (!(length > 0)) continue;
        const Point aside{0.02 * (to.y - from.y) / length, -0.02 * (to.x - from.x) / length},
            middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
        if (plan_at({middle.x + aside.x, middle.y + aside.y}) ==
            plan_at({middle.x - aside.x, middle.y - aside.y}))
            continue;
        data += fmt::format("M{} {}L{} {}", coordinate(from.x), coordinate(from.y), coordinate(to.x),
                            coordinate(to.y));
    }
    return data;
}

FaceMap::Room FaceMap::room_of(Index plan) const {
    Room room;
    Point centre;
    const FaceTriangle* largest = nullptr;
    for (const FaceTriangle& triangle : triangles_) {
        if (triangle.policy != plan || plan_at(centre_of(triangle)) != plan) continue;
        const double area = area_of(triangle);
        centre.x += area * centre_of(triangle).x;
        centre.y += area * centre_of(triangle).y;
        room.area += area;
        if (largest == nullptr || area > area_of(*largest)) largest = &triangle;
    }
    if (largest == nullptr) return room;
    room.centre = {centre.x / room.area, centre.y / room.area};
    if (!(room.area > 0) || plan_at(room.centre) != plan) room.centre = centre_of(*largest);
    return room;
}

double face_floor(const Atlas& atlas, const std::array<std::size_t, 3>& objectives) {
    std::vector<double> least(atlas.corners.size(), static_cast<double>(atlas.horizon) + 1);
    for (const AtlasCell& cell : atlas.cells)
        for (std::size_t j = 0; j < cell.corners.size(); ++j)
            least[at(cell.corners[j])] = std::min(least[at(cell.corners[j])], cell.bounds[j]);
    double floor = -1;
    for (std::size_t corner = 0; corner < least.size(); ++corner)
        if (least[corner] <= static_cast<double>(atlas.horizon) && on_face(atlas.corners[corner], objectives))
            floor = std::max(floor, least[corner]);
    return floor;
}

}  // namespace alidade::app
