#include "support/dense_algebra.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace alidade::support {

Matrix inverse(const Matrix& matrix) {
    return matrix.inverse();
}

double determinant(const Matrix& matrix) {
    return matrix.determinant();
}

Matrix cholesky(const Matrix& matrix) {
    return matrix.llt().matrixL();
}

Matrix solve(const Matrix& matrix, const Matrix& right) {
    return matrix.fullPivLu().solve(right);
}

double largest_eigenvalue(const Matrix& symmetric) {
    return Eigen::SelfAdjointEigenSolver<Matrix>(symmetric, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

}  // namespace alidade::support
