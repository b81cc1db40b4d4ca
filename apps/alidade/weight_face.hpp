#pragma once

#include <array>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "svg.hpp"

namespace alidade::app {

/// A cell of an atlas where all weight is on three objectives.
struct FaceTriangle {
    std::array<Index, 3> corners{};  ///< of Atlas::corners
    std::array<Point, 3> places{};
    Index policy = 0;
    double bound = 0;  ///< of the loss there
    int level = 0;     ///< of darkness: 0 to FaceMap::levels - 1
};

/// The weightings of three objectives, the others' weights 0, laid out as a triangle: which plan is where.
class FaceMap {
public:
    static constexpr int levels = 12;

    /// `places` are those of the objectives.
    FaceMap(const Atlas& atlas, const std::array<std::size_t, 3>& objectives,
            const std::array<Point, 3>& places);

    /// In the order in which they are drawn: where more than three objectives leave several cells the same
    /// place, the one that promises most comes last.
    const std::vector<FaceTriangle>& triangles() const noexcept { return triangles_; }
    /// The plan drawn at a place; -1: none.
    Index plan_at(const Point& place) const;
    /// Lines between two plans, and between what was asked for and what was not.
    const std::vector<std::array<Point, 2>>& borders() const noexcept { return borders_; }
    /// A connected region of one plan, and where in it there is most room for the plan's number.
    struct Region {
        Index plan = 0;
        Point centre;
        double clearance = 0;  ///< to the nearest border, in pixels
    };
    std::vector<Region> regions() const;

private:
    static constexpr int squares = 40;  ///< in each direction

    using Piece = std::pair<Index, Index>;  ///< of an edge, between neighbouring corners

    void take_cells(const Atlas& atlas, const std::array<std::size_t, 3>& objectives);
    void sort_into_squares();
    void draw_borders();
    std::vector<Index> corners_between(const FaceTriangle& triangle, std::size_t from, std::size_t to) const;
    std::size_t square_of(const Point& place) const;
    std::size_t triangle_at(const Point& place) const;
    std::size_t region_of(std::size_t triangle) const;
    double clearance(const Point& place) const;

    std::array<Point, 3> places_;
    std::vector<FaceTriangle> triangles_;
    std::vector<Index> corners_;                  ///< that some triangle has
    std::vector<Point> corner_places_;            ///< of all corners of the atlas
    std::vector<std::vector<std::size_t>> near_;  ///< triangles that meet a square, to find them quickly
    std::vector<std::array<Point, 2>> borders_;
    std::vector<std::size_t> joined_;  ///< for each triangle, another of its region; itself for one of them
};

/// The largest over corners with all weight on the three objectives of the least bound of a cell there; -1
/// where no cell reaches.
double face_floor(const Atlas& atlas, const std::array<std::size_t, 3>& objectives);

}  // namespace alidade::app
