#include "misfit.hpp"

#include <cmath>
#include <limits>

#include "following_alternatives.hpp"

namespace alidade::detail {

Misfit misfit_of(const FeatureMap& features, const FitRows& rows, const FitRow& row,
                 std::span<const double> predicted, double log_evidence) {
    Misfit misfit{row.step, row.pair / features.actions(), row.pair % features.actions(), log_evidence,
                  static_cast<std::int64_t>(row.visits)};
    double surplus = -std::numeric_limits<double>::infinity();
    for (Index item = row.first; item < row.last; ++item) {
        const double seen = rows.counts[at(item)],
                     logarithm = log_probability(rows, item, predicted[at(item)]);
        const double excess = seen * (std::log(seen / row.visits) - logarithm);
        if (excess <= surplus) continue;
        surplus = excess;
        misfit.successor = features.targets()[at(rows.entries[at(item)])];
        misfit.seen = static_cast<std::int64_t>(seen);
        misfit.expected = row.visits * std::exp(logarithm);
    }
    return misfit;
}

std::optional<Misfit> worst_row(const FeatureMap& features, const std::vector<CheckedSet>& sets) {
    const CheckedSet* found = nullptr;
    const FitRow* worst = nullptr;
    bool of_step = false;
    double largest = -std::numeric_limits<double>::infinity();
    for (const CheckedSet& set : sets)
        for (const bool apart : {false, true}) {
            if (apart && !set.by_step) continue;
            for (const FitRow& row : set.view(apart).rows) {
                const double evidence = log_row_mixture(set.view(apart), row, set.predictions(apart));
                if (evidence <= largest) continue;
                largest = evidence;
                found = &set;
                worst = &row;
                of_step = apart;
            }
        }
    if (worst == nullptr) return std::nullopt;
    return misfit_of(features, found->view(of_step), *worst, found->predictions(of_step), largest);
}

}  // namespace alidade::detail
