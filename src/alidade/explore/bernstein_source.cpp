#include "bernstein_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../certify/relaxation.hpp"
#include "../certify/span.hpp"
#include "alidade/error.hpp"
#include "handed_over.hpp"
#include "record_field.hpp"
#include "regression_source.hpp"
#include "value_rows.hpp"
#include "weighted_record.hpp"

namespace alidade::detail {

namespace {

constexpr std::string_view coarse_rows = "coarse.";

}  // namespace

BernsteinSource::BernsteinSource(SourceSetting setting, const AscentOptions& ascent, WidthMethod width)
    : JointSource(std::move(setting), ascent, width),
      regression_(regression_setting(this->setting().task, this->setting().delta)),
      coarse_(at(regression_.coarse().sets()), RidgeStatistics(regression_.coarse().dimension())),
      weighted_(at(regression_.coarse().sets()), WeightedStatistics(regression_.coarse().dimension(),
                                                                    this->setting().task.features->pairs())) {
}

// The inner problem with robust backups: one metric, one radius, no second bonus
// [docs/algorithms/bernstein.md, The inner problem].
JointProblem BernsteinSource::problem_of(std::vector<ConfidenceSet> sets) const {
    JointProblem problem{setting().task, &regression_.coarse().features(), {}, {}};
    for (ConfidenceSet& set : sets) {
        // About the projection, which is theta~: beta, and not twice it [theory §3a].
        Matrix metric = set.estimate().inverse_factor;
        const double radius = set.refined_radius();
        // No second bonus: backups are robust, and need no u_2.
        problem.parts.push_back({std::move(metric), radius, {}, 0, std::move(set)});
    }
    for (Step h = 0; h < shape().learned_steps(); ++h)
        // n = H-1-h: no error is larger, since both sides receive the same reward at h [likelihood §9.6].
        problem.clips.push_back(static_cast<double>(shape().steps_after(h)));
    return problem;
}

JointProblem BernsteinSource::problem() const {
    return problem_of(
        regression_.solve(regression_.coarse().solve(coarse_), weighted_, quick(), setting().threads));
}

// [paper, Alg. 2 lines 13-15] in units of the range H-1-h, so that all steps have one noise and may pool.
void BernsteinSource::freeze(const JointProblem& problem, const JointValues& found) {
    const FeatureMap& features = *problem.task.features;
    const std::vector<RegressionSet> coarse = regression_.coarse().solve(coarse_);
    values_.clear();
    variances_.clear();
    std::vector<double> square(at(shape().states));
    for (Step h = 0; h < shape().learned_steps(); ++h) {
        const auto range = static_cast<double>(shape().steps_after(h));
        // V = V^/n, one for all pairs of the step. Clamped for rounding alone: V^ is at most n.
        for (const double value : found.model_values(h + 1))
            values_.push_back(std::clamp(value / range, 0.0, 1.0));
        const std::span<const double> value = frozen(values_, h), law = found.probabilities(h);
        const ConfidenceSet& set = coarse[at(problem.part_index(h))].set;
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            double mean = 0;
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
                mean += law[at(e)] * value[at(features.targets()[at(e)])];
            // Any number in place of the mean bounds the variance; the model's is the one to guess.
            for (std::size_t s = 0; s < square.size(); ++s) square[s] = (value[s] - mean) * (value[s] - mean);
            // sigma^2: the largest E(V - c)^2 over the plain sets, which is at least the variance of V under
            // any of their members, and so under the truth [docs/algorithms/bernstein.md, A run].
            const Vector direction = features.phi_value(pair, square);
            variances_.push_back(regression_.variance_about(set, {direction.data(), at(direction.size())}));
        }
    }
}

// Every transition enters both regressions, once each: a union bound is over events and not over data
// [docs/algorithms/bernstein.md, Variances].
void BernsteinSource::take(const Counts& batch) {
    const FeatureMap& features = *setting().task.features;
    visit_value_rows(
        setting().task, regression_.coarse().features(), batch,
        [&](const RowPlace& place, Index successor) {
            return frozen(
                values_,
                place.step)[at(features.targets()[at(features.first_entry(place.pair) + successor)])];
        },
        [&](const ValueRow& row) {
            coarse_[at(row.set)].add(row.feature.data(), row.visits, row.residuals);
            weighted_[at(row.set)].add(row.pair, row.feature, row.visits, row.residuals,
                                       variances_[at(row.step * features.pairs() + row.pair)]);
        });
}

