#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The transitions of one step as a mixture of base models sees them: f = phi(s,a,s') of every transition
/// seen and how often. The likelihood of weights theta is the product of theta . f, up to a factor that does
/// not depend on them: a row stands for all its multiples.
struct LikelihoodRows {
    Index features = 0;          ///< d
    std::vector<double> rows;    ///< n times d numbers >= 0, row after row; the largest of each >= 1e-100
    std::vector<double> counts;  ///< n numbers > 0
    double observations = 0;     ///< t, their sum and that of the rows that were left out

    Index size() const noexcept { return static_cast<Index>(counts.size()); }
    const double* row(Index k) const noexcept { return rows.data() + k * features; }
};

/// Collects the entries that were seen, which are entries of the feature map, ascending. Rows in which all
/// base models agree tell nothing and are left out, but count as observations. Rows below 1e-60 are
/// multiplied by a power of two, so that no square or reciprocal of them leaves the range of numbers.
LikelihoodRows likelihood_rows(const FeatureMap& features, std::span<const SeenEntry> seen);

/// Weights and what they leave to be desired.
struct LikelihoodFit {
    Vector weights;   ///< theta~, d numbers > 0 that sum to one
    Vector scores;    ///< sum of f_i / (theta~ . f) over the observations, one number for each base model
    double gap = 0;   ///< g >= 0: no weights have a log-likelihood larger by more. It is measured, and
                      ///< rounding is allowed for, so that it holds whatever the search did [likelihood §3]
    Index steps = 0;  ///< Newton steps taken
};

struct LikelihoodOptions {
    double barrier = 1e-6;  ///< mu > 0 of the point returned: the maximiser of L + mu sum log theta_i
    Index steps = 200;      ///< at most so many Newton steps
    Vector linear;          ///< d numbers: linear . theta is added to the log-likelihood; none: nothing is
};

/// Throws InvalidArgument unless the rows are as said above: where a row is negative no product of them is a
/// likelihood, and nothing that is concluded from one holds.
void validate(const LikelihoodRows& rows);

/// Maximises the log-likelihood plus a barrier over the simplex by Newton's method in the tangent space,
/// lowering the barrier from 1. `start` (d positive numbers that sum to one, or none) is a warm start.
LikelihoodFit maximise_likelihood(const LikelihoodRows& rows, const LikelihoodOptions& options = {},
                                  const Vector& start = {});

/// sum of log(one . f / other . f) over the observations: the difference of two log-likelihoods, without the
/// cancellation. Infinite where `other` makes an observation impossible.
double log_likelihood_ratio(const LikelihoodRows& rows, const Vector& one, const Vector& other);

/// Z' [sum of c f f' / (theta . f)^2 over the rows] Z, c a number for each row that multiplies its count
/// (none: 1): the observed information at theta in tangent coordinates, Z the tangent basis (d x p).
Matrix information(const LikelihoodRows& rows, const Vector& weights, const Matrix& basis,
                   std::span<const double> factors = {});

}  // namespace alidade::detail
