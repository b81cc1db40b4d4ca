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

namespace {

/// Where widths of a set go.
struct WidthPlaces {
    std::span<double> lower, upper;
    std::span<std::uint8_t> witness;
};

/// Fills in widths, one set after another; what they have in common is made once.
class SetBrackets {
public:
    SetBrackets(const FeatureMap& features, const TangentFeatures& tangent, const WidthOptions& options,
                Threads threads)
        : features_(features),
          tangent_(tangent),
          options_(options),
          threads_(threads),
          passes_(local_operator(features, threads)) {}

    void fill(const Matrix& metric, const WidthPlaces& to) const {
        const auto alone = [&] {
            auto widths = std::make_shared<detail::PairWidths>(features_, tangent_, options_);
            return [&, widths](Index pair) {
                const WidthBracket bracket = widths->bracket(
                    pair, metric,
                    to.witness.subspan(at(features_.first_entry(pair)), at(features_.successors(pair))));
                to.lower[at(pair)] = bracket.lower;
                to.upper[at(pair)] = bracket.upper;
            };
        };
        // Vertices are tried eight pairs at a time; other ways go pair by pair.
        if (options_.method == WidthMethod::exact && tangent_.centred() && tangent_.space.dimension() > 0) {
            passes_->widths(
                {&tangent_, &metric, options_.exact_successors, alone, to.lower, to.upper, to.witness});
            return;
        }
        detail::in_chunks(features_.pairs(), 64, threads_, [&](Index first, Index last) {
            const auto fill_pair = alone();
            for (Index pair = first; pair < last; ++pair) fill_pair(pair);
        });
    }

private:
    const FeatureMap& features_;
    const TangentFeatures& tangent_;
    const WidthOptions& options_;
    Threads threads_;
    std::unique_ptr<TransitionOperator> passes_;
};

}  // namespace

void bracket_widths(const FeatureMap& features, const TangentFeatures& tangent,
                    std::span<const Matrix> inverse_factors, const WidthOptions& options, Threads threads,
                    WidthTable& table) {
    expects(table.sets == static_cast<Index>(inverse_factors.size()) && table.entries == features.entries(),
            "the width table belongs to another problem");
    const SetBrackets brackets(features, tangent, options, threads);
    const std::size_t pairs = at(table.pairs), entries = at(table.entries);
    for (std::size_t set = 0; set < inverse_factors.size(); ++set)
        brackets.fill(inverse_factors[set], {std::span(table.lower).subspan(set * pairs, pairs),
                                             std::span(table.upper).subspan(set * pairs, pairs),
                                             std::span(table.witness).subspan(set * entries, entries)});
}

void visit_widths(const FeatureMap& features, const TangentFeatures& tangent,
                  std::span<const Matrix> inverse_factors, const WidthOptions& options, Threads threads,
                  const WidthVisitor& visitor) {
    const SetBrackets brackets(features, tangent, options, threads);
    std::vector<double> lower(at(features.pairs())), upper(lower.size());
    std::vector<std::uint8_t> witness(at(features.entries()));
    for (Index set = 0; set < std::ssize(inverse_factors); ++set) {
        std::ranges::fill(witness, std::uint8_t{0});
        if (visitor.start) visitor.start(set, witness);
        brackets.fill(inverse_factors[at(set)], {lower, upper, witness});
        visitor.found({set, lower, upper, witness});
    }
}

std::vector<double> upper_widths(const FeatureMap& features, const TangentFeatures& tangent,
                                 std::span<const Matrix> inverse_factors, const WidthOptions& options,
                                 Threads threads) {
    std::vector<double> upper(inverse_factors.size() * at(features.pairs()));
    WidthVisitor visitor;
    visitor.found = [&](const SetWidths& widths) {
        std::ranges::copy(widths.upper, upper.begin() + widths.set * features.pairs());
    };
    visit_widths(features, tangent, inverse_factors, options, threads, visitor);
    return upper;
}

}  // namespace alidade
