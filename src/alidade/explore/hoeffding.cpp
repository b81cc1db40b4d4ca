#include "alidade/explore/hoeffding.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/regression_sets.hpp"
#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "planning_pass.hpp"

namespace alidade {

namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

/// Between thorough passes the `every` schedule follows its witnesses by ascent alone; more often than
/// this the determinants hardly move, and never would freeze bad local optima [oracle §C.2].
constexpr double refresh_growth = 0.02;

/// First position from `begin` on that is not zero, or `end`; eight at a time, as most are.
Index first_nonzero(const std::int64_t* values, Index begin, Index end) {
    while (begin + 8 <= end) {
        std::int64_t any = 0;
        for (Index i = 0; i < 8; ++i) any |= values[begin + i];
        if (any != 0) break;
        begin += 8;
    }
    while (begin < end && values[begin] == 0) ++begin;
    return begin;
}

}  // namespace

HoeffdingExplorer::HoeffdingExplorer(Task task, ExplorerOptions options, ActionRule rule)
    : task_(std::move(task)),
      options_(options),
      rule_(rule),
      shape_(task_.shape()),
      parameters_(ParameterSet::of(*task_.features)),
      tangent_(*task_.features, parameters_.space()),
      widths_(confidence_sets(task_.horizon, task_.homogeneous), *task_.features) {
    validate(shape_);
    task_.start.validate(shape_.states);
    expects(options_.delta > 0 && options_.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            options_.delta);
    expects(options_.threads >= 1, "threads is {}; must be at least 1", options_.threads);
    expects(
        parameters_.kind() == ParameterSetKind::simplex,
        "problem has general signed features; this algorithm needs base models ([[base]] in problem.toml)");
    statistics_.assign(at(widths_.sets), RidgeStatistics(parameters_.space().dimension()));
    log_det_.resize(at(widths_.sets));
    pass_ = std::make_unique<detail::PlanningPass>(*task_.features, tangent_, widths_.sets);
}

HoeffdingExplorer::~HoeffdingExplorer() = default;

Deployment HoeffdingExplorer::ask() {
    if (replan_due_) replan();
    return {policy_, options_.schedule.batch(episodes_)};
}

bool HoeffdingExplorer::refresh_due() const {
    if (options_.schedule.kind != Schedule::Kind::every || thorough_at_ < 0) return true;
    return static_cast<double>(episodes_) >= (1 + refresh_growth) * static_cast<double>(thorough_at_);
}

void HoeffdingExplorer::replan() {
    sets_ = regression_sets(parameters_, statistics_, options_.delta, task_.misspecification);
    const bool thorough = refresh_due();
    if (thorough) {
        widths_.witness = pass_->witnesses();
        bracket_widths(*task_.features, tangent_, sets_, WidthOptions{}, options_.threads, widths_);
        pass_->take_witnesses(widths_.witness);
        thorough_at_ = episodes_;
    }
    widths_current_ = thorough;
    choose_actions(thorough ? 0 : 2);
    for (std::size_t k = 0; k < sets_.size(); ++k) log_det_[k] = sets_[k].estimate().log_det_ratio;
    ++replans_;
    replan_due_ = false;
}

// Backwards through E_h = max_a min(H-1-h, (H-1-h) beta width + P~ E_{h+1}), moving the witnesses on the way.
void HoeffdingExplorer::choose_actions(int ascents) {
    std::vector<std::int32_t> actions(at(shape_.horizon * shape_.states), 0);
    std::vector<double> next(at(shape_.states), 0.0), values(at(shape_.pairs()));
    for (Step h = shape_.horizon - 2; h >= 0; --h) {
        const Index set = task_.homogeneous ? 0 : h;
        const ConfidenceSet& confidence = sets_[at(set)];
        const auto range = static_cast<double>(shape_.steps_after(h));
        pass_->run({set, &confidence, confidence.refined_radius() * range, next, ascents}, values,
                   {.threads = options_.threads});
        for (State s = 0; s < shape_.states; ++s) {
            // The unclipped value decides: clipped ones tie while nothing is known, and the first action
            // would win everywhere [paper, Alg. 1 lines 12-13; likelihood §8.4]. Exact ties are drawn.
            const double* value = values.data() + s * shape_.actions;
            const double best = *std::max_element(value, value + shape_.actions);
            const auto ties = std::count(value, value + shape_.actions, best);
            auto chosen = std::find(value, value + shape_.actions, best);
            if (ties > 1) {
                Stream random(options_.seed, Purpose::ties, static_cast<std::uint64_t>(replans_),
                              static_cast<std::uint64_t>(h * shape_.states + s));
                for (Index skip = sample_index(random, ties); skip > 0; --skip)
                    chosen = std::find(chosen + 1, value + shape_.actions, best);
            }
            actions[at(h * shape_.states + s)] = static_cast<std::int32_t>(chosen - value);
            next[at(s)] = std::min(range, best);
        }
    }
    if (rule_ == ActionRule::optimistic)
        policy_ = std::make_shared<const Policy>(Policy::deterministic(shape_, std::move(actions)));
    else if (!policy_)
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
}

