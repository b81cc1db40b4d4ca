#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "../theory/radii.hpp"
#include "alidade/certify/atlas.hpp"
#include "alidade/error.hpp"
#include "atlas_cells.hpp"
#include "weight_cells.hpp"

namespace alidade {

namespace {

/// Weights whose coordinates in a simplex are this far below 0 are taken to lie in it: what that is off is
/// measured. Coordinates in a thin simplex are rounded by more; then, at an edge of the region, more is
/// tolerated until there is a cell.
constexpr double edge_tolerance = 1e-12, more_tolerant = 1e3;
/// How far, in the 1-norm, a corner may be off the edge that it splits, and weights off a sum of 1.
constexpr double corner_tolerance = 1e-12;
/// The same of all splits down to a cell. By Lemma 1 it moves a loss by H times as much, far less than the
/// atlas's allowance for rounding.
constexpr double path_tolerance = 1e-10;

/// t of m = t a + (1 - t) c, by least squares.
double place_on_edge(const std::vector<double>& a, const std::vector<double>& c,
                     const std::vector<double>& m) {
    double along = 0, length = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        along += (m[i] - c[i]) * (a[i] - c[i]);
        length += (a[i] - c[i]) * (a[i] - c[i]);
    }
    return length > 0 ? along / length : -1;
}

/// Weights in coordinates of the corners of one part of the tree.
struct Descent {
    Index node = 0;
    std::vector<Index> corners;
    std::vector<double> coordinates;
};

/// Both parts of a simplex, without coordinates that are negative by more than is tolerated.
void descend(const Atlas& atlas, const Descent& from, double tolerance, std::vector<Descent>& stack) {
    const AtlasNode& node = atlas.tree[at(from.node)];
    const auto [a, c, m] = node.split;
    const auto place = [&](Index corner) {
        return static_cast<std::size_t>(std::ranges::find(from.corners, corner) - from.corners.begin());
    };
    const std::size_t at_a = place(a), at_c = place(c);
    const double t = place_on_edge(atlas.corners[at(a)], atlas.corners[at(c)], atlas.corners[at(m)]);
    const double of_a = from.coordinates[at_a], of_c = from.coordinates[at_c];
    const double rest_of_c = of_c - of_a * (1 - t) / t, rest_of_a = of_a - of_c * t / (1 - t);
    if (rest_of_a >= -tolerance) {
        Descent second{node.children[1], from.corners, from.coordinates};
        second.corners[at_c] = m;
        second.coordinates[at_c] = of_c / (1 - t);
        second.coordinates[at_a] = rest_of_a;
        stack.push_back(std::move(second));
    }
    if (rest_of_c >= -tolerance) {
        Descent first{node.children[0], from.corners, from.coordinates};
        first.corners[at_a] = m;
        first.coordinates[at_a] = of_a / t;
        first.coordinates[at_c] = rest_of_c;
        stack.push_back(std::move(first));
    }
}

/// Of weights that sum to 1: the bounds at the corners, weighted, and what the weights are off that mixture
/// [docs/algorithms/atlas.md, Theorem 2].
double interpolated(const Atlas& atlas, const AtlasCell& cell, std::vector<double> coordinates,
                    const std::vector<double>& weights) {
    const auto k = static_cast<double>(atlas.objectives);
    // What is set to 0 is taken from the others: in a small cell that moves the mixture by little.
    double all = 0;
    for (double& coordinate : coordinates) all += coordinate = std::max(0.0, coordinate);
    std::vector<double> off = weights;
    double sum = 0;
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
        const double share = coordinates[j] / all;
        sum += share * cell.bounds[j];
        for (std::size_t i = 0; i < off.size(); ++i) off[i] -= share * atlas.corners[at(cell.corners[j])][i];
    }
    double distance = 0;
    for (const double difference : off) distance += std::abs(difference);
    // The sums above are rounded themselves.
    constexpr double rounding = 1e-15;
    return std::min(
        static_cast<double>(atlas.horizon),
        sum * (1 + k * rounding) + static_cast<double>(atlas.horizon) * (distance + k * rounding));
}

std::vector<double> normalised_weights(const Atlas& atlas, std::span<const double> weights, double& sum) {
    expects(static_cast<Index>(weights.size()) == atlas.objectives,
            "there are {} weights; must be {}, one an objective", weights.size(), atlas.objectives);
    for (std::size_t i = 0; i < weights.size(); ++i)
        expects(weights[i] >= 0 && std::isfinite(weights[i]),
                "the weight of objective {} is {}; must be 0 or more", i, weights[i]);
    sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    // Below the normal numbers a bound in the scale of the weights could be rounded to nothing.
    expects(std::isnormal(sum), "the weights sum to {}; must be more than 0, and a number of full precision",
            sum);
    std::vector<double> normalised(weights.begin(), weights.end());
    for (std::size_t i = 0; i < normalised.size(); ++i) {
        normalised[i] /= sum;
        expects(normalised[i] >= atlas.at_least[i] - corner_tolerance &&
                    normalised[i] <= atlas.at_most[i] + corner_tolerance,
                "the weight of objective {} is {} of the sum; this atlas is for {} to {}", i, normalised[i],
                atlas.at_least[i], atlas.at_most[i]);
    }
    return normalised;
}

