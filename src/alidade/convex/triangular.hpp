#pragma once

#include <cmath>

#include "alidade/types.hpp"

// A lower triangular factor of a metric, applied in place. The library's kernels are made for large systems:
// for a handful of numbers their overhead is most of their time.
namespace alidade::detail {

/// x <- factor^-1 x, given the reciprocals of the diagonal. Helmert's basis begins its rows with zeros.
inline void forward_substitute(const Matrix& factor, const double* reciprocals, double* x) {
    const Index p = factor.rows();
    Index k = 0;
    while (k < p && x[k] == 0) ++k;
    for (; k < p; ++k) {
        const double* column = factor.col(k).data();
        const double value = x[k] *= reciprocals[k];
        for (Index i = k + 1; i < p; ++i) x[i] -= value * column[i];
    }
}

/// x <- factor'^-1 x.
inline void back_substitute(const Matrix& factor, double* x) {
    for (Index k = factor.rows() - 1; k >= 0; --k) {
        const double* column = factor.col(k).data();
        double sum = x[k];
        for (Index i = k + 1; i < factor.rows(); ++i) sum -= column[i] * x[i];
        x[k] = sum / column[k];
    }
}

/// x <- factor' x, and the norm of it.
inline double whiten(const Matrix& factor, double* x) {
    double square = 0;
    for (Index k = 0; k < factor.rows(); ++k) {
        const double* column = factor.col(k).data();
        double sum = 0;
        for (Index i = k; i < factor.rows(); ++i) sum += column[i] * x[i];
        x[k] = sum;
        square += sum * sum;
    }
    return std::sqrt(square);
}

/// x <- factor x.
inline void colour(const Matrix& factor, double* x) {
    for (Index k = factor.rows() - 1; k >= 0; --k) {
        const double* column = factor.col(k).data();
        const double value = x[k];
        x[k] = 0;
        for (Index i = k; i < factor.rows(); ++i) x[i] += value * column[i];
    }
}

}  // namespace alidade::detail
