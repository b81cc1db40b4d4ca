#include "pair_widths.hpp"

#include <algorithm>

namespace alidade::detail {

namespace {

/// Generators of one pair: factor^-1 psi_j, j over its successors.
void whiten(const double* psi, Index successors, const Matrix& inverse_factor, double* generators) {
    const Index p = inverse_factor.rows();
    for (Index j = 0; j < successors; ++j)
        for (Index i = 0; i < p; ++i) {
            double sum = 0;
            for (Index k = 0; k <= i; ++k) sum += inverse_factor(i, k) * psi[j * p + k];
            generators[j * p + i] = sum;
        }
}

}  // namespace

PairWidths::PairWidths(const FeatureMap& features, const TangentFeatures& tangent,
                       const WidthOptions& options)
    : features_(features),
      tangent_(tangent),
      oracle_(options),
      psi_(at(features.max_successors() * tangent.space.dimension())),
      generators_(at((features.max_successors() + 1) * tangent.space.dimension())),
      witness_(at(features.max_successors() + 1)),
      start_(at(features.max_successors())) {}

WidthBracket PairWidths::bracket(Index pair, const Matrix& inverse_factor, std::span<std::uint8_t> witness) {
    const Index p = tangent_.space.dimension(), m = features_.successors(pair);
    tangent_.psi_of_pair(pair, psi_.data());
    whiten(psi_.data(), m, inverse_factor, generators_.data());
    if (tangent_.centred()) return oracle_.bracket({std::span(generators_).first(at(m * p)), p, m}, witness);
    return with_minus_the_sum(m, witness);
}

double PairWidths::within(Index pair, const Matrix& inverse_factor, std::span<const double> most) {
    const Index p = tangent_.space.dimension(), first = features_.first_entry(pair),
                m = features_.successors(pair);
    tangent_.psi_of_pair(pair, psi_.data());
    whiten(psi_.data(), m, inverse_factor, generators_.data());
    for (Index j = 0; j < m; ++j) {
        const double scale = most[at(features_.targets()[at(first + j)])];
        for (Index i = 0; i < p; ++i) generators_[at(j * p + i)] *= scale;
    }
    std::ranges::fill(start_, std::uint8_t{0});
    return with_minus_the_sum(m, std::span(start_).first(at(m))).upper;
}

/// Where the features of a pair do not sum to zero, as in R^d, one more successor with minus their sum makes
/// them, and does not change the maximum, since V and 1-V then have the same norm and one of the two leaves
/// it out.
WidthBracket PairWidths::with_minus_the_sum(Index m, std::span<std::uint8_t> witness) {
    const Index p = tangent_.space.dimension();
    for (Index i = 0; i < p; ++i) {
        double sum = 0;
        for (Index j = 0; j < m; ++j) sum += generators_[at(j * p + i)];
        generators_[at(m * p + i)] = -sum;
    }
    const auto all = std::span(witness_).first(at(m + 1));
    std::ranges::copy(witness, all.begin());
    all.back() = 0;
    const WidthBracket result =
        oracle_.bracket({std::span(generators_).first(at((m + 1) * p)), p, m + 1}, all);
    // Where V has the added successor, 1-V has the same norm and leaves it out.
    for (Index j = 0; j < m; ++j) witness[at(j)] = all[at(j)] ^ all.back();
    return result;
}

}  // namespace alidade::detail