void HoeffdingExplorer::tell(const Counts& counts) {
    expects(counts.shape() == shape_, "counts have another shape than the problem");
    expects(policy_ != nullptr, "counts told before a deployment was asked for");
    const FeatureMap& features = *task_.features;
    for (Step h = 0; h < shape_.learned_steps(); ++h) {
        const std::int64_t* seen = counts.at(h).data();
        Index entry = 0, pair = 0;
        while (true) {
            entry = first_nonzero(seen, entry, features.entries());
            if (entry == features.entries()) break;
            while (features.first_entry(pair + 1) <= entry) ++pair;
            observe(task_.homogeneous ? 0 : h, pair, seen);
            entry = features.first_entry(pair + 1);
        }
    }
    episodes_ += counts.episodes();
    widths_current_ = false;
    replan_due_ = options_.schedule.kind != Schedule::Kind::doubling || determinant_doubled();
}

// [paper, Alg. 1 lines 6-9] with V in {0,1} instead of {0,H}: the range H-1-h multiplies the bonus, not the
// feature, so that the noise is 1/2 at every step [theory §3c].
void HoeffdingExplorer::observe(Index set, Index pair, const std::int64_t* seen) {
    const FeatureMap& features = *task_.features;
    const Index p = tangent_.space.dimension(), first = features.first_entry(pair);
    feature_.assign(at(p), 0.0);
    double predicted = 0;
    std::int64_t visits = 0, hits = 0;
    for (Index j = 0; j < features.successors(pair); ++j) {
        const Index entry = first + j;
        visits += seen[entry];
        if (!pass_->witness(set, pair, j)) continue;
        hits += seen[entry];
        predicted += tangent_.centre[at(entry)];
        for (Index i = 0; i < p; ++i) feature_[at(i)] += tangent_.psi[at(entry * p + i)];
    }
    statistics_[at(set)].add(feature_.data(), visits,
                             static_cast<double>(hits) - static_cast<double>(visits) * predicted);
}

bool HoeffdingExplorer::determinant_doubled() const {
    const double regularisation = ridge_regularisation(parameters_);
    for (std::size_t k = 0; k < statistics_.size(); ++k)
        if (log_det_ratio(statistics_[k], regularisation) >= log_det_[k] + std::log(2.0)) return true;
    return false;
}

Knowledge HoeffdingExplorer::knowledge() {
    if (widths_current_) {
        LearnedModel learned(task_.features, task_.horizon, task_.start, task_.homogeneous, sets_,
                             options_.delta, task_.misspecification);
        RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable(learned, widths_));
        return {std::move(learned), std::move(certificate), episodes_};
    }
    WidthTable widths = widths_;  // of the same sizes; the frozen witnesses are elsewhere
    return regression_knowledge(task_, tangent_, statistics_, episodes_, options_.delta, options_.threads,
                                WidthOptions{}, widths);
}

Knowledge regression_knowledge(const Task& task, const TangentFeatures& tangent,
                               std::span<const RidgeStatistics> statistics, std::int64_t episodes,
                               double delta, int threads, const WidthOptions& effort, WidthTable& widths) {
    std::vector<ConfidenceSet> sets =
        regression_sets(ParameterSet::of(*task.features), statistics, delta, task.misspecification);
    bracket_widths(*task.features, tangent, sets, effort, threads, widths);
    LearnedModel learned(task.features, task.horizon, task.start, task.homogeneous, std::move(sets), delta,
                         task.misspecification);
    RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable(learned, widths));
    return {std::move(learned), std::move(certificate), episodes};
}

}  // namespace alidade
