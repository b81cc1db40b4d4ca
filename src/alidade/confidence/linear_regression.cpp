#include "linear_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../estimate/factoring.hpp"
#include "../theory/radii.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

/// What the norm of the measures may exceed its bound by where files give it, and more than rounding does.
constexpr double bias_slack = 1e-8;

/// For each step the states that the start can lead to.
std::vector<std::vector<char>> reachable_states(const Task& task) {
    const SuccessorMap& map = *task.linear;
    std::vector<char> here(at(map.states()), 0);
    for (const auto& [state, probability] : task.start.atoms())
        if (probability > 0) here[at(state)] = 1;
    std::vector<std::vector<char>> all{here};
    for (Step h = 0; h + 1 < task.horizon; ++h) {
        std::vector<char> next(here.size(), 0);
        for (State s = 0; s < map.states(); ++s) {
            if (!here[at(s)]) continue;
            for (Action a = 0; a < map.actions(); ++a)
                for (const std::int32_t target : map.targets(map.pair(s, a))) next[at(target)] = 1;
        }
        all.push_back(next);
        here = std::move(next);
    }
    return all;
}

/// For each set the number of states that can follow at its steps: those reachable at the steps after them.
std::vector<Index> count_successors(const std::vector<std::vector<char>>& reachable, bool homogeneous) {
    std::vector<char> ever(reachable.front().size(), 0);
    std::vector<Index> counts;
    for (std::size_t h = 1; h < reachable.size(); ++h) {
        for (std::size_t s = 0; s < ever.size(); ++s) ever[s] |= reachable[h][s];
        counts.push_back(std::ranges::count(homogeneous ? ever : reachable[h], 1));
    }
    if (homogeneous && !counts.empty()) counts = {counts.back()};
    return counts;
}

/// At least what |L^-1 x| is computed too small by, relative to it and for every x. With X the inverse as
/// computed, L X = I + F and |F| <= g |L||X|, g being p roundings (Higham 2002, Thm 8.5), so that X x differs
/// from L^-1 x = y by L^-1 F L y, and its product by g |X||L||y| more. Of |X||L| the norm is at most the root
/// of its largest row sum times its largest column sum, at least one.
double inversion_error(const RidgeEstimate& metric) {
    const Matrix inverse = metric.inverse_factor.cwiseAbs(), factor = metric.factor.cwiseAbs();
    const Vector ones = Vector::Ones(factor.rows());
    const double rows = (inverse * (factor * ones)).maxCoeff();
    const double columns = (factor.transpose() * (inverse.transpose() * ones)).maxCoeff();
    return static_cast<double>(factor.rows() + 2) * std::numeric_limits<double>::epsilon() * rows * columns;
}

/// The metric of a regression: that of Lambda + raised I where without it too little would be known of how
/// the inverse was rounded.
struct Metric {
    RidgeEstimate estimate;
    double raised = 0;
    double inversion = 0;  ///< inversion_error, below one half
};

Metric metric_of(const RidgeStatistics& rows, double regularisation) {
    Metric metric{solve_ridge(rows, regularisation)};
    metric.inversion = inversion_error(metric.estimate);
    if (metric.inversion < 0.5) return metric;
    // The sums of |X||L| are at most p^2 trace / raised, so that the error is a quarter and little more.
    const auto p = static_cast<double>(rows.dimension());
    metric.raised =
        4 * p * p * (p + 2) * std::numeric_limits<double>::epsilon() * metric.estimate.precision.trace();
    metric.estimate = solve_ridge(rows, regularisation + metric.raised);
    metric.inversion = inversion_error(metric.estimate);
    ensures(metric.inversion < 0.5, "a regression's factor cannot be inverted: {}", metric.inversion);
    metric.estimate.log_det_ratio += p * std::log1p(metric.raised / regularisation);
    return metric;
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
    reachable_ = reachable_states(task_);
    successors_ = count_successors(reachable_, task_.homogeneous);
}

void LinearRegression::require_reachable(const Counts& counts) const {
    const Index actions = task_.linear->actions();
    for (Step h = 0; h + 1 < task_.horizon; ++h)
        for (const SeenEntry& seen : counts.seen(h)) {
            const State state = task_.linear->pair_of(seen.entry) / actions;
            if (reachable_[at(h)][at(state)]) continue;
            throw ModelContradiction(fmt::format(
                "step {}: state {} was seen, to which the problem's start and successors do not lead", h,
                state));
        }
}

std::vector<LinearEstimate> LinearRegression::solve(std::span<const LinearStatistics> statistics) const {
    expects(static_cast<Index>(statistics.size()) == sets(), "statistics of {} sets; must be of {}",
            statistics.size(), sets());
    std::vector<LinearEstimate> estimates;
    for (Index set = 0; set < sets(); ++set) estimates.push_back(solve_set(set, statistics[at(set)]));
    return estimates;
}

LinearEstimate LinearRegression::solve_set(Index set, const LinearStatistics& statistics) const {
    const auto [metric, raised, inversion] = metric_of(statistics.rows, regularisation_);
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
    const double of_matrix = 4 * (statistics.rows.rounding + factoring_error(metric.precision)) +
                             unit * metric.precision.norm() + 2 * raised;
    const double residual = sum_of_norms(statistics.arrivals - metric.precision * estimate.measures) +
                            of_matrix * sum_of_norms(estimate.measures) + statistics.rounding +
                            unit * statistics.size;
    // And so was the metric: the factor's product is at most 1 + metric_error times the exact matrix, which
    // may have been raised.
    const double of_metric = std::sqrt((1 + metric.metric_error) * (1 + raised / regularisation_));
    estimate.radius = (radius + residual / std::sqrt(regularisation_)) * of_metric / (1 - inversion) *
                      (1 + unit * unit / std::numeric_limits<double>::epsilon());
    return estimate;
}

}  // namespace alidade::detail
