#include "linear_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../estimate/factoring.hpp"
#include "alidade/error.hpp"
#include "alidade/theory/radii.hpp"

namespace alidade::detail {

namespace {

/// What the norm of the measures may exceed its bound by where files give it, and more than rounding does.
constexpr double bias_slack = 1e-8;

/// For each set the number of states that can follow at its steps, from what the start can lead to.
std::vector<Index> count_successors(const Task& task) {
    const SuccessorMap& map = *task.linear;
    std::vector<char> here(at(map.states()), 0);
    for (const auto& [state, probability] : task.start.atoms())
        if (probability > 0) here[at(state)] = 1;
    std::vector<char> ever(here.size(), 0);
    std::vector<Index> counts;
    for (Step h = 0; h + 1 < task.horizon; ++h) {
        std::vector<char> next(here.size(), 0);
        for (State s = 0; s < map.states(); ++s) {
            if (!here[at(s)]) continue;
            for (Action a = 0; a < map.actions(); ++a)
                for (const std::int32_t target : map.targets(map.pair(s, a))) next[at(target)] = 1;
        }
        for (std::size_t s = 0; s < next.size(); ++s) ever[s] |= next[s];
        counts.push_back(std::ranges::count(task.homogeneous ? ever : next, 1));
        here = std::move(next);
    }
    if (task.homogeneous && !counts.empty()) counts = {counts.back()};
    return counts;
}

double sum_of_norms(const Matrix& matrix) {
    double sum = 0;
    for (Index j = 0; j < matrix.cols(); ++j) sum += matrix.col(j).norm();
    return sum;
}

}  // namespace

std::string pair_features_refusal(const Task& task) {
    if (!task.linear) return {};
    return "problem is a linear MDP, which has features of pairs and no base models; the algorithm lsvi, "
           "with "
           "the confidence sets linear, serves it";
}

std::string linear_refusal(const Task& task) {
    if (!task.linear)
        return "problem has base models or features of transitions; lsvi and the confidence sets linear are "
               "for linear MDPs ([linear] in problem.toml)";
    if (task.misspecification != 0)
        return fmt::format("problem has a misspecification of {}; regressions of linear MDPs allow for none",
                           task.misspecification);
    return {};
}

LinearRegression::LinearRegression(Task task, double delta) : task_(std::move(task)), delta_(delta) {
    const std::string refusal = linear_refusal(task_);
    expects(refusal.empty(), "{}", refusal);
    expects(delta > 0 && delta < 1, "delta is {}; must be greater than 0 and less than 1", delta);
    validate(task_.shape());
    task_.start.validate(task_.linear->states());
    // sqrt(lambda) times the norm bound is sqrt(d) whatever the scale of the features [paper, App. D].
    regularisation_ = static_cast<double>(task_.linear->features()) / std::pow(task_.linear->norm_bound(), 2);
    successors_ = count_successors(task_);
}

std::vector<LinearEstimate> LinearRegression::solve(std::span<const LinearStatistics> statistics) const {
    expects(static_cast<Index>(statistics.size()) == sets(), "statistics of {} sets; must be of {}",
            statistics.size(), sets());
    std::vector<LinearEstimate> estimates;
    for (Index set = 0; set < sets(); ++set) estimates.push_back(solve_set(set, statistics[at(set)]));
    return estimates;
}

LinearEstimate LinearRegression::solve_set(Index set, const LinearStatistics& statistics) const {
    const RidgeEstimate metric = solve_ridge(statistics.rows, regularisation_);
    LinearEstimate estimate;
    estimate.inverse_factor = metric.inverse_factor;
    estimate.measures = metric.inverse_factor.transpose() * (metric.inverse_factor * statistics.arrivals);
    const double bias = std::sqrt(static_cast<double>(task_.linear->features())) * (1 + bias_slack);
    const double radius =
        linear_radius(metric.log_det_ratio + metric.log_det_error, successors(set), sets(), delta_, bias);
    // The measures were rounded. With R = M - Lambda mu^ of what is used, w^(V) is off by Lambda^-1 R V, and
    // phi times it is at most |phi| |R V| / sqrt(lambda) in the metric; |R V| is at most the sum of the norms
    // of R's columns, which are known but for the rounding of all that R is computed from.
    const double unit =
        static_cast<double>(metric.precision.rows() + 2) * std::numeric_limits<double>::epsilon();
    const double of_matrix =
        4 * (statistics.rows.rounding + factoring_error(metric.precision)) + unit * metric.precision.norm();
    const double residual = sum_of_norms(statistics.arrivals - metric.precision * estimate.measures) +
                            of_matrix * sum_of_norms(estimate.measures) + statistics.rounding +
                            unit * statistics.size;
    // And so was the metric: the factor's product is at most 1 + metric_error times the exact matrix.
    estimate.radius = (radius + residual / std::sqrt(regularisation_)) * std::sqrt(1 + metric.metric_error) *
                      (1 + unit * unit / std::numeric_limits<double>::epsilon());
    return estimate;
}

}  // namespace alidade::detail
