#pragma once

#include "alidade/types.hpp"

/// What tests need of linear algebra, compiled once: in every test it would take the compiler longer than the
/// rest.
namespace alidade::support {

Matrix inverse(const Matrix& matrix);
double determinant(const Matrix& matrix);
/// The lower factor of a positive definite matrix.
Matrix cholesky(const Matrix& matrix);
/// x with matrix x = right, by full pivoting.
Matrix solve(const Matrix& matrix, const Matrix& right);
/// Of a symmetric matrix.
double largest_eigenvalue(const Matrix& symmetric);

}  // namespace alidade::support
