#pragma once

#include "alidade/types.hpp"

namespace alidade::detail {

/// The inverse of a lower triangular matrix, by forward substitution, column by column: for a handful of
/// coordinates the blocked solvers of the linear algebra library spend more on packing than on arithmetic.
Matrix inverse_of_lower(const Matrix& factor);

/// Error, in norm, of factoring a precision and solving with it. By backward error analysis (Higham 2002,
/// Thms 8.5, 10.3, 10.4) each is exact for a matrix within (p+1) roundings of |L||L'|, whose norm is at most
/// the trace.
double factoring_error(const Matrix& precision);

}  // namespace alidade::detail