bool beyond(const Atlas& atlas, const std::vector<Index>& corners) {
    for (std::size_t i = 0; i < at(atlas.objectives); ++i) {
        const auto weight = [&](Index corner) { return atlas.corners[at(corner)][i]; };
        const double least = atlas.at_least[i] + detail::plane_tolerance,
                     most = atlas.at_most[i] - detail::plane_tolerance;
        if (std::ranges::all_of(corners, [&](Index corner) { return weight(corner) <= least; }) ||
            std::ranges::all_of(corners, [&](Index corner) { return weight(corner) >= most; }))
            return true;
    }
    return false;
}

/// A part is outside where it has no more than a face in common with the region. So the region must have an
/// inside, all of which, and with it its faces, is then in the other parts.
void check_region(const Atlas& atlas) {
    double least = 0, most = 0;
    for (std::size_t i = 0; i < at(atlas.objectives); ++i) {
        const double from = atlas.at_least[i], to = atlas.at_most[i];
        ensures(from >= 0 && from < to && to <= 1, "the weights of objective {} are from {} to {}", i, from,
                to);
        least += from;
        most += to;
    }
    ensures(least < 1 && most > 1, "the least weights sum to {} and the largest to {}", least, most);
}

void check_corners(const Atlas& atlas) {
    const auto k = at(atlas.objectives);
    for (std::size_t j = 0; j < atlas.corners.size(); ++j) {
        const std::vector<double>& weights = atlas.corners[j];
        ensures(weights.size() == k, "corner {} has {} weights; must have {}", j, weights.size(), k);
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) {
            ensures(weights[i] >= 0, "corner {} has the weight {}", j, weights[i]);
            ensures(j >= k || weights[i] == (i == j ? 1 : 0), "corner {} is not a unit vector", j);
            sum += weights[i];
        }
        ensures(std::abs(sum - 1) <= static_cast<double>(k) * corner_tolerance,
                "the weights of corner {} sum to {}", j, sum);
    }
}

void check_policies(const Atlas& atlas) {
    const auto k = at(atlas.objectives);
    for (std::size_t p = 0; p < atlas.policies.size(); ++p) {
        const AtlasPolicy& policy = atlas.policies[p];
        ensures(policy.values.size() == k, "policy {} has values of {} objectives; must be {}", p,
                policy.values.size(), k);
        for (const Interval& value : policy.values)
            ensures(value.lower <= value.upper, "a value of policy {} is from {} to {}", p, value.lower,
                    value.upper);
    }
}

void check_cell(const Atlas& atlas, std::size_t number) {
    const AtlasCell& cell = atlas.cells[number];
    ensures(cell.bounds.size() == at(atlas.objectives) && cell.corners.size() == at(atlas.objectives),
            "cell {} does not have a bound for every corner", number);
    ensures(cell.policy >= 0 && cell.policy < static_cast<Index>(atlas.policies.size()),
            "cell {} has policy {}, which is not there", number, cell.policy);
    for (const double bound : cell.bounds)
        ensures(bound >= 0 && bound <= cell.loss_bound, "cell {} has a bound {} and promises {}", number,
                bound, cell.loss_bound);
    // What is rounded, and what corners may be off their edges.
    const double slack = detail::rounding_slack(atlas.horizon), most = static_cast<double>(atlas.horizon);
    ensures(std::min(most, cell.loss_bound + slack) <= atlas.loss_bound &&
                cell.loss_bound <= atlas.policies[at(cell.policy)].loss_bound,
            "cell {} has the bound {}, more than the atlas or its policy promises", number, cell.loss_bound);
}

/// How far, in the 1-norm, its corner is off the edge: so much of the part may be in neither half.
double check_split(const Atlas& atlas, Index number, const std::vector<Index>& corners) {
    const AtlasNode& node = atlas.tree[at(number)];
    const auto [a, c, m] = node.split;
    ensures(a != c && std::ranges::count(corners, a) == 1 && std::ranges::count(corners, c) == 1,
            "node {} of the tree is split at an edge that it does not have", number);
    ensures(m >= 0 && m < static_cast<Index>(atlas.corners.size()),
            "node {} is split at a corner that is not there", number);
    const std::vector<double>&from = atlas.corners[at(a)], &to = atlas.corners[at(c)],
          &middle = atlas.corners[at(m)];
    const double t = place_on_edge(from, to, middle);
    ensures(t > 0 && t < 1, "node {} is split beside its edge", number);
    double off = 0;
    for (std::size_t i = 0; i < from.size(); ++i) off += std::abs(middle[i] - t * from[i] - (1 - t) * to[i]);
    ensures(off <= corner_tolerance, "node {} is split {} off its edge", number, off);
    // Later ones only: so nothing is its own part.
    for (const Index child : node.children)
        ensures(child > number && child < static_cast<Index>(atlas.tree.size()), "node {} has no part {}",
                number, child);
    return off;
}

