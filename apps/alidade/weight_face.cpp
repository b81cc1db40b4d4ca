#include "weight_face.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
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

bool inside(const FaceTriangle& triangle, const Point& place) {
    const auto& [a, b, c] = triangle.places;
    const double one = signed_area(a, b, place), two = signed_area(b, c, place),
                 three = signed_area(c, a, place);
    return (one >= 0 && two >= 0 && three >= 0) || (one <= 0 && two <= 0 && three <= 0);
}

int level_of(double bound, double most) {
    if (!(most > 0)) return 0;
    return std::clamp(static_cast<int>(std::ceil(bound / most * FaceMap::levels)) - 1, 0,
                      FaceMap::levels - 1);
}

}  // namespace

FaceMap::FaceMap(const Atlas& atlas, const std::array<std::size_t, 3>& objectives,
                 const std::array<Point, 3>& places)
    : places_(places), near_(static_cast<std::size_t>(squares) * squares) {
    for (const std::vector<double>& weights : atlas.corners) {
        Point place;
        for (std::size_t i = 0; i < 3; ++i) {
            place.x += weights[objectives.at(i)] * places.at(i).x;
            place.y += weights[objectives.at(i)] * places.at(i).y;
        }
        corner_places_.push_back(place);
    }
    take_cells(atlas, objectives);
    sort_into_squares();
    draw_borders();
}

void FaceMap::take_cells(const Atlas& atlas, const std::array<std::size_t, 3>& objectives) {
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
}

std::size_t FaceMap::square_of(const Point& place) const {
    const double size = places_[1].x - places_[0].x;
    const auto along = [&](double distance) {
        return static_cast<std::size_t>(std::clamp(distance / size * squares, 0.0, squares - 1.0));
    };
    return along(place.y - places_[2].y) * squares + along(place.x - places_[0].x);
}

void FaceMap::sort_into_squares() {
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
        const auto& [a, b, c] = triangles_[i].places;
        const std::size_t first = square_of({std::min({a.x, b.x, c.x}), std::min({a.y, b.y, c.y})}),
                          last = square_of({std::max({a.x, b.x, c.x}), std::max({a.y, b.y, c.y})});
        for (std::size_t row = first / squares; row <= last / squares; ++row)
            for (std::size_t column = first % squares; column <= last % squares; ++column)
                near_[row * squares + column].push_back(i);
    }
}

/// The one that is drawn there; as many as there are: none.
std::size_t FaceMap::triangle_at(const Point& place) const {
    const std::vector<std::size_t>& candidates = near_[square_of(place)];
    for (auto i = candidates.rbegin(); i != candidates.rend(); ++i)
        if (inside(triangles_[*i], place)) return *i;
    return triangles_.size();
}

Index FaceMap::plan_at(const Point& place) const {
    const std::size_t found = triangle_at(place);
    return found < triangles_.size() ? triangles_[found].policy : -1;
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

void FaceMap::draw_borders() {
    std::set<Piece> pieces;
    for (const FaceTriangle& triangle : triangles_)
        for (std::size_t i = 0; i < 3; ++i) {
            const std::vector<Index> corners = corners_between(triangle, i, (i + 1) % 3);
            for (std::size_t j = 0; j + 1 < corners.size(); ++j)
                pieces.insert(std::minmax(corners[j], corners[j + 1]));
        }
    joined_.resize(triangles_.size());
    std::iota(joined_.begin(), joined_.end(), 0);
    for (const auto& [one, other] : pieces) {
        const Point from = corner_places_[at(one)], to = corner_places_[at(other)];
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        if (!(length > 0)) continue;
        // A look to both sides of the middle.
        const Point aside{0.02 * (to.y - from.y) / length, -0.02 * (to.x - from.x) / length},
            middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
        const std::size_t left = triangle_at({middle.x + aside.x, middle.y + aside.y}),
                          right = triangle_at({middle.x - aside.x, middle.y - aside.y});
        if (left < joined_.size() && right < joined_.size() &&
            triangles_[left].policy == triangles_[right].policy)
            joined_[region_of(left)] = region_of(right);
        else if (left != right)
            borders_.push_back({from, to});
    }
}

std::size_t FaceMap::region_of(std::size_t triangle) const {
    while (joined_[triangle] != triangle) triangle = joined_[triangle];
    return triangle;
}

double FaceMap::clearance(const Point& place) const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [from, to] : borders_) {
        const double x = to.x - from.x, y = to.y - from.y;
        const double t =
            std::clamp(((place.x - from.x) * x + (place.y - from.y) * y) / (x * x + y * y), 0.0, 1.0);
        least = std::min(least, std::hypot(place.x - from.x - t * x, place.y - from.y - t * y));
    }
    return least;
}

std::vector<FaceMap::Region> FaceMap::regions() const {
    struct Sum {
        double area = 0, x = 0, y = 0;
    };
    std::map<std::size_t, Region> regions;
    std::map<std::size_t, Sum> sums;
    const auto consider = [&](std::size_t region, const Point& place) {
        const std::size_t there = triangle_at(place);
        if (there == triangles_.size() || region_of(there) != region) return;
        const double room = clearance(place);
        Region& best = regions[region];
        if (room > best.clearance) best = {triangles_[region].policy, place, room};
    };
    for (std::size_t i = 0; i < triangles_.size(); ++i) {
        const double area = area_of(triangles_[i]);
        const Point centre = centre_of(triangles_[i]);
        Sum& sum = sums[region_of(i)];
        sum = {sum.area + area, sum.x + area * centre.x, sum.y + area * centre.y};
        if (area < 20) continue;  // no number fits
        consider(region_of(i), centre);
        const auto& [a, b, c] = triangles_[i].places;
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)})
            consider(region_of(i), {(from.x + to.x) / 2, (from.y + to.y) / 2});
    }
    for (const auto& [region, sum] : sums)
        if (sum.area > 0) consider(region, {sum.x / sum.area, sum.y / sum.area});
    std::vector<Region> all;
    for (const auto& [region, found] : regions) all.push_back(found);
    return all;
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
