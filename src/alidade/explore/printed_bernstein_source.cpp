#include "printed_bernstein_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../certify/relaxation.hpp"
#include "alidade/error.hpp"
#include "regression_source.hpp"
#include "value_rows.hpp"

namespace alidade::detail {

namespace {

/// Earlier ellipsoids that U_h keeps. The paper keeps all, for its lemma of monotone values, which is false;
/// dropping some only makes U_h larger [docs/algorithms/bernstein.md, The printed algorithm].
constexpr std::size_t generations = 4;

AscentOptions joint_ascent(AscentOptions ascent) {
    ascent.joint = true;  // [paper, Alg. 2 line 8]
    return ascent;
}

/// |phi| in the dual metric of an estimate in R^d.
double dual_length(const RidgeEstimate& estimate, const Vector& phi) {
    return (estimate.inverse_factor.triangularView<Eigen::Lower>() * phi).norm();
}

/// How far weights are from the estimate in its metric, and no less than the radius: what the triangle
/// inequality makes of a member, whatever the search has found.
double reach(const RidgeEstimate& estimate, const Vector& weights, double radius) {
    return std::max(radius, (estimate.factor.transpose() * (weights - estimate.coordinates)).norm());
}

}  // namespace

PrintedBernsteinSource::PrintedBernsteinSource(SourceSetting setting, const PrintedBernsteinOptions& options)
    : JointSource(std::move(setting), joint_ascent(options.ascent), options.width),
      options_(options),
      regression_(regression_setting(this->setting().task, this->setting().delta), options.radii,
                  options.episodes),
      statistics_(at(regression_.sets()), FiveStatistics(regression_.dimension())) {}

/// V is cut at H as printed, or, as no value error is larger, at the steps that are left; V of the step after
/// is no larger, and is divided by it.
double PrintedBernsteinSource::clip(Step h) const {
    return static_cast<double>(options_.radii == BernsteinRadii::printed ? shape().horizon
                                                                         : shape().steps_after(h));
}

JointProblem PrintedBernsteinSource::problem_of(const Generation& statistics,
                                                std::span<const Generation> before) const {
    JointProblem problem{setting().task, &regression_.features(), {}, {}};
    for (std::size_t k = 0; k < statistics.size(); ++k) {
        // U_h: the weights in all balls, of this policy and of some before [paper, Alg. 2 lines 6, 15].
        const FiveSolved solved = regression_.solve(statistics[k]);
        std::vector<ConfidenceSet> balls = regression_.balls(statistics[k], solved);
        for (const Generation& earlier : before)
            for (ConfidenceSet& ball : regression_.balls(earlier[k], regression_.solve(earlier[k])))
                balls.push_back(std::move(ball));
        // beta-hat, rounding included; never less than what the projection is off.
        const double radius = std::max(solved.radius(FiveTargets::values), balls.front().refined_radius());
        problem.parts.push_back({solved.of(FiveTargets::values).inverse_factor,
                                 radius,
                                 // The smaller of both norms bounds as well, since the weights are in both
                                 // balls: Lambda_2 hardly grows, as V shrinks while sigma_2 does not
                                 // [docs/algorithms/bernstein.md, The printed algorithm].
                                 {solved.of(FiveTargets::values).inverse_factor,
                                  solved.of(FiveTargets::optimistic).inverse_factor},
                                 // Twice beta-hat: the argmax is no projection (erratum 3).
                                 2 * std::max(radius, solved.radius(FiveTargets::optimistic)),
                                 regression_.common(balls)});
    }
    for (Step h = 0; h < shape().learned_steps(); ++h) problem.clips.push_back(clip(h));
    return problem;
}

JointProblem PrintedBernsteinSource::problem() const {
    return problem_of(statistics_, before_);
}

// sigma^2 = max{1/d, V-bar + E} in units of the range: the model's variance, and how far it may be from the
// truth's [theory §1.5]. The metrics are those of the last refresh, in which model and truth were within
// beta of the estimates.
double PrintedBernsteinSource::variance_bound(Step h, Index pair, const JointValues& found, bool optimistic,
                                              std::span<const FiveSolved> solved) const {
    const FeatureMap& features = *setting().task.features;
    const Index set = setting().task.homogeneous ? 0 : h;
    const FiveSolved& five_of = solved[at(set)];
    const Vector& weights = found.point().weights[at(set)];
    std::vector<double> square;
    const std::span<const double> value = frozen(optimistic ? frozen_.optimistic : frozen_.values, h);
    for (const double v : value) square.push_back(v * v);
    const Vector phi = features.phi_value(pair, value), phi_square = features.phi_value(pair, square);
    const FiveTargets plain = optimistic ? FiveTargets::optimistic : FiveTargets::values;
    const FiveTargets squared = optimistic ? FiveTargets::optimistic_squared : FiveTargets::values_squared;
    const RidgeEstimate &first = five_of.of(plain), &second = five_of.of(squared);
    // beta-check and beta-tilde, with what rounding and a misspecification add to them as they do to the
    // sets.
    const double coarse = five_of.coarse[static_cast<std::size_t>(plain)], squares = five_of.radius(squared);
    const double mean = weights.dot(phi), variance = weights.dot(phi_square) - mean * mean;
    const double error =
        std::min(1.0, 2 * (coarse + reach(first, weights, coarse)) * dual_length(first, phi)) +
        std::min(1.0, (squares + reach(second, weights, squares)) * dual_length(second, phi_square));
    // A truth that is off its mixture moves the mean of the square by zeta, and the mean's square by twice
    // that.
    return std::max(1 / static_cast<double>(features.features()),
                    variance + error + 3 * setting().task.misspecification);
}

/// Y~_h = V-bar_1 + P~ Y~_{h+1}: in the model, the variance of what is still to come; at most a quarter of
/// its range's square [theory §1.5].
void PrintedBernsteinSource::freeze_variance_to_go(const JointValues& found) {
    const FeatureMap& features = *setting().task.features;
    const Index states = shape().states;
    std::vector<double> next(at(states), 0.0);
    frozen_.to_go.assign(at(shape().learned_steps() * states), 0.0);
    for (Step h = shape().learned_steps() - 1; h >= 0; --h) {
        const double range = static_cast<double>(shape().steps_after(h)), most = range * range / 4;
        for (State s = 0; s < states; ++s)
            frozen_.to_go[at(h * states + s)] = std::clamp(next[at(s)] / most, 0.0, 1.0);
        std::vector<double> now(at(states));
        for (State s = 0; s < states; ++s) {
            const Index pair = shape().pair(s, found.point().actions[at(h * states + s)]);
            double mean = 0, square = 0, to_go = 0;
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                const double p = found.probabilities(h)[at(e)];
                const auto target = at(features.targets()[at(e)]);
                const double v = found.model_values(h + 1)[target];
                mean += p * v;
                square += p * v * v;
                to_go += p * next[target];
            }
            now[at(s)] = std::max(0.0, square - mean * mean) + to_go;
        }
        next = std::move(now);
    }
}

