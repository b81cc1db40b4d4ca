#include "alidade/confidence/width_table.hpp"

#include <algorithm>

#include "../model/parallel.hpp"
#include "alidade/error.hpp"
#include "pair_widths.hpp"

namespace alidade {

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
            detail::PairWidths widths(features, tangent, options);
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
