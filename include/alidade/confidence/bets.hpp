#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/vertex_set.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

struct BetOptions {
    std::vector<double> sizes{.003, .01, .03, .1, .3, 1};  ///< lambda: the stakes, each in (0, 1]
    /// kappa: pairs at which two base models differ by less than this share of where they differ most are left
    /// out, each in [0, 1). What a misspecification can explain there is not worth a stake.
    std::vector<double> cuts{0, .4, .7};
};

/// Bets that some base model i is more right than another, l: on the successors that i finds likelier, with a
/// stake that grows with how much they differ. Fixed by the base models alone, so before any data
/// [misspecification §2.1].
class BetDesign {
public:
    /// Throws InvalidArgument of general features, and of sizes and cuts out of range.
    explicit BetDesign(const FeatureMap& features, BetOptions options = {});

    Index features() const noexcept { return largest_.rows(); }
    const BetOptions& options() const noexcept { return options_; }
    /// The largest total variation of two base models over all pairs.
    double largest(Index i, Index l) const { return largest_(i, l); }
    /// K: ordered pairs of base models that differ anywhere, times sizes, times cuts.
    Index bets() const noexcept { return bets_; }

private:
    BetOptions options_;
    Matrix largest_;
    Index bets_ = 0;
};

/// What the bets of a design say of the transitions of one confidence set:
///   h_b(theta) = sum n ln(1 + lambda min(1, theta . phi_V + zeta)) - sum N_V ln(1 + lambda)
/// over the visited pairs, n their visits, N_V those that V was right about. With the true weights, exp(-h_b)
/// is a wealth that grows beyond x ever with probability 1/x at most, if every law is within zeta of its
/// mixture [misspecification, Theorem 1]. Concave in the weights.
class BetTable {
public:
    /// `seen` and `elsewhere` as Counts has them. What led elsewhere is a visit that no V is right about.
    BetTable(const FeatureMap& features, const BetDesign& design, std::span<const SeenEntry> seen,
             std::span<const SeenEntry> elsewhere);

    Index features() const noexcept { return features_; }
    /// K of the design.
    Index bets() const noexcept { return std::ssize(bets_); }
    /// Visits in all.
    double observations() const noexcept { return observations_; }

    struct Value {
        double value = 0;     ///< h_b
        double rounding = 0;  ///< of it, at most
        /// Of the gradient at any weights, relative to its largest element.
        double gradient_rounding = 0;
    };
    /// h_b at weights (of the simplex), and its gradient, d numbers, all at least zero; none: it is not wanted.
    Value value(Index bet, const Vector& weights, double zeta, double* gradient) const;

private:
    /// Of two base models, the pairs that were visited and at which they differ.
    struct Rows {
        std::vector<double> visits, hits, stakes;  ///< stakes: the total variation, relative to the largest
        std::vector<double> phi;                   ///< phi_V: d numbers each
    };
    struct Bet {
        Index rows = 0;  ///< of which two base models
        double size = 0, cut = 0;
        double lost = 0;  ///< sum of N_V ln(1 + lambda)
    };

    Index features_;
    Index longest_ = 1;  // successors of a visited pair, at most
    double observations_ = 0;
    std::vector<Rows> rows_;
    std::vector<Bet> bets_;
};

/// The tables of all confidence sets: one for each learned step, or one of all steps. Throws InvalidArgument
/// unless the counts are over the features' successors.
std::vector<BetTable> bet_tables(const FeatureMap& features, const BetDesign& design, const Counts& counts,
                                 bool homogeneous);

/// ln(sets K / delta): what no h_b of true weights falls below, with probability 1 - delta for all bets of
/// all sets and at all times.
double bet_allowance(Index sets, Index bets, double delta);

/// Half-spaces that hold for all weights with h_b >= -allowance for every bet b: tangents of the h_b, moved
/// outward by their rounding. `about` is where they are looked for, inside the simplex; any will do, and a
/// member is best.
HalfSpaces bet_half_spaces(const BetTable& table, double zeta, double allowance, const Vector& about);

}  // namespace alidade
