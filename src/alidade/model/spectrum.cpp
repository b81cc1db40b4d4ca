#include "spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <limits>

#include "alidade/error.hpp"

namespace alidade::detail {

Spectrum spectrum_of(const Matrix& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric);
    ensures(solver.info() == Eigen::Success, "a symmetric matrix of size {} has no spectrum",
            symmetric.rows());
    return {solver.eigenvalues(), solver.eigenvectors()};
}

double largest_eigenvalue(const Matrix& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric, Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    return solver.eigenvalues().maxCoeff();
}

}  // namespace alidade::detail
