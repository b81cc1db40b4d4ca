#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// A leaf of the tree of splits that has no policy yet.
struct OpenCell {
    Index node = 0;              ///< of the tree
    std::vector<Index> corners;  ///< k of them
};

/// Where an edge is split: m = t w_a + (1 - t) w_c.
struct EdgeSplit {
    std::size_t a = 0, c = 0;  ///< places among the cell's corners
    double t = 0.5;            ///< in (0, 1)
    /// Where the split is along the plane of one objective's weight: the objective and its weight there, so
    /// that the new corner lies on the plane exactly and not a rounding beside it.
    std::optional<std::pair<std::size_t, double>> plane = {};
};

/// Weights are on a plane if they are no farther from it than this, which is what corners are rounded by: a
/// cell is not split for less.
inline constexpr double plane_tolerance = 2e-15;

/// Half the 1-norm of the difference: the mass that has to be moved, in [0, 1].
double edge_length(std::span<const double> from, std::span<const double> to);

/// Simplices that are split at edges: whatever is split, the leaves of the tree cover all weights, and the
/// tree proves it [docs/algorithms/atlas.md, The cover].
class WeightCells {
public:
    explicit WeightCells(Index objectives);

    const std::vector<std::vector<double>>& corners() const noexcept { return corners_; }
    const std::vector<double>& corner(Index i) const noexcept {
        return corners_[static_cast<std::size_t>(i)];
    }
    const std::vector<AtlasNode>& tree() const noexcept { return tree_; }
    OpenCell root() const;

    /// Both parts of a cell; neighbours that are split at the same place share the new corner.
    std::array<OpenCell, 2> split(const OpenCell& cell, const EdgeSplit& at);
    /// The cell at a leaf.
    void close(const OpenCell& leaf, Index cell) { tree_[static_cast<std::size_t>(leaf.node)].cell = cell; }

    /// The parts of the simplex that lie within the bounds of each weight; those outside are closed as such.
    std::vector<OpenCell> within(std::span<const double> at_least, std::span<const double> at_most);

    /// The share of all weights that lies in a cell.
    double volume(std::span<const Index> corners) const;

private:
    Index corner_at(std::vector<double> weights);
    /// Splits where the weight of one objective passes `level`; parts on the far side are closed.
    std::vector<OpenCell> cut(std::vector<OpenCell> cells, std::size_t objective, double level,
                              bool keep_above);

    Index objectives_;
    std::vector<std::vector<double>> corners_;
    std::map<std::vector<double>, Index> places_;
    std::vector<AtlasNode> tree_;
};

}  // namespace alidade::detail
