#include "regression_source.hpp"

#include <algorithm>
#include <cmath>

#include "../model/kept_size.hpp"
#include "alidade/error.hpp"
#include "value_rows.hpp"

namespace alidade::detail {

namespace {

/// Between thorough passes the `every` schedule follows its witnesses by ascent alone; more often than
/// this the determinants hardly move, and never would freeze bad local optima [oracle §C.2].
constexpr double refresh_growth = 0.02;
/// In a large model a thorough pass takes as long as seven policies, and any V may be regressed on: episodes
/// grow by so much between two of them. Measured: certificates are within 1 % of those that search for every
/// policy, and 9 % larger if only the first does [docs/large-models.md].
constexpr double large_growth = 3;

}  // namespace

ValueRegression::Setting regression_setting(const Task& task, double delta) {
    return {task.features, task.horizon, task.homogeneous, task.misspecification, delta};
}

ValueRegression value_regression(const Task& task, double delta, const RegressionConstants& constants) {
    return ValueRegression(regression_setting(task, delta), constants);
}

RegressionSource::RegressionSource(SourceSetting setting, RegressionSourceOptions options)
    : setting_(std::move(setting)),
      options_(options),
      shape_(setting_.task.shape()),
      regression_(value_regression(setting_.task, setting_.delta, options_.constants)) {
    validate(shape_);
    setting_.task.start.validate(shape_.states);
    statistics_.assign(at(regression_.sets()), RidgeStatistics(regression_.dimension()));
    log_det_.resize(at(regression_.sets()));
}

RegressionSource::~RegressionSource() = default;

WidthPlanner& RegressionSource::planner() {
    if (!planner_)
        planner_ = local_operator(*setting_.task.features, setting_.threads)
                       ->plan(regression_.features(), regression_.sets());
    return *planner_;
}

bool RegressionSource::keeps_best() const {
    return !options_.constants.paper && options_.constants.sharpenings.best_iterate;
}

bool RegressionSource::thorough_due() const {
    if (thorough_at_ < 0) return true;
    if (!is_large() && setting_.schedule.kind != Schedule::Kind::every) return true;
    const double growth = is_large() ? large_growth : refresh_growth;
    return static_cast<double>(episodes_) >= (1 + growth) * static_cast<double>(thorough_at_);
}

bool RegressionSource::is_large() const {
    return !is_kept(static_cast<double>(setting_.task.features->values().size()));
}

void RegressionSource::visit_widths(const WidthOptions& effort, std::span<const RegressionSet> sets,
                                    const WidthVisitor& visitor) const {
    std::vector<Matrix> metrics;
    metrics.reserve(sets.size());
    for (const RegressionSet& set : sets) metrics.push_back(set.inverse_factor);
    alidade::visit_widths(*setting_.task.features, regression_.features(), metrics, effort, setting_.threads,
                          visitor);
}

std::vector<double> RegressionSource::upper_widths(const WidthOptions& effort,
                                                   std::span<const RegressionSet> sets, bool warm) const {
    std::vector<double> upper(at(regression_.sets() * shape_.pairs()));
    WidthVisitor visitor;
    if (warm && planner_)
        visitor.start = [&](Index set, std::span<std::uint8_t> to) { planner_->witnesses(set, to); };
    visitor.found = [&](const SetWidths& found) {
        std::ranges::copy(found.upper, upper.begin() + found.set * shape_.pairs());
    };
    visit_widths(effort, sets, visitor);
    return upper;
}

void RegressionSource::solve() {
    // Estimate, radius and projection of every set, from sums of x x' and x y alone
    // [docs/algorithms/hoeffding.md, Theorem 1].
    sets_ = regression_.solve(statistics_);
    planner();
    // V near argmax |psi_V| of every pair, fixed from here to the next refresh: the one target that each
    // transition will have [paper, Alg. 1 line 8; theory §3i].
    const bool thorough = thorough_due();
    if (thorough) {
        // Of a large model they are computed once more where a certificate needs them
        // [docs/large-models.md].
        const bool kept = !is_large();
        widths_.resize(kept ? at(regression_.sets() * shape_.pairs()) : 0);
        visit_widths({.method = options_.width}, sets_,
                     {[&](Index set, std::span<std::uint8_t> to) { planner_->witnesses(set, to); },
                      [&](const SetWidths& found) {
                          planner_->take_witnesses(found.set, found.witness);
                          if (kept)
                              std::ranges::copy(found.upper, widths_.begin() + found.set * shape_.pairs());
                      }});
        thorough_at_ = episodes_;
    }
    widths_current_ = thorough;
    // A thorough pass has just found the witnesses; else they follow the metric by ascent [oracle §C.2].
    ascents_ = thorough ? 0 : 2;
    for (std::size_t k = 0; k < sets_.size(); ++k)
        // What the next determinants are compared with [theory §3e].
        log_det_[k] = log_det_ratio(statistics_[k], regression_.regularisation());
    due_ = false;
}

void RegressionSource::back_up(const Backup& backup, std::span<double> values) {
    planner_->run({set_index(backup.h), &set(backup.h).inverse_factor, backup.weights, backup.scale,
                   backup.next, ascents_},
                  values);
}

void RegressionSource::refresh() {
    solve();
    if (ascents_ == 0) return;
    // Witnesses move the same way whatever is backed up.
    const std::vector<double> nothing(at(shape_.states), 0.0);
    std::vector<double> values(at(shape_.pairs()));
    for (Step h = shape_.horizon - 2; h >= 0; --h)
        planner().run({set_index(h), &set(h).inverse_factor, &set(h).weights, 0, nothing, ascents_}, values);
}

void RegressionSource::absorb(const Counts& batch) {
    expects(batch.shape() == shape_, "counts have another shape than the problem");
    // A V that was chosen with the help of a transition must not be regressed on it [theory §3i].
    expects(thorough_at_ >= 0, "counts taken up before what is regressed on was fixed");
    const WidthPlanner& frozen = planner();
    visit_value_rows(
        setting_.task, regression_.features(), batch,
        [&](const RowPlace& place, Index successor) {
            return frozen.witness(place.set, place.pair, successor) ? 1.0 : 0.0;
        },
        [&](const ValueRow& row) {
            // Lambda += n x x' and b += x times the sum of the targets [paper, Alg. 1 lines 6-7].
            statistics_[at(row.set)].add(row.feature.data(), row.visits, row.residuals);
        });
    episodes_ += batch.episodes();
    widths_current_ = false;
    due_ = setting_.schedule.kind != Schedule::Kind::doubling || determinant_doubled();
}

// The product over the steps, not one of them alone: no later than the rule of [theory §3e], within the same
// bound, and at 1e4 episodes within 2 % of replanning after every episode, where the other was 3 to 6 %
// behind.
bool RegressionSource::determinant_doubled() const {
    double grown = 0;
    for (std::size_t k = 0; k < statistics_.size(); ++k)
        grown += log_det_ratio(statistics_[k], regression_.regularisation()) - log_det_[k];
    return grown >= std::log(2.0);
}

std::optional<std::int64_t> RegressionSource::refresh_bound() const {
    if (setting_.schedule.kind != Schedule::Kind::doubling) return std::nullopt;
    // Sums of logarithms telescope: from lambda I on, each refresh has used up one doubling [theory §3e].
    // Every refresh but the first has a determinant that has doubled since the one before.
    double doublings = 0;
    for (const RidgeStatistics& step : statistics_)
        doublings += log_det_ratio(step, regression_.regularisation()) / std::log(2.0);
    return 1 + static_cast<std::int64_t>(doublings * (1 + 1e-12) + 1e-9);
}

Knowledge RegressionSource::knowledge() const {
    if (widths_current_ && !widths_.empty())
        return regression_knowledge(setting_.task, regression_, sets_, widths_, episodes_, setting_.threads);
    // Sets of all data so far. The frozen V stay those of the last refresh, because they must be fixed before
    // the batch in hand is run.
    const std::vector<RegressionSet> sets = regression_.solve(statistics_);
    return regression_knowledge(setting_.task, regression_, sets,
                                upper_widths({.method = options_.width}, sets, true), episodes_,
                                setting_.threads);
}

}  // namespace alidade::detail
