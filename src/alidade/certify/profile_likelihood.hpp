#pragma once

#include <span>
#include <vector>

#include "fit_rows.hpp"
#include "simplex_minimum.hpp"

namespace alidade::detail {

/// What a pair's own law may make of its counts, within zeta of the mixture's in total variation: the largest
/// sum of N ln p. With c_lo <= c_hi, the ratios r_j = clip(N_j / P_j, c_lo, c_hi) bound it from above,
/// whatever they are [docs/algorithms/model-check.md, Lemma 2].
struct RowProfile {
    double low = 0, high = 0;  ///< c_lo, c_hi
    double value = 0;          ///< the bound, at least the maximum: equal up to rounding
    double size = 0;           ///< how large what it was computed from was
};

/// `counts` of the successors seen and their probabilities under the mixture, which sum to one at most;
/// `elsewhere`: how often what has no probability was seen. 0 < zeta <= 1.
RowProfile profile_row(std::span<const double> counts, std::span<const double> probabilities,
                       double elsewhere, double zeta);

/// Minus L_zeta(theta), the sum of the rows' profiles.
class NegativeProfile final : public ConvexFunction {
public:
    NegativeProfile(const FitRows& rows, double zeta) : rows_(rows), zeta_(zeta) {}
    double value(const Vector& weights) const override;
    void expand(const Vector& weights, ConvexExpansion& about) const override;

private:
    const FitRows& rows_;
    double zeta_;
};

}  // namespace alidade::detail