// Of the weighted rows, in whose metric bonuses are: the plain ones only bound variances.
std::vector<double> BernsteinSource::log_determinants() const {
    std::vector<double> result;
    for (const WeightedStatistics& set : weighted_)
        result.push_back(log_det_ratio(set.rows, regression_.regularisation()));
    return result;
}

Knowledge BernsteinSource::knowledge_of(std::span<const RidgeStatistics> coarse,
                                        std::span<const WeightedStatistics> weighted, std::int64_t episodes,
                                        const WidthOptions& effort) const {
    const Task& task = setting().task;
    std::vector<ConfidenceSet> sets =
        regression_.solve(regression_.coarse().solve(coarse), weighted, effort, setting().threads);
    const JointProblem problem = problem_of(sets);
    // Computed once, for the certificates of any sets and for the relaxation: of u_1 they are the same
    // widths.
    WidthTable widths(static_cast<Index>(sets.size()), *task.features);
    bracket_widths(*task.features, regression_.coarse().features(), sets, effort, setting().threads, widths);
    Knowledge knowledge =
        certify(task, std::move(sets), widths,
                {.delta = setting().delta, .threads = setting().threads, .episodes = episodes});
    // What the algorithm itself can claim: 2 B, with B above every (pi, R), whatever the search has found
    // [docs/algorithms/bernstein.md, Theorem 3]. The spans of the model's values may stand for their ranges,
    // as theta~ is fixed and constants do not count.
    const ErrorRecursion relaxed = relaxation(problem, {.widths = effort,
                                                        .threads = setting().threads,
                                                        .spans = value_spans(*knowledge.learned),
                                                        .first = &widths});
    add_candidate(knowledge.certificate, "relaxation", relaxation_certificate(problem, relaxed),
                  task.horizon);
    return knowledge;
}

Knowledge BernsteinSource::knowledge() const {
    return knowledge_of(coarse_, weighted_, episodes(), quick());
}

Knowledge BernsteinSource::recompute(const Snapshot& evidence) const {
    const std::int64_t episodes = field(evidence.integers, "episodes", 1)[0];
    expects(episodes >= 0, "the stored number of episodes is {}; must not be negative", episodes);
    const ValueRegression& plain = regression_.coarse();
    return knowledge_of(
        read_ridge_statistics(evidence.part(coarse_rows), plain.sets(), plain.dimension()),
        read_weighted_statistics(evidence, plain.sets(), plain.dimension(), setting().task.features->pairs()),
        episodes, thorough_widths(setting().task, width()));
}

Snapshot BernsteinSource::evidence() const {
    Snapshot record, coarse;
    write_weighted_statistics(weighted_, record);
    record.integers["episodes"] = {episodes()};
    write_ridge_statistics(coarse_, coarse);
    coarse.integers["episodes"] = {episodes()};
    record.add(coarse_rows, coarse);
    return record;
}

void BernsteinSource::write_frozen(Snapshot& record) const {
    record.numbers["values"] = values_;
    record.numbers["variances"] = variances_;
}

void BernsteinSource::read_frozen(const Snapshot& record) {
    const ValueRegression& plain = regression_.coarse();
    coarse_ = read_ridge_statistics(record.part(coarse_rows), plain.sets(), plain.dimension());
    weighted_ =
        read_weighted_statistics(record, plain.sets(), plain.dimension(), setting().task.features->pairs());
    values_.clear();
    variances_.clear();
    if (!record.numbers.contains("joint_found") || shape().learned_steps() == 0) return;
    values_ = field(record.numbers, "values", at(shape().learned_steps() * shape().states));
    variances_ = field(record.numbers, "variances", at(shape().learned_steps() * shape().pairs()));
    // What was regressed on must have been in [0,1], and its variance within its bounds, or the radius is
    // none for these rows.
    for (const double value : values_)
        expects(value >= 0 && value <= 1, "a stored value is {}; must be 0 to 1", value);
    require_variances(variances_);
}

}  // namespace alidade::detail
