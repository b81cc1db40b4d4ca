#include "mixing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../model/spectrum.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::detail {

double dual_bound(const Generators& generators, Vector y) {
    // Mixing that is stuck at zero gives y = 0 and a bogus bound: floor it [oracle §A.4, pitfall ii].
    // Relative to y alone, so that the bound does not depend on the unit of the generators.
    const Vector norms = generators.colwise().norm().transpose();
    if (norms.maxCoeff() == 0) return 0;
    if (!y.allFinite() || !(y.maxCoeff() > 0)) y = norms;
    y = (y / y.maxCoeff()).cwiseMax(1e-9);
    // Any y > 0 is a proof, however it was found [oracle §0.3].
    const Matrix scaled = generators * y.cwiseSqrt().cwiseInverse().asDiagonal();
    const Matrix moment = scaled * scaled.transpose();
    const double slack = 1 + 1e-12 * static_cast<double>(generators.rows() + generators.cols());
    return std::sqrt(y.sum() * std::max(0.0, largest_eigenvalue(moment)) * slack);
}

Mixing::Mixing(const Generators& generators) {
    const Index n = generators.cols(), p = generators.rows();
    // A solution of rank at most p exists, and above sqrt(2n) there are no spurious optima.
    const auto spurious = static_cast<Index>(std::ceil(std::sqrt(2.0 * static_cast<double>(n)))) + 1;
    const Index k = std::min(n, std::max<Index>(2, std::min(spurious, 2 * p + 2)));
    Stream random(0, Purpose::width, static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(p));
    vectors_.resize(k, n);
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < k; ++i) vectors_(i, j) = sample_normal(random);
        vectors_.col(j).normalize();
    }
    product_ = generators * vectors_.transpose();
    scores_ = generators.colwise().norm().transpose();
}

Mixing::Mixing(const Mixing& parent, Index removed, const Generators& generators)
    : vectors_(parent.vectors_.rows(), generators.cols()) {
    for (Index j = 0; j < generators.cols(); ++j)
        vectors_.col(j) = parent.vectors_.col(j < removed ? j : j + 1);
    product_ = generators * vectors_.transpose();
    scores_ = generators.colwise().norm().transpose();
}

void Mixing::sweep(const Generators& generators, int count) {
    for (int round = 0; round < count; ++round)
        for (Index j = 0; j < generators.cols(); ++j) {
            const auto g = generators.col(j);
            const double square = g.squaredNorm();
            Vector pull = product_.transpose() * g - square * vectors_.col(j);
            const double length = pull.norm();
            // Where nothing moves any more, sum_k (g_j . g_k) v_k = y_j v_j with this y_j: the multiplier of
            // |v_j| = 1, which the dual bound takes.
            scores_[j] = length + square;
            if (!(length > 0)) continue;
            pull /= length;
            product_ += g * (pull - vectors_.col(j)).transpose();
            vectors_.col(j) = pull;
        }
}

double Mixing::bound(const Generators& generators, int rounds) {
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        sweep(generators, 10);
        const double value = dual_bound(generators, scores_);
        const bool settled = value > best * (1 - 1e-4);
        best = std::min(best, value);
        if (settled) break;
    }
    return best;
}

double Mixing::round(const Generators& generators, std::vector<std::int8_t>& signs) const {
    double best = -1;
    Stream random(1, Purpose::width, static_cast<std::uint64_t>(generators.cols()));
    for (int cut = 0; cut < 8; ++cut) {
        Vector normal(vectors_.rows());
        for (Index i = 0; i < normal.size(); ++i) normal[i] = sample_normal(random);
        std::vector<std::int8_t> trial(static_cast<std::size_t>(generators.cols()));
        for (Index j = 0; j < generators.cols(); ++j)
            trial[static_cast<std::size_t>(j)] = vectors_.col(j).dot(normal) < 0 ? -1 : 1;
        const double value = improve(generators, trial);
        if (value > best) best = value, signs = std::move(trial);
    }
    return best;
}

}  // namespace alidade::detail
