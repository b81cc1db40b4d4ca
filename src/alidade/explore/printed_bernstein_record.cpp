#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "handed_over.hpp"
#include "printed_bernstein_source.hpp"
#include "record_field.hpp"
#include "regression_source.hpp"

// How the five regressions are written down and read back.
namespace alidade::detail {

namespace {

void write_five(const std::vector<FiveStatistics>& statistics, Snapshot& record) {
    for (std::size_t i = 0; i < five; ++i) {
        std::vector<RidgeStatistics> rows;
        rows.reserve(statistics.size());
        for (const FiveStatistics& set : statistics) rows.push_back(set.rows[i]);
        Snapshot part;
        write_ridge_statistics(rows, part);
        record.add(fmt::format("rows{}.", i + 1), part);
    }
    auto& inverse = record.numbers["inverse_variances"];
    for (const FiveStatistics& set : statistics)
        inverse.insert(inverse.end(), set.inverse_variances.begin(), set.inverse_variances.end());
}

std::vector<FiveStatistics> read_five(const Snapshot& record, Index sets, Index dimension) {
    std::vector<FiveStatistics> statistics(at(sets), FiveStatistics(dimension));
    for (std::size_t i = 0; i < five; ++i) {
        const auto rows = read_ridge_statistics(record.part(fmt::format("rows{}.", i + 1)), sets, dimension);
        for (std::size_t k = 0; k < rows.size(); ++k) statistics[k].rows[i] = rows[k];
    }
    const auto& inverse = field(record.numbers, "inverse_variances", at(2 * sets));
    for (std::size_t k = 0; k < inverse.size(); ++k) {
        expects(inverse[k] >= 0 && std::isfinite(inverse[k]),
                "the stored sum of inverse variances is {}; must not be negative", inverse[k]);
        statistics[k / 2].inverse_variances[k % 2] = inverse[k];
    }
    return statistics;
}

/// A stored table, of which every number is in [least, most].
std::vector<double> read_table(const Snapshot& record, const std::string& name, Index size, double least,
                               double most) {
    const std::vector<double>& table = field(record.numbers, name, at(size));
    for (const double value : table)
        expects(value >= least && value <= most, "a number of the stored '{}' is {}; must be {} to {}", name,
                value, least, most);
    return table;
}

}  // namespace

Snapshot PrintedBernsteinSource::evidence() const {
    Snapshot record;
    write_five(statistics_, record);
    for (const Vector& weights : argmax_weights()) {
        auto& stored = record.numbers["argmax"];
        stored.insert(stored.end(), weights.begin(), weights.end());
    }
    record.integers["episodes"] = {episodes()};
    return record;
}

Knowledge PrintedBernsteinSource::recompute(const Snapshot& evidence) const {
    const std::int64_t episodes = field(evidence.integers, "episodes", 1)[0];
    expects(episodes >= 0, "the stored number of episodes is {}; must not be negative", episodes);
    const Index sets = regression_.sets(), d = regression_.dimension();
    std::vector<Vector> argmax;
    if (options_.argmax && evidence.numbers.contains("argmax")) {
        const auto& stored = field(evidence.numbers, "argmax", at(sets * d));
        for (const double weight : stored)
            expects(std::isfinite(weight), "a stored weight is {}; must be a finite number", weight);
        for (Index k = 0; k < sets; ++k)
            argmax.emplace_back(Eigen::Map<const Vector>(stored.data() + k * d, d));
    }
    return knowledge_of(read_five(evidence, sets, d), argmax, episodes,
                        thorough_widths(setting().task, width()));
}

void PrintedBernsteinSource::write_frozen(Snapshot& record) const {
    record.numbers["values"] = frozen_.values;
    record.numbers["optimistic"] = frozen_.optimistic;
    record.numbers["to_go"] = frozen_.to_go;
    record.numbers["variances"] = frozen_.variances;
    record.numbers["optimistic_variances"] = frozen_.optimistic_variances;
    record.integers["generations"] = {static_cast<std::int64_t>(before_.size())};
    for (std::size_t age = 0; age < before_.size(); ++age) {
        Snapshot part;
        write_five(before_[age], part);
        record.add(fmt::format("before{}.", age), part);
    }
}

void PrintedBernsteinSource::read_frozen(const Snapshot& record) {
    const Index sets = regression_.sets(), d = regression_.dimension();
    statistics_ = read_five(record, sets, d);
    before_.clear();
    frozen_ = {};
    if (!record.numbers.contains("joint_found") || shape().learned_steps() == 0) return;
    const Index values = shape().learned_steps() * shape().states,
                pairs = shape().learned_steps() * shape().pairs();
    const double floor = 1 / static_cast<double>(d), largest = 1e300;
    frozen_ = {read_table(record, "values", values, 0, 1), read_table(record, "optimistic", values, 0, 1),
               read_table(record, "to_go", values, 0, 1),
               read_table(record, "variances", pairs, floor, largest),
               read_table(record, "optimistic_variances", pairs, floor, largest)};
    const std::int64_t kept = field(record.integers, "generations", 1)[0];
    for (std::int64_t age = 0; age < kept; ++age)
        before_.push_back(read_five(record.part(fmt::format("before{}.", age)), sets, d));
}

}  // namespace alidade::detail
