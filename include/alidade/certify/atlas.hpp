#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/weighting.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Where a search for an atlas stands.
struct AtlasProgress {
    Index certificates = 0;
    Index cells = 0;   ///< done
    Index open = 0;    ///< cells that have no policy yet
    double floor = 0;  ///< of the corners so far
};

struct AtlasOptions {
    double loss = 0;              ///< asked for, in rewards, >= 0; 0: as small as the data allow
    Index certificates = 20'000;  ///< budget, >= 1; what closing the last cells takes may come on top
    double shortest_edge = 1e-4;  ///< in half the 1-norm of weights, in (0, 1): shorter ones are not split
    std::vector<double> at_least = {}, at_most = {};  ///< of each weight, in [0, 1]; empty: 0 and 1
    Threads threads;                                  ///< results do not depend on them
    /// Asked between rounds, and while the worst cells are improved; true: hand over what there is.
    std::function<bool()> interrupted = {};
    std::function<void(const AtlasProgress&)> observe = {};  ///< told between rounds
    /// Give up at the first weights at which no policy that was tried has a bound of at most this. What is
    /// handed over then is valid and coarse.
    std::optional<double> give_up = {};
};

/// A simplex of weights, one policy for all of it, and what is certain of that policy at its corners.
struct AtlasCell {
    std::vector<Index> corners;  ///< k of them, of Atlas::corners
    Index policy = 0;            ///< of Atlas::policies
    std::vector<double> bounds;  ///< at each corner, V* - V^pi of its weighting is at most this, in [0, H]
    double loss_bound = 0;       ///< the largest of them
};

/// Of the tree of splits, which proves that the cells cover all weights.
struct AtlasNode {
    static constexpr Index split_further = -1, outside = -2;
    std::array<Index, 3> split{};     ///< corners a, c and m, which lies on their edge
    std::array<Index, 2> children{};  ///< with m in place of a, with m in place of c
    Index cell = split_further;       ///< of a leaf: its cell, or `outside` the weights asked for
};

struct AtlasPolicy {
    Policy policy;
    std::vector<double> made_for;      ///< the weights that it is optimal for in the model
    double share = 0;                  ///< of the volume of all weights asked for, 0 to 1
    double loss_bound = 0;             ///< the largest of its cells
    std::vector<double> model_values;  ///< of each objective, in the model
    std::vector<Interval> values;      ///< contain the true values of each objective
};

/// No policy at all has values v with weights . v above this, on the real system.
struct AtlasOuter {
    std::vector<double> weights;
    double optimal_upper = 0;
};

/// Why an atlas is not finer: the loss asked for is met; the data allow no less; the budget is spent; edges
/// became too short; it was interrupted.
enum class AtlasLimit { target, data, budget, resolution, interrupted };
std::string to_string(AtlasLimit limit);

/// What the atlas says of one weighting.
struct AtlasAnswer {
    Index policy = 0;
    Index cell = 0;
    double loss_bound = 0;  ///< of that policy under that weighting
};

/// Policies for every weighting of some objectives: a subdivision of the weights {w >= 0, sum 1} into cells
/// with a policy each, such that, with probability 1 - failure_probability and whatever the weights, the
/// policy of their cell loses at most `loss_bound` on the real system [docs/algorithms/atlas.md, Theorem 2].
struct Atlas {
    Index objectives = 0;  ///< k
    Index horizon = 0;
    std::vector<double> at_least, at_most;     ///< of each weight: what was asked for
    std::vector<std::vector<double>> corners;  ///< the first k are the unit vectors
    std::vector<AtlasNode> tree;               ///< the first is the root: all weights
    std::vector<AtlasCell> cells;
    std::vector<AtlasPolicy> policies;  ///< those with the larger share of weights first
    std::vector<AtlasOuter> outer;
    double loss_bound = 0;  ///< whatever the weights that were asked for; at most H, which says nothing
    double asked = 0;       ///< AtlasOptions::loss
    AtlasLimit limit = AtlasLimit::target;
    double floor = 0;  ///< the largest over corners of the least bound found there: what the data leave open
    std::vector<double> floor_weights;   ///< where that is
    double reward_free = 0;              ///< the certificate for any reward at all, for comparison; at most H
    double failure_probability = 0;      ///< delta
    std::int64_t episodes = 0;           ///< that it rests on
    Index certificates = 0, rounds = 0;  ///< that it took

    bool vacuous() const noexcept { return loss_bound >= static_cast<double>(horizon); }
    /// Of any weights >= 0 in the region, not all 0. They need not sum to 1: the loss is in their scale. Of
    /// cells that meet at the weights, the one that promises most. Throws InvalidArgument of weights that are
    /// negative, no numbers, all 0, or outside of what was asked for.
    AtlasAnswer at(std::span<const double> weights) const;
};

/// Plans and certificates for every weighting of the objectives. Knowledge without a certificate will do:
/// then bounds are those of single rewards alone. Where cells are split and which policies are tried is
/// heuristic; whatever is chosen, the result is valid. Throws InvalidArgument naming the option that is out
/// of range, or weights that leave no room.
Atlas make_atlas(const Knowledge& knowledge, const Objectives& objectives, const AtlasOptions& options = {});

/// Whether the tree covers the weights, the cells are its leaves and no promise is below its parts; knows
/// nothing of how it was made. Throws BrokenInvariant naming what is wrong. An atlas that passes may be asked
/// anything; one from a file that was not checked may not.
void check_cover(const Atlas& atlas);

/// The largest excess of a recomputed bound over the stored one, over all cells and corners, and of ends of
/// value intervals over stored ones; 0 or less if everything follows from the knowledge, infinite if
/// something is no number. Throws BrokenInvariant where `check_cover` does, and of an atlas that is said to
/// have another horizon or to fail less often than the knowledge.
double recheck(const Atlas& atlas, const Knowledge& knowledge, const Objectives& objectives,
               Threads threads = {});

}  // namespace alidade
