#include "weight_cells.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

/// Cells of the region itself, which no budget of certificates could do with fewer. Bounds on both sides of
/// all weights leave some 14 cells of four weights, 700 of five and 10,000 of six.
constexpr Index most_parts = 20'000;

}  // namespace

double edge_length(std::span<const double> from, std::span<const double> to) {
    double sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) sum += std::abs(from[i] - to[i]);
    return sum / 2;
}

WeightCells::WeightCells(Index objectives) : objectives_(objectives), tree_(1) {
    for (Index i = 0; i < objectives; ++i) {
        std::vector<double> unit(at(objectives), 0.0);
        unit[at(i)] = 1;
        corner_at(std::move(unit));
    }
}

OpenCell WeightCells::root() const {
    OpenCell root;
    for (Index i = 0; i < objectives_; ++i) root.corners.push_back(i);
    return root;
}

Index WeightCells::corner_at(std::vector<double> weights) {
    const auto [place, added] = places_.try_emplace(weights, static_cast<Index>(corners_.size()));
    if (added) corners_.push_back(std::move(weights));
    return place->second;
}

std::array<OpenCell, 2> WeightCells::split(const OpenCell& cell, const EdgeSplit& at_edge) {
    const Index a = cell.corners[at_edge.a], c = cell.corners[at_edge.c];
    // Neighbours name the ends in either order; the point must be the same to the last bit.
    const bool swapped = a > c;
    const std::vector<double>&one = corner(swapped ? c : a), &other = corner(swapped ? a : c);
    const double t = swapped ? 1 - at_edge.t : at_edge.t;
    std::vector<double> middle(one.size());
    for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = t * one[i] + (1 - t) * other[i];
    if (at_edge.plane) middle[at_edge.plane->first] = at_edge.plane->second;
    const Index m = corner_at(std::move(middle));
    const auto first = static_cast<Index>(tree_.size());
    AtlasNode& node = tree_[at(cell.node)];
    node.split = {a, c, m};
    node.children = {first, first + 1};
    node.cell = AtlasNode::split_further;
    tree_.resize(tree_.size() + 2);
    std::array<OpenCell, 2> parts{OpenCell{first, cell.corners}, OpenCell{first + 1, cell.corners}};
    parts[0].corners[at_edge.a] = m;
    parts[1].corners[at_edge.c] = m;
    return parts;
}

std::vector<OpenCell> WeightCells::cut(std::vector<OpenCell> cells, std::size_t objective, double level,
                                       bool keep_above) {
    std::vector<OpenCell> kept;
    while (!cells.empty()) {
        OpenCell cell = std::move(cells.back());
        cells.pop_back();
        expects(static_cast<Index>(kept.size() + cells.size()) < most_parts,
                "the bounds of weights cut them into more than {} cells; give bounds of fewer weights, or "
                "wider ones",
                most_parts);
        const auto weight = [&](std::size_t j) { return corner(cell.corners[j])[objective]; };
        std::size_t low = 0, high = 0;
        for (std::size_t j = 1; j < cell.corners.size(); ++j) {
            if (weight(j) < weight(low)) low = j;
            if (weight(j) > weight(high)) high = j;
        }
        const bool below = weight(low)<level - plane_tolerance, above = weight(high)> level + plane_tolerance;
        if (below && above) {
            const double t = (level - weight(high)) / (weight(low) - weight(high));
            for (OpenCell& part : split(cell, {low, high, t, {{objective, level}}}))
                cells.push_back(std::move(part));
        } else if (keep_above ? !below : !above) {
            kept.push_back(std::move(cell));
        } else {
            close(cell, AtlasNode::outside);
        }
    }
    std::ranges::reverse(kept);
    return kept;
}

std::vector<OpenCell> WeightCells::within(std::span<const double> at_least, std::span<const double> at_most) {
    std::vector<OpenCell> cells{root()};
    // What is left of all least weights is one simplex, of which the largest ones cut off few corners.
    for (std::size_t i = 0; i < at(objectives_); ++i)
        if (at_least[i] > 0) cells = cut(std::move(cells), i, at_least[i], true);
    for (std::size_t i = 0; i < at(objectives_); ++i)
        if (at_most[i] < 1) cells = cut(std::move(cells), i, at_most[i], false);
    return cells;
}

double WeightCells::volume(std::span<const Index> corners) const {
    Matrix sides(objectives_, objectives_);
    for (Index j = 0; j < objectives_; ++j)
        for (Index i = 0; i < objectives_; ++i) sides(j, i) = corner(corners[at(j)])[at(i)];
    return std::abs(sides.determinant());
}

}  // namespace alidade::detail