/// Of the cells that have the weights, which sum to 1, the one that promises most.
std::optional<AtlasAnswer> best_cell(const Atlas& atlas, const std::vector<double>& weights,
                                     double tolerance) {
    Descent root{0, {}, weights};
    for (Index i = 0; i < atlas.objectives; ++i) root.corners.push_back(i);
    std::vector<Descent> stack{std::move(root)};
    std::optional<AtlasAnswer> best;
    while (!stack.empty()) {
        const Descent here = std::move(stack.back());
        stack.pop_back();
        const Index cell = atlas.tree[at(here.node)].cell;
        if (cell == AtlasNode::split_further) {
            descend(atlas, here, tolerance, stack);
        } else if (cell >= 0) {
            const AtlasCell& found = atlas.cells[at(cell)];
            const double bound = interpolated(atlas, found, here.coordinates, weights);
            if (!best || bound < best->loss_bound) best = {found.policy, cell, bound};
        }
    }
    return best;
}

}  // namespace

AtlasAnswer Atlas::at(std::span<const double> weights) const {
    double scale = 1;
    const std::vector<double> normalised = normalised_weights(*this, weights, scale);
    std::optional<AtlasAnswer> best;
    for (double tolerance = edge_tolerance; !best && tolerance <= 1; tolerance *= more_tolerant)
        best = best_cell(*this, normalised, tolerance);
    ensures(best.has_value(), "the atlas has no cell for weights in its region");
    best->loss_bound *= scale;
    return *best;
}

void check_cover(const Atlas& atlas) {
    for (std::size_t p = 0; p < atlas.policies.size(); ++p) {
        const Index horizon = atlas.policies[p].policy.shape().horizon;
        ensures(horizon == atlas.horizon, "policy {} has the horizon {}", p, horizon);
    }
    detail::check_cells(atlas);
}

void detail::check_cells(const Atlas& atlas) {
    const auto k = at(atlas.objectives);
    ensures(atlas.horizon >= 1, "the atlas has the horizon {}", atlas.horizon);
    ensures(k >= 1 && atlas.at_least.size() == k && atlas.at_most.size() == k && atlas.corners.size() >= k &&
                !atlas.tree.empty(),
            "the atlas has no corners, no tree or no bounds of weights");
    check_region(atlas);
    check_corners(atlas);
    check_policies(atlas);
    struct Part {
        Index node;
        std::vector<Index> corners;
        double off;  // what the splits on the way are off their edges
    };
    std::vector<Part> stack{{0, {}, 0}};
    for (Index i = 0; i < atlas.objectives; ++i) stack.back().corners.push_back(i);
    std::vector<bool> seen(atlas.tree.size(), false), reached(atlas.cells.size(), false);
    while (!stack.empty()) {
        const Part part = std::move(stack.back());
        stack.pop_back();
        ensures(!seen[at(part.node)], "node {} is a part of two others", part.node);
        seen[at(part.node)] = true;
        const AtlasNode& node = atlas.tree[at(part.node)];
        if (node.cell == AtlasNode::split_further) {
            const double off = part.off + check_split(atlas, part.node, part.corners);
            ensures(off <= path_tolerance, "the splits down to node {} are {} off their edges", part.node,
                    off);
            for (const std::size_t which : {0u, 1u}) {
                Part child{node.children[which], part.corners, off};
                std::ranges::replace(child.corners, node.split[which], node.split[2]);
                stack.push_back(std::move(child));
            }
        } else if (node.cell == AtlasNode::outside) {
            ensures(beyond(atlas, part.corners), "node {} is called outside and is not", part.node);
        } else {
            ensures(node.cell >= 0 && node.cell < static_cast<Index>(atlas.cells.size()) &&
                        !reached[at(node.cell)],
                    "node {} is cell {}, which is not there or was another node's", part.node, node.cell);
            reached[at(node.cell)] = true;
            ensures(atlas.cells[at(node.cell)].corners == part.corners,
                    "cell {} has other corners than its place in the tree", node.cell);
            check_cell(atlas, at(node.cell));
        }
    }
    ensures(std::ranges::all_of(reached, std::identity{}) && std::ranges::all_of(seen, std::identity{}),
            "a cell or node of the atlas is not in its tree");
}

}  // namespace alidade
