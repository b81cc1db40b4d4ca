#pragma once

#include <limits>
#include <vector>

#include "alidade/types.hpp"

/// The little linear algebra that the referee needs, for reading.
// Everything here is computed in `long double` from stored doubles; clang warns of every such step.
#pragma GCC diagnostic ignored "-Wdouble-promotion"

namespace alidade::referee::detail {

/// Rounding is then far below the tolerance of the comparisons.
using Real = long double;
using Numbers = std::vector<Real>;
inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

/// An n x n matrix.
struct Square {
    Square() = default;
    explicit Square(Index size) : n(size), elements(at(size * size), 0) {}
    Real& operator()(Index i, Index j) { return elements[at(i * n + j)]; }
    Real operator()(Index i, Index j) const { return elements[at(i * n + j)]; }

    Index n = 0;
    Numbers elements;
};

Real dot(const Numbers& one, const Numbers& other);
Real norm(const Numbers& vector);
/// M += factor x x'.
void add_square(Square& matrix, Real factor, const Numbers& x);

/// L with L L' = M. Throws Unsolvable if M is not positive definite, or so nearly singular that its digits
/// say little.
Square factor_of(const Square& matrix);
struct Unsolvable {};
/// L^-1 x.
Numbers forward(const Square& lower, const Numbers& x);
/// (L L')^-1 x.
Numbers solve(const Square& lower, const Numbers& x);
/// L' x.
Numbers transposed_times(const Square& lower, const Numbers& x);
/// L x.
Numbers times(const Square& lower, const Numbers& x);
/// ln det(L L').
Real log_determinant(const Square& lower);
/// At least the largest eigenvalue of a positive semidefinite matrix, and at most n^(2^-24) times it.
Real largest_eigenvalue(Square matrix);

/// ln Gamma, without the variable of the whole process that std::lgamma writes.
Real log_gamma(Real x);

/// (x - ln(1+x)) / x^2 for x > -1: 1/2 at 0, falling; infinite at -1.
Real kappa(Real x);

}  // namespace alidade::referee::detail
