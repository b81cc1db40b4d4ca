#pragma once

#include "alidade/types.hpp"

namespace alidade::detail {

/// Eigenvalues of a symmetric matrix, ascending, with orthonormal eigenvectors in the same order.
/// In one place, because the solver is the slowest thing in the library to compile.
struct Spectrum {
    Vector values;
    Matrix vectors;
};

/// Throws BrokenInvariant if the iteration does not converge (it does, for finite matrices).
Spectrum spectrum_of(const Matrix& symmetric);

/// The largest eigenvalue of a positive semidefinite matrix from above, up to rounding: a few parts in 1e15
/// of it. Some five times as fast as the spectrum. `matrix` is overwritten; infinity unless it is finite.
double largest_eigenvalue_from_above(Matrix& matrix);

/// The largest eigenvalue alone; infinity if the iteration does not converge.
double largest_eigenvalue(const Matrix& symmetric);

}  // namespace alidade::detail
