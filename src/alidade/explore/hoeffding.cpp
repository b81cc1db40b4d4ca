#include "alidade/explore/hoeffding.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/printed.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/error.hpp"
#include "alidade/model/sweep.hpp"
#include "alidade/random/samplers.hpp"
#include "planning_pass.hpp"

namespace alidade {

namespace {

/// Between thorough passes the `every` schedule follows its witnesses by ascent alone; more often than
/// this the determinants hardly move, and never would freeze bad local optima [oracle §C.2].
constexpr double refresh_growth = 0.02;

/// A pair takes a tenth of a microsecond.
constexpr Index pairs_a_part = 256;

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

ValueRegression value_regression(const Task& task, const ExplorerOptions& options) {
    return ValueRegression(
        {task.features, task.horizon, task.homogeneous, task.misspecification, options.delta},
        options.constants.regression);
}

HoeffdingExplorer::HoeffdingExplorer(Task task, ExplorerOptions options, ActionRule rule)
    : task_(std::move(task)),
      options_(options),
      rule_(rule),
      shape_(task_.shape()),
      regression_(value_regression(task_, options_)),
      widths_(regression_.sets(), *task_.features) {
    validate(shape_);
    task_.start.validate(shape_.states);
    expects(options_.threads >= 1, "threads is {}; must be at least 1", options_.threads);
    statistics_.assign(at(widths_.sets), RidgeStatistics(regression_.dimension()));
    log_det_.resize(at(widths_.sets));
    pass_ = std::make_unique<detail::PlanningPass>(*task_.features, regression_.features(), widths_.sets);
}

HoeffdingExplorer::~HoeffdingExplorer() = default;

Deployment HoeffdingExplorer::ask() {
    if (replan_due_) replan();
    return repeat();
}

Deployment HoeffdingExplorer::repeat() const {
    expects(policy_ != nullptr, "a deployment repeated before one was asked for");
    return {policy_, options_.schedule.batch(episodes_)};
}

bool HoeffdingExplorer::refresh_due() const {
    if (options_.schedule.kind != Schedule::Kind::every || thorough_at_ < 0) return true;
    return static_cast<double>(episodes_) >= (1 + refresh_growth) * static_cast<double>(thorough_at_);
}

void HoeffdingExplorer::bracket(const WidthOptions& effort, std::span<const RegressionSet> sets,
                                WidthTable& widths) const {
    std::vector<Matrix> metrics;
    for (const RegressionSet& set : sets) metrics.push_back(set.inverse_factor);
    bracket_widths(*task_.features, regression_.features(), metrics, effort, options_.threads, widths);
}

void HoeffdingExplorer::replan() {
    sets_ = regression_.solve(statistics_);
    const bool thorough = refresh_due();
    if (thorough) {
        widths_.witness = pass_->witnesses();
        bracket({.method = options_.constants.width}, sets_, widths_);
        pass_->take_witnesses(widths_.witness);
        thorough_at_ = episodes_;
    }
    widths_current_ = thorough;
    choose_actions(thorough ? 0 : 2);
    for (std::size_t k = 0; k < sets_.size(); ++k)
        log_det_[k] = log_det_ratio(statistics_[k], regression_.regularisation());
    ++replans_;
    replan_due_ = false;
}

// Backwards through E_h = max_a min(H-1-h, (H-1-h) beta width + P~ E_{h+1}), moving the witnesses on the way;
// with the paper's constants through Q_h = clip(theta^ . phi_V + 2u) [paper, Alg. 1 lines 12-13]. There is no
// bonus at the last step, which the paper explores though nothing comes after it [theory §3c].
void HoeffdingExplorer::choose_actions(int ascents) {
    const bool paper = options_.constants.regression.paper;
    std::vector<std::int32_t> actions(at(shape_.horizon * shape_.states), 0);
    std::vector<double> errors(actions.size(), 0.0), worth(at(shape_.pairs()));
    const auto plan = [&](detail::NoScratch, Step h, State first, State last) {
        const Index set = task_.homogeneous ? 0 : h;
        const RegressionSet& solved = sets_[at(set)];
        const double range = regression_.range(h);
        const double scale = range * (paper ? 2 * solved.radius : solved.refined);
        const std::span<const double> next(errors.data() + (h + 1) * shape_.states, at(shape_.states));
        pass_->run_part(
            {set, &solved.inverse_factor, paper ? &solved.estimate : &solved.weights, scale, next, ascents},
            worth, {shape_.pair(first, 0), shape_.pair(last, 0)});
        for (State s = first; s < last; ++s) {
            const double* value = worth.data() + shape_.pair(s, 0);
            const Action chosen = choose(value, h, s);
            actions[at(h * shape_.states + s)] = static_cast<std::int32_t>(chosen);
            errors[at(h * shape_.states + s)] = std::clamp(value[chosen], 0.0, range);
        }
    };
    const detail::Sweep sweep(shape_, options_.threads, pairs_a_part);
    sweep.backwards(shape_.horizon - 2, detail::no_scratch, plan);
    if (rule_ == ActionRule::optimistic)
        policy_ = std::make_shared<const Policy>(Policy::deterministic(shape_, std::move(actions)));
    else if (!policy_)
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
}

// The unclipped value decides: clipped ones tie while nothing is known, and the first action would win
// everywhere, as it does in a printed argmax [paper, Alg. 1 lines 12-13; likelihood §8.4]. Exact ties are
// drawn.
Action HoeffdingExplorer::choose(const double* value, Step h, State s) const {
    if (options_.constants.ties == Ties::first) {
        const double range = regression_.range(h);
        return std::max_element(value, value + shape_.actions,
                                [&](double a, double b) {
                                    return std::clamp(a, 0.0, range) < std::clamp(b, 0.0, range);
                                }) -
               value;
    }
    const double best = *std::max_element(value, value + shape_.actions);
    const auto ties = std::count(value, value + shape_.actions, best);
    auto chosen = std::find(value, value + shape_.actions, best);
    if (ties > 1) {
        Stream random(options_.seed, Purpose::ties, static_cast<std::uint64_t>(replans_),
                      static_cast<std::uint64_t>(h * shape_.states + s));
        for (Index skip = sample_index(random, ties); skip > 0; --skip)
            chosen = std::find(chosen + 1, value + shape_.actions, best);
    }
    return chosen - value;
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
    if (counts.episodes() < options_.schedule.batch(episodes_)) ++cut_;
    episodes_ += counts.episodes();
    widths_current_ = false;
    replan_due_ = options_.schedule.kind != Schedule::Kind::doubling || determinant_doubled();
}

// [paper, Alg. 1 lines 6-9] with V in {0,1} instead of {0,H}: the range H-1-h multiplies the bonus, not the
// feature, so that the noise is 1/2 at every step [theory §3c].
void HoeffdingExplorer::observe(Index set, Index pair, const std::int64_t* seen) {
    const FeatureMap& features = *task_.features;
    const TangentFeatures& coordinates = regression_.features();
    const Index p = regression_.dimension(), first = features.first_entry(pair);
    feature_.assign(at(p), 0.0);
    double predicted = 0;
    std::int64_t visits = 0, hits = 0;
    for (Index j = 0; j < features.successors(pair); ++j) {
        const Index entry = first + j;
        visits += seen[entry];
        if (!pass_->witness(set, pair, j)) continue;
        hits += seen[entry];
        predicted += coordinates.centre[at(entry)];
        for (Index i = 0; i < p; ++i) feature_[at(i)] += coordinates.psi[at(entry * p + i)];
    }
    statistics_[at(set)].add(feature_.data(), visits,
                             static_cast<double>(hits) - static_cast<double>(visits) * predicted);
}

// The product over the steps, not one of them alone: no later than the rule of [theory §3e], within the same
// bound, and at 1e4 episodes within 2 % of replanning after every episode, where the other was 3 to 6 %
// behind.
bool HoeffdingExplorer::determinant_doubled() const {
    double grown = 0;
    for (std::size_t k = 0; k < statistics_.size(); ++k)
        grown += log_det_ratio(statistics_[k], regression_.regularisation()) - log_det_[k];
    return grown >= std::log(2.0);
}

std::int64_t HoeffdingExplorer::replan_bound() const {
    if (options_.schedule.kind != Schedule::Kind::doubling)
        return options_.schedule.most_policies(episodes_, cut_);
    // Every policy but the first has a determinant that has doubled since the one before.
    double doublings = 0;
    for (const RidgeStatistics& step : statistics_)
        doublings += log_det_ratio(step, regression_.regularisation()) / std::log(2.0);
    return 1 + static_cast<std::int64_t>(doublings * (1 + 1e-12) + 1e-9);
}

Knowledge HoeffdingExplorer::knowledge() {
    if (widths_current_) return regression_knowledge(task_, regression_, sets_, widths_, episodes_);
    const std::vector<RegressionSet> sets = regression_.solve(statistics_);
    WidthTable widths = widths_;  // of the same sizes; the frozen witnesses are elsewhere
    bracket({.method = options_.constants.width}, sets, widths);
    return regression_knowledge(task_, regression_, sets, widths, episodes_);
}

namespace {

RewardFreeCertificate printed_certificate(const Task& task, const ValueRegression& regression,
                                          std::span<const RegressionSet> sets, const WidthTable& widths,
                                          const LearnedMixture& learned) {
    std::vector<Vector> estimates;
    std::vector<double> bonuses;
    const auto horizon = static_cast<double>(task.horizon);
    for (std::size_t k = 0; k < sets.size(); ++k) {
        estimates.push_back(regression.features().space.weights(sets[k].estimate));
        for (const double width : widths.upper_of(static_cast<Index>(k)))
            bonuses.push_back(horizon * (sets[k].radius * width + task.misspecification));
    }
    return certify_printed(learned, estimates, bonuses);
}

}  // namespace

Knowledge regression_knowledge(const Task& task, const ValueRegression& regression,
                               std::span<const RegressionSet> sets, const WidthTable& widths,
                               std::int64_t episodes) {
    const ValueRegression::Setting& setting = regression.setting();
    // Radii are those of the regression's setting: with less of a misspecification they would be too small.
    expects((setting.features == task.features || *setting.features == *task.features) &&
                setting.horizon == task.horizon && setting.homogeneous == task.homogeneous &&
                setting.misspecification == task.misspecification,
            "the regression is of another task: its horizon is {} and its misspecification {}; the task's "
            "are {} and {}, and features and pooling must be the same, too",
            setting.horizon, setting.misspecification, task.horizon, task.misspecification);
    std::vector<ConfidenceSet> confidence;
    for (const RegressionSet& solved : sets) confidence.push_back(solved.set);
    const RegressionConstants& constants = regression.constants();
    if (constants.paper) {
        const auto learned =
            std::make_shared<const LearnedMixture>(task, std::move(confidence), regression.delta());
        return {learned, printed_certificate(task, regression, sets, widths, *learned), episodes};
    }
    const Sharpenings& sharp = constants.sharpenings;
    CertifyOptions options{.delta = regression.delta(), .episodes = episodes};
    options.reward_free = {.certificates = {"model"}, .ranges = sharp.ranges};
    if (sharp.coupling) options.reward_free.certificates.emplace_back("coupling");
    if (sharp.span) options.reward_free.certificates.emplace_back("span");
    return certify(task, std::move(confidence), widths, options);
}

}  // namespace alidade
