#include "linear_statistics.hpp"

#include <cstdint>
#include <limits>

namespace alidade::detail {

namespace {

/// Visits of every entry at the steps first .. last-1.
std::vector<std::int64_t> visits_of(const Counts& counts, Step first, Step last) {
    const auto begin = counts.at(first);
    std::vector<std::int64_t> visits(begin.begin(), begin.end());
    for (Step h = first + 1; h < last; ++h) {
        const auto seen = counts.at(h);
        for (std::size_t e = 0; e < visits.size(); ++e) visits[e] += seen[e];
    }
    return visits;
}

LinearStatistics statistics_of(const PairFeatures& features, const std::vector<std::int64_t>& visits) {
    const Index d = features.features();
    LinearStatistics result{RidgeStatistics(d), Matrix::Zero(d, features.states())};
    const auto targets = features.targets();
    Index terms = 0;
    double of_gram = 0;
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const auto phi = features.phi(pair);
        std::int64_t here = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            if (visits[at(e)] == 0) continue;
            here += visits[at(e)];
            result.arrivals.col(targets[at(e)]) += static_cast<double>(visits[at(e)]) * phi;
        }
        if (here == 0) continue;
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
    const Step each = homogeneous ? steps : 1;
    for (Step h = 0; h < steps; h += each)
        all.push_back(statistics_of(features, visits_of(counts, h, h + each)));
    return all;
}

}  // namespace alidade::detail
