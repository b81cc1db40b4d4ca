#include "local_search.hpp"

#include "../model/spectrum.hpp"

namespace alidade::detail {

namespace {

Vector sum_of(const Generators& generators, const std::vector<std::int8_t>& signs) {
    Vector sum = Vector::Zero(generators.rows());
    for (Index j = 0; j < generators.cols(); ++j)
        sum += static_cast<double>(signs[static_cast<std::size_t>(j)]) * generators.col(j);
    return sum;
}

}  // namespace

double summation_slack(const Generators& generators, Index additions) {
    // Each addition is off by 2^-53 of the sum of sizes at most; twice that leaves room for norms and roots.
    return 0x1p-52 * static_cast<double>(additions + generators.rows() + 8) *
           generators.colwise().norm().sum();
}

std::vector<std::int8_t> signs_towards(const Generators& generators, const Vector& direction) {
    std::vector<std::int8_t> signs(static_cast<std::size_t>(generators.cols()));
    for (Index j = 0; j < generators.cols(); ++j)
        signs[static_cast<std::size_t>(j)] = generators.col(j).dot(direction) < 0 ? -1 : 1;
    return signs;
}

double improve(const Generators& generators, std::vector<std::int8_t>& signs, Index fixed) {
    Vector sum = sum_of(generators, signs);
    double square = sum.squaredNorm();
    for (bool improved = true; improved;) {
        improved = false;
        // A flip of j changes |sum|^2 by 4 (|g_j|^2 - s_j g_j . sum).
        for (Index j = fixed; j < generators.cols(); ++j) {
            const double s = signs[static_cast<std::size_t>(j)];
            const double gain = 4 * (generators.col(j).squaredNorm() - s * generators.col(j).dot(sum));
            // The margin keeps rounding from flipping back and forth for ever.
            if (gain <= 1e-13 * square) continue;
            signs[static_cast<std::size_t>(j)] =
                static_cast<std::int8_t>(-signs[static_cast<std::size_t>(j)]);
            sum -= 2 * s * generators.col(j);
            square = sum.squaredNorm();
            improved = true;
        }
    }
    // Summed afresh: a lower end must not carry what the flips have rounded.
    return sum_of(generators, signs).norm();
}

double search_locally(const Generators& generators, std::vector<std::int8_t>& signs) {
    const Matrix moment = generators * generators.transpose();
    const Spectrum spectrum = spectrum_of(moment);
    double best = -1;
    for (Index i = generators.rows() - 1; i >= 0; --i) {
        std::vector<std::int8_t> trial = signs_towards(generators, spectrum.vectors.col(i));
        const double value = improve(generators, trial);
        if (value > best) best = value, signs = std::move(trial);
    }
    return best;
}

}  // namespace alidade::detail
