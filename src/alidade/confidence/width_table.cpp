#include "alidade/confidence/width_table.hpp"

#include <algorithm>

#include "../model/parallel.hpp"
#include "alidade/error.hpp"

namespace alidade {

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

/// Brackets pair after pair, with scratch memory. In R^d the features of a pair do not sum to zero: one more
/// successor with minus their sum makes them, and does not change the maximum, since V and 1-V then have the
/// same norm and one of the two leaves it out.
class PairWidths {
public:
    PairWidths(const FeatureMap& features, const TangentFeatures& tangent, const WidthOptions& options)
        : features_(features),
          tangent_(tangent),
          oracle_(options),
          generators_(at((features.max_successors() + 1) * tangent.space.dimension())),
          witness_(at(features.max_successors() + 1)) {}

    WidthBracket bracket(Index pair, const Matrix& inverse_factor, std::span<std::uint8_t> witness) {
        const Index p = tangent_.space.dimension(), m = features_.successors(pair);
        whiten(tangent_.psi.data() + features_.first_entry(pair) * p, m, inverse_factor, generators_.data());
        if (tangent_.centred())
            return oracle_.bracket({std::span(generators_).first(at(m * p)), p, m}, witness);
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

private:
    const FeatureMap& features_;
    const TangentFeatures& tangent_;
    Width oracle_;
    std::vector<double> generators_;
    std::vector<std::uint8_t> witness_;
};

}  // namespace

WidthTable::WidthTable(Index set_count, const FeatureMap& features)
    : sets(set_count),
      pairs(features.pairs()),
      entries(features.entries()),
      lower(at(sets * pairs), 0.0),
      upper(at(sets * pairs), 0.0),
      witness(at(sets * entries), 0) {}

std::span<const double> WidthTable::upper_of(Index set) const noexcept {
    return std::span(upper).subspan(at(set * pairs), at(pairs));
}

std::span<const double> WidthTable::lower_of(Index set) const noexcept {
    return std::span(lower).subspan(at(set * pairs), at(pairs));
}

std::span<const std::uint8_t> WidthTable::witness_of(Index set) const noexcept {
    return std::span(witness).subspan(at(set * entries), at(entries));
}

void bracket_widths(const FeatureMap& features, const TangentFeatures& tangent,
                    std::span<const ConfidenceSet> sets, const WidthOptions& options, Threads threads,
                    WidthTable& table) {
    std::vector<Matrix> inverse_factors;
    for (const ConfidenceSet& set : sets) inverse_factors.push_back(set.estimate().inverse_factor);
    bracket_widths(features, tangent, inverse_factors, options, threads, table);
}

void bracket_widths(const FeatureMap& features, const TangentFeatures& tangent,
                    std::span<const Matrix> inverse_factors, const WidthOptions& options, Threads threads,
                    WidthTable& table) {
    expects(table.sets == static_cast<Index>(inverse_factors.size()) && table.entries == features.entries(),
            "the width table belongs to another problem");
    for (Index set = 0; set < table.sets; ++set) {
        const auto fill = [&](Index first_pair, Index last_pair) {
            PairWidths widths(features, tangent, options);
            for (Index pair = first_pair; pair < last_pair; ++pair) {
                const auto witness = std::span(table.witness)
                                         .subspan(at(set * table.entries + features.first_entry(pair)),
                                                  at(features.successors(pair)));
                const WidthBracket bracket = widths.bracket(pair, inverse_factors[at(set)], witness);
                table.lower[at(set * table.pairs + pair)] = bracket.lower;
                table.upper[at(set * table.pairs + pair)] = bracket.upper;
            }
        };
        detail::in_chunks(table.pairs, 64, threads, fill);
    }
}

}  // namespace alidade
