#include "weighted_record.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "record_field.hpp"
#include "regression_source.hpp"

namespace alidade::detail {

namespace {

constexpr std::string_view rows_prefix = "rows.";

}  // namespace

void write_weighted_statistics(std::span<const WeightedStatistics> statistics, Snapshot& record) {
    auto& inverse = record.numbers["inverse_variances"];
    auto& least = record.numbers["least_variances"];
    std::vector<RidgeStatistics> rows;
    for (const WeightedStatistics& step : statistics) {
        rows.push_back(step.rows);
        inverse.push_back(step.inverse_variances);
        // An infinite one, of a pair that has no row, is written as 0.
        for (const double variance : step.least_variance)
            least.push_back(std::isfinite(variance) ? variance : 0);
    }
    Snapshot weighted;
    write_ridge_statistics(rows, weighted);
    record.add(rows_prefix, weighted);
}

std::vector<WeightedStatistics> read_weighted_statistics(const Snapshot& record, Index sets, Index dimension,
                                                         Index pairs) {
    const auto rows = read_ridge_statistics(record.part(rows_prefix), sets, dimension);
    const auto& inverse = field(record.numbers, "inverse_variances", at(sets));
    const auto& least = field(record.numbers, "least_variances", at(sets * pairs));
    std::vector<WeightedStatistics> statistics(at(sets), WeightedStatistics(dimension, pairs));
    for (Index k = 0; k < sets; ++k) {
        statistics[at(k)].rows = rows[at(k)];
        expects(inverse[at(k)] >= 0 && std::isfinite(inverse[at(k)]),
                "the stored sum of inverse variances is {}; must not be negative", inverse[at(k)]);
        statistics[at(k)].inverse_variances = inverse[at(k)];
        for (Index pair = 0; pair < pairs; ++pair) {
            const double variance = least[at(k * pairs + pair)];
            expects(variance == 0 || variance >= WeightedRegression::least_variance,
                    "a stored variance is {}; must be 0, for none, or {} at least", variance,
                    WeightedRegression::least_variance);
            if (variance > 0) statistics[at(k)].least_variance[at(pair)] = variance;
        }
    }
    return statistics;
}

void require_variances(std::span<const double> variances) {
    for (const double variance : variances)
        expects(variance >= WeightedRegression::least_variance,
                "a stored variance is {}; must be {} at least", variance, WeightedRegression::least_variance);
}

}  // namespace alidade::detail