void PrintedBernsteinSource::freeze(const JointProblem&, const JointValues& found) {
    std::vector<FiveSolved> solved;
    for (const FiveStatistics& set : statistics_) solved.push_back(regression_.solve(set));
    frozen_ = {};
    for (Step h = 0; h < shape().learned_steps(); ++h) {
        // The scaled V, where radii were scaled down: any V that is fixed beforehand will do, and one that is
        // clipped everywhere teaches nothing.
        for (const double value : found.model_values(h + 1))
            frozen_.values.push_back(
                std::clamp(value / static_cast<double>(shape().steps_after(h)), 0.0, 1.0));
        for (const double value : found.optimistic_values(h + 1))
            frozen_.optimistic.push_back(std::clamp(value / clip(h), 0.0, 1.0));
    }
    for (Step h = 0; h < shape().learned_steps(); ++h)
        for (Index pair = 0; pair < shape().pairs(); ++pair) {
            frozen_.variances.push_back(variance_bound(h, pair, found, false, solved));
            frozen_.optimistic_variances.push_back(variance_bound(h, pair, found, true, solved));
        }
    freeze_variance_to_go(found);
    if (statistics_.empty()) return;  // a single step: nothing is learned
    before_.insert(before_.begin(), statistics_);
    if (before_.size() > generations) before_.resize(generations);
}

