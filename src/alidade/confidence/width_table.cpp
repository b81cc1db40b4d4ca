#include "alidade/confidence/width_table.hpp"

#include <algorithm>

#include "alidade/error.hpp"
#include "alidade/model/parallel.hpp"

namespace alidade {

namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

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
                    std::span<const ConfidenceSet> sets, const WidthOptions& options, int threads,
                    WidthTable& table) {
    expects(threads >= 1, "threads is {}; must be at least 1", threads);
    expects(table.sets == static_cast<Index>(sets.size()) && table.entries == features.entries(),
            "the width table belongs to another problem");
    const Index p = tangent.space.dimension(), most = features.max_successors();
    for (Index set = 0; set < table.sets; ++set) {
        const Matrix& inverse = sets[at(set)].estimate().inverse_factor;
        const auto fill = [&](Index first_pair, Index last_pair) {
            Width oracle(options);
            std::vector<double> generators(at(most * p));
            for (Index pair = first_pair; pair < last_pair; ++pair) {
                const Index first = features.first_entry(pair), m = features.successors(pair);
                whiten(tangent.psi.data() + first * p, m, inverse, generators.data());
                const WidthProblem problem{std::span(generators).first(at(m * p)), p, m};
                const auto witness = std::span(table.witness).subspan(at(set * table.entries + first), at(m));
                const WidthBracket bracket = oracle.bracket(problem, witness);
                table.lower[at(set * table.pairs + pair)] = bracket.lower;
                table.upper[at(set * table.pairs + pair)] = bracket.upper;
            }
        };
        detail::in_chunks(table.pairs, 64, threads, fill);
    }
}

}  // namespace alidade
