#include "linear_statistics.hpp"

#include <cstdint>
#include <limits>

namespace alidade::detail {

namespace {

LinearStatistics statistics_of(const PairFeatures& features, std::span<const SeenEntry> seen) {
    const Index d = features.features();
    LinearStatistics result{RidgeStatistics(d), Matrix::Zero(d, features.states())};
    const auto targets = features.targets();
    Index terms = 0;
    double of_gram = 0;
    for (auto next = seen.begin(); next != seen.end();) {
        const Index pair = features.pair_of(next->entry);
        const auto phi = features.phi(pair);
        std::int64_t here = 0;
        for (; next != seen.end() && next->entry < features.first_entry(pair + 1); ++next) {
            here += next->count;
            result.arrivals.col(targets[at(next->entry)]) += static_cast<double>(next->count) * phi;
        }
        result.rows.add(phi.data(), here, 0);
        result.size += static_cast<double>(here) * phi.norm();
        of_gram += static_cast<double>(here) * phi.squaredNorm() + result.rows.gram.trace();
        ++terms;
    }
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
