#include "alidade/explore/hoeffding.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/regression_sets.hpp"
#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "warm_ascent.hpp"

namespace alidade {

namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

/// Between thorough passes the `every` schedule follows its witnesses by ascent alone; more often than
/// this the determinants hardly move, and never would freeze bad local optima [oracle §C.2].
constexpr double refresh_growth = 0.02;

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
    const Index p = parameters_.space().dimension();
    statistics_.assign(at(widths_.sets), RidgeStatistics(p));
    feature_.resize(at(widths_.sets * widths_.pairs * p));
    baseline_.resize(at(widths_.sets * widths_.pairs));
    log_det_.resize(at(widths_.sets));
}

Deployment HoeffdingExplorer::ask() {
    if (replan_due_) replan();
    return {policy_, options_.schedule.batch(episodes_)};
}

bool HoeffdingExplorer::refresh_due() const {
    if (options_.schedule.kind != Schedule::Kind::every || thorough_at_ < 0) return true;
    return static_cast<double>(episodes_) >= (1 + refresh_growth) * static_cast<double>(thorough_at_);
}

void HoeffdingExplorer::replan() {
    sets_ = regression_sets(parameters_, statistics_, options_.delta);
    refresh_widths();
    freeze_features();
    choose_actions();
    for (std::size_t k = 0; k < sets_.size(); ++k) log_det_[k] = sets_[k].estimate().log_det_ratio;
    ++replans_;
    replan_due_ = false;
}

void HoeffdingExplorer::refresh_widths() {
    if (refresh_due()) {
        bracket_widths(*task_.features, tangent_, sets_, WidthOptions{}, options_.threads, widths_);
        thorough_at_ = episodes_;
        widths_current_ = true;
    } else {
        detail::warm_ascent(*task_.features, tangent_, sets_, widths_);
        widths_current_ = false;
    }
}

// [paper, Alg. 1 lines 8-9] with V in {0,1} instead of {0,H}: the range H-1-h multiplies the bonus, not
// the feature, so that the noise is 1/2 at every step [theory §3c].
void HoeffdingExplorer::freeze_features() {
    const FeatureMap& features = *task_.features;
    const Index p = tangent_.space.dimension();
    for (Index set = 0; set < widths_.sets; ++set) {
        const std::uint8_t* witness = widths_.witness.data() + set * widths_.entries;
        for (Index pair = 0; pair < widths_.pairs; ++pair) {
            double* x = feature_.data() + (set * widths_.pairs + pair) * p;
            std::fill(x, x + p, 0.0);
            double predicted = 0;
            for (Index e = features.first_entry(pair), end = features.first_entry(pair + 1); e < end; ++e) {
                if (!witness[e]) continue;
                const double* psi = tangent_.psi.data() + e * p;
                for (Index i = 0; i < p; ++i) x[i] += psi[i];
                predicted += tangent_.centre[at(e)];
            }
            baseline_[at(set * widths_.pairs + pair)] = predicted;
        }
    }
}

void HoeffdingExplorer::choose_actions() {
    if (rule_ == ActionRule::uniform) {
        if (!policy_) policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
        return;
    }
    const FeatureMap& features = *task_.features;
    const Index d = features.features();
    std::vector<std::int32_t> actions(at(shape_.horizon * shape_.states), 0);
    std::vector<double> next(at(shape_.states), 0.0), now(at(shape_.states), 0.0), phi_next(at(d));
    for (Step h = shape_.horizon - 2; h >= 0; --h) {
        const Index set = task_.homogeneous ? 0 : h;
        const ConfidenceSet& confidence = sets_[at(set)];
        const auto range = static_cast<double>(shape_.steps_after(h));
        const double radius = confidence.refined_radius() * range;
        const double* weights = confidence.weights().data();
        const double* width = widths_.lower.data() + set * widths_.pairs;
        for (State s = 0; s < shape_.states; ++s) {
            // The unclipped value decides: clipped ones tie while nothing is known, and the first action
            // would win everywhere [paper, Alg. 1 line 11; likelihood §8.4]. Exact ties are drawn.
            double best = -1;
            Index ties = 0;
            Stream random(options_.seed, Purpose::ties, static_cast<std::uint64_t>(replans_),
                          static_cast<std::uint64_t>(h * shape_.states + s));
            for (Action a = 0; a < shape_.actions; ++a) {
                const Index pair = shape_.pair(s, a);
                const double value = radius * width[pair] + detail::expectation(features, pair, weights,
                                                                                next.data(), phi_next.data());
                if (value < best) continue;
                ties = value > best ? 1 : ties + 1;
                if (ties > 1 && sample_index(random, ties) != 0) continue;
                best = value;
                actions[at(h * shape_.states + s)] = static_cast<std::int32_t>(a);
            }
            now[at(s)] = std::min(range, best);
        }
        std::swap(now, next);
    }
    policy_ = std::make_shared<const Policy>(Policy::deterministic(shape_, std::move(actions)));
}

void HoeffdingExplorer::tell(const Counts& counts) {
    expects(counts.shape() == shape_, "counts have another shape than the problem");
    expects(policy_ != nullptr, "counts told before a deployment was asked for");
    const FeatureMap& features = *task_.features;
    const Index p = tangent_.space.dimension();
    for (Step h = 0; h < shape_.learned_steps(); ++h) {
        const Index set = task_.homogeneous ? 0 : h;
        const std::int64_t* seen = counts.at(h).data();
        const std::uint8_t* witness = widths_.witness.data() + set * widths_.entries;
        for (Index pair = 0; pair < widths_.pairs; ++pair) {
            std::int64_t visits = 0, hits = 0;
            for (Index e = features.first_entry(pair), end = features.first_entry(pair + 1); e < end; ++e) {
                visits += seen[e];
                hits += witness[e] ? seen[e] : 0;
            }
            if (visits == 0) continue;
            const Index row = set * widths_.pairs + pair;
            const double residuals =
                static_cast<double>(hits) - static_cast<double>(visits) * baseline_[at(row)];
            statistics_[at(set)].add(feature_.data() + row * p, visits, residuals);
        }
    }
    episodes_ += counts.episodes();
    widths_current_ = false;
    replan_due_ = options_.schedule.kind != Schedule::Kind::doubling || determinant_doubled();
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
                             options_.delta);
        RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable(learned, widths_));
        return {std::move(learned), std::move(certificate), episodes_};
    }
    WidthTable widths = widths_;  // a warm start; the frozen witnesses must stay
    return regression_knowledge(task_, tangent_, statistics_, episodes_, options_.delta, options_.threads,
                                widths);
}

Knowledge regression_knowledge(const Task& task, const TangentFeatures& tangent,
                               std::span<const RidgeStatistics> statistics, std::int64_t episodes,
                               double delta, int threads, WidthTable& widths) {
    std::vector<ConfidenceSet> sets = regression_sets(ParameterSet::of(*task.features), statistics, delta);
    bracket_widths(*task.features, tangent, sets, WidthOptions{}, threads, widths);
    LearnedModel learned(task.features, task.horizon, task.start, task.homogeneous, std::move(sets), delta);
    RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable(learned, widths));
    return {std::move(learned), std::move(certificate), episodes};
}

}  // namespace alidade
