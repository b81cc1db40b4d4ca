#include "linear_statistics.hpp"

#include <cstdint>
#include <limits>

#include "../model/seen_pairs.hpp"

namespace alidade::detail {

namespace {

LinearStatistics statistics_of(const PairFeatures& features, std::span<const SeenEntry> seen) {
    const Index d = features.features();
    LinearStatistics result{RidgeStatistics(d), Matrix::Zero(d, features.states())};
    const auto targets = features.targets();
    Index terms = 0;
    double of_gram = 0;
    for_each_seen_pair(features, seen, [&](Index pair, std::span<const SeenEntry> here) {
        const auto phi = features.phi(pair);
        std::int64_t visits = 0;
        for (const auto& [entry, count] : here) {
            visits += count;
            result.arrivals.col(targets[at(entry)]) += static_cast<double>(count) * phi;
        }
        result.rows.add(phi.data(), visits, 0);
        result.size += static_cast<double>(visits) * phi.norm();
        of_gram += static_cast<double>(visits) * phi.squaredNorm() + result.rows.gram.trace();
        ++terms;
    });
    // No moment is kept, so that its rounding does not count; that of the rest scales as the features do.
    result.rows.rounding = std::numeric_limits<double>::epsilon() * of_gram;
    // Each column is a sum of so many vectors, whose norms add up to `size` over all columns.
    result.rounding = static_cast<double>(terms + 1) * std::numeric_limits<double>::epsilon() * result.size;
    return result;
}

}  // namespace

std::vector<LinearStatistics> linear_statistics(const PairFeatures& features, const Counts& counts,
                                                bool homogeneous) {
    const Step steps = counts.shape().learned_steps();
    std::vector<LinearStatistics> all;
    if (steps == 0) return all;
    if (homogeneous) {
        all.push_back(statistics_of(features, counts.pooled()));
        return all;
    }
    for (Step h = 0; h < steps; ++h) all.push_back(statistics_of(features, counts.seen(h)));
    return all;
}

}  // namespace alidade::detail
