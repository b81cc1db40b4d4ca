#pragma once

#include "alidade/types.hpp"

/// The auxiliary lemmas of the paper, as formulas. Theorem 1 of Abbasi-Yadkori, Pal and Szepesvari is
/// self_normalised_radius in regression.hpp.
namespace alidade {

/// A ridge regression on `rows` rows x in R^`dimension`, |x| <= `row_norm`, with penalty `regularisation`.
struct RegressionSize {
    Index dimension = 1;        ///< >= 1
    double rows = 0;            ///< n >= 0; a double, because bounds ask for more than 2^63
    double row_norm = 1;        ///< L > 0
    double regularisation = 1;  ///< lambda > 0
};

/// dimension * log(1 + n L^2 / (dimension lambda)): at least log(det(lambda I + sum x x') / det(lambda I)).
double log_det_bound(const RegressionSize& size);

/// Abbasi-Yadkori et al. (2011), Lemma 11: sum over rows of min{1, |x_t|^2 in the inverse of the precision
/// before x_t} is at most twice log_det_bound.
double potential_bound(const RegressionSize& size);

/// Abbasi-Yadkori et al. (2011), Theorem 2: noise * sqrt(dimension log((1 + n L^2/lambda)/failure)) +
/// sqrt(lambda) * norm_bound, valid for all n at once; `noise` is the sub-Gaussian constant.
double ridge_radius(const RegressionSize& size, double noise, double norm_bound, double failure);

/// Zhou, Gu and Szepesvari (2021), Theorem 4.1, without its bias sqrt(lambda) |mu|:
/// 8 deviation sqrt(d log(1 + n L^2/(d lambda)) log(4 n^2/failure)) + 4 magnitude log(4 n^2/failure), for
/// noise with variance at most deviation^2 and modulus at most `magnitude`. n >= 1.
double bernstein_radius(const RegressionSize& size, double deviation, double magnitude, double failure);

/// Azuma and Hoeffding: a sum of `steps` martingale differences, each in an interval of length `range`
/// that is known before it, exceeds range * sqrt(steps log(1/failure) / 2) with probability at most
/// `failure`. Differences of modulus at most c have range 2c.
double azuma_deviation(double steps, double range, double failure);

/// Policies computed by a run that computes a new one when the determinant of one of `sets` precisions has
/// grown by a factor 1 + growth: at most sets * log_det_bound / log(1 + growth) + 1, the first included
/// [theory §3e]. growth > 0.
double switch_bound(const RegressionSize& size, Index sets, double growth);

}  // namespace alidade