// [paper, Alg. 2 lines 13-14], all visits of a batch at once.
void PrintedBernsteinSource::take(const Counts& batch) {
    const FeatureMap& features = *setting().task.features;
    const auto visit_targets = [&](FiveTargets target, const std::vector<double>& table, bool squared,
                                   const std::vector<double>* variances) {
        const auto value = [&](const RowPlace& place, Index successor) {
            const Index entry = features.first_entry(place.pair) + successor;
            const double v = frozen(table, place.step)[at(features.targets()[at(entry)])];
            return squared ? v * v : v;
        };
        std::vector<double> scaled;
        visit_value_rows(setting().task, regression_.features(), batch, value, [&](const ValueRow& row) {
            FiveStatistics& set = statistics_[at(row.set)];
            const double variance = variances ? (*variances)[at(row.step * shape().pairs() + row.pair)] : 1.0;
            // phi / sigma and target / sigma: the weight of a row is the inverse of a bound of its variance.
            scaled.assign(row.feature.begin(), row.feature.end());
            for (double& x : scaled) x /= std::sqrt(variance);
            set.of(target).add(scaled.data(), row.visits, row.residuals / std::sqrt(variance));
            if (variances)
                set.inverse_variances[static_cast<std::size_t>(target)] +=
                    static_cast<double>(row.visits) / variance;
        });
    };
    // Each of the five has a Lambda of its own rows [theory §2, erratum 1]; only values and optimistic values
    // are weighted [theory §1.5].
    visit_targets(FiveTargets::values, frozen_.values, false, &frozen_.variances);
    visit_targets(FiveTargets::optimistic, frozen_.optimistic, false, &frozen_.optimistic_variances);
    visit_targets(FiveTargets::values_squared, frozen_.values, true, nullptr);
    visit_targets(FiveTargets::optimistic_squared, frozen_.optimistic, true, nullptr);
    visit_targets(FiveTargets::variance_to_go, frozen_.to_go, false, nullptr);
}

// Of all five regressions: each of their metrics is in some bonus or variance.
std::vector<double> PrintedBernsteinSource::log_determinants() const {
    std::vector<double> result;
    for (const FiveStatistics& set : statistics_)
        for (const RidgeStatistics& rows : set.rows)
            result.push_back(log_det_ratio(rows, regression_.regularisation()));
    return result;
}

std::vector<Vector> PrintedBernsteinSource::argmax_weights() const {
    return options_.argmax && solution() ? solution()->point.weights : std::vector<Vector>{};
}

Knowledge PrintedBernsteinSource::knowledge_of(const Generation& statistics,
                                               const std::vector<Vector>& argmax, std::int64_t episodes,
                                               const WidthOptions& effort) const {
    JointProblem problem = problem_of(statistics, {});
    std::vector<ConfidenceSet> sets;
    for (std::size_t k = 0; k < problem.parts.size(); ++k) {
        JointPart& part = problem.parts[k];
        sets.push_back(part.set);
        if (argmax.empty()) continue;
        // A ball about theta~, within which the truth is by the triangle inequality. It is the theta~ of the
        // last search and need not be a member of today's sets, so that its distance is measured: of a member
        // twice beta-hat at most.
        PointEstimate centre = part.set.estimate();
        centre.coordinates = part.set.parameters().space().coordinates(argmax[k]);
        const double apart =
            (centre.factor.transpose() * (centre.coordinates - part.set.estimate().coordinates)).norm();
        const ConfidenceSet about(part.set.parameters(), centre, (part.set.radius() + apart) * (1 + 1e-9));
        part.first_radius = std::max(part.first_radius, about.refined_radius());
        sets.back() = about.also_within(part.set);
    }
    Knowledge knowledge = certified(std::move(sets), episodes, effort);
    const ErrorRecursion relaxed =
        relaxation(problem, {.widths = effort, .threads = setting().threads, .spans = {}});
    add_candidate(knowledge.certificate, "relaxation", relaxation_certificate(problem, relaxed),
                  shape().horizon);
    return knowledge;
}

/// With the certificates that any sets have; the paper's constants have the one of their own alone.
Knowledge PrintedBernsteinSource::certified(std::vector<ConfidenceSet> sets, std::int64_t episodes,
                                            const WidthOptions& effort) const {
    const Task& task = setting().task;
    if (options_.radii == BernsteinRadii::safe)
        return certify(
            task, std::move(sets),
            {.delta = setting().delta, .widths = effort, .threads = setting().threads, .episodes = episodes});
    RewardFreeCertificate none;
    none.failure_probability = setting().delta;
    return {std::make_shared<const LearnedMixture>(task, std::move(sets), setting().delta), std::move(none),
            episodes};
}

Knowledge PrintedBernsteinSource::knowledge() const {
    return knowledge_of(statistics_, argmax_weights(), episodes(), quick());
}

}  // namespace alidade::detail
