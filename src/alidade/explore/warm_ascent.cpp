#include "warm_ascent.hpp"

#include <cmath>
#include <vector>

namespace alidade::detail {

namespace {

/// One pair: V <- 1{psi_j . Lambda^-1 psi_V > 0} until it stays, at most `steps` times; the norm reached.
double ascend_pair(const double* psi, Index successors, Index p, const double* inverse, int steps,
                   std::uint8_t* witness, double* sum, double* slope) {
    double square = 0;
    for (int step = 0;; ++step) {
        for (Index i = 0; i < p; ++i) sum[i] = 0;
        for (Index j = 0; j < successors; ++j) {
            const double on = witness[j];
            for (Index i = 0; i < p; ++i) sum[i] += on * psi[j * p + i];
        }
        square = 0;
        for (Index i = 0; i < p; ++i) {
            double value = 0;
            for (Index k = 0; k < p; ++k) value += inverse[i * p + k] * sum[k];
            slope[i] = value;
            square += value * sum[i];
        }
        if (step == steps) break;
        bool changed = false;
        for (Index j = 0; j < successors; ++j) {
            double score = 0;
            for (Index i = 0; i < p; ++i) score += psi[j * p + i] * slope[i];
            const auto bit = static_cast<std::uint8_t>(score > 0);
            changed = changed || bit != witness[j];
            witness[j] = bit;
        }
        if (!changed) break;
    }
    return std::sqrt(square > 0 ? square : 0.0);
}

}  // namespace

void warm_ascent(const FeatureMap& features, const TangentFeatures& tangent,
                 std::span<const ConfidenceSet> sets, WidthTable& table) {
    const Index p = tangent.space.dimension();
    std::vector<double> sum(static_cast<std::size_t>(p)), slope(static_cast<std::size_t>(p));
    for (Index set = 0; set < table.sets; ++set) {
        const Matrix& factor = sets[static_cast<std::size_t>(set)].estimate().factor;
        const Matrix root = factor.triangularView<Eigen::Lower>().solve(Matrix::Identity(p, p));
        const Matrix inverse = root.transpose() * root;
        for (Index pair = 0; pair < table.pairs; ++pair) {
            const Index first = features.first_entry(pair);
            table.lower[static_cast<std::size_t>(set * table.pairs + pair)] =
                ascend_pair(tangent.psi.data() + first * p, features.successors(pair), p, inverse.data(), 3,
                            table.witness.data() + set * table.entries + first, sum.data(), slope.data());
        }
    }
}

}  // namespace alidade::detail
