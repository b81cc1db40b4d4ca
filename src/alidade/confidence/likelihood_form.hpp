#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "../estimate/maximum_likelihood.hpp"
#include "alidade/types.hpp"

// The quadratic forms of likelihoods, whatever the weights range over [likelihood §3].
namespace alidade::detail {

/// Z'f / (weights . f) of every row, p numbers each.
Matrix relative_rows(const LikelihoodRows& rows, const Vector& weights, const Matrix& basis);

/// sum of factor * count * x x' over the columns.
Matrix weighed_gram(const Matrix& relative, const std::vector<double>& counts, const Vector& factors);

/// Squared norms of the columns in the inverse of the metric with that Cholesky factor.
Vector leverages(const Eigen::LLT<Matrix>& cholesky, const Matrix& relative);

/// What is known about every row.
struct RowLimits {
    Vector changes;   ///< x_t is at most this for every member
    Vector factors;   ///< most that its square is counted
    Vector rounding;  ///< of a bound of x_t
};

/// The precision with every row's square counted kappa(b_t) times, b_t shrunk by the ellipsoid that it gave;
/// `constant` is the rest of it.
Matrix bootstrapped(const LikelihoodRows& rows, const Matrix& relative, const Matrix& constant,
                    double squared_radius, RowLimits& limits);

}  // namespace alidade::detail
