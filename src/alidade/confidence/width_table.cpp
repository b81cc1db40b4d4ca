#include "alidade/confidence/width_table.hpp"

#include <algorithm>
#include <memory>

#include "../model/parallel.hpp"
#include "alidade/error.hpp"
#include "alidade/model/transition_operator.hpp"
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
    const auto passes = local_operator(features, threads);
    for (Index set = 0; set < table.sets; ++set) {
        const std::size_t pairs = at(table.pairs), entries = at(table.entries);
        const auto lower = std::span(table.lower).subspan(at(set) * pairs, pairs);
        const auto upper = std::span(table.upper).subspan(at(set) * pairs, pairs);
        const auto witness = std::span(table.witness).subspan(at(set) * entries, entries);
        const Matrix& metric = inverse_factors[at(set)];
        const auto alone = [&] {
            auto widths = std::make_shared<detail::PairWidths>(features, tangent, options);
            return [&, widths](Index pair) {
                const WidthBracket bracket = widths->bracket(
                    pair, metric,
                    witness.subspan(at(features.first_entry(pair)), at(features.successors(pair))));
                lower[at(pair)] = bracket.lower;
                upper[at(pair)] = bracket.upper;
            };
        };
        // Vertices are tried eight pairs at a time; other ways go pair by pair.
        if (options.method == WidthMethod::exact && tangent.centred() && tangent.space.dimension() > 0) {
            passes->widths({&tangent, &metric, options.exact_successors, alone, lower, upper, witness});
            continue;
        }
        detail::in_chunks(table.pairs, 64, threads, [&](Index first, Index last) {
            const auto fill = alone();
            for (Index pair = first; pair < last; ++pair) fill(pair);
        });
    }
}

}  // namespace alidade
