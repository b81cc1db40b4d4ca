#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/explore/hoeffding.hpp"
#include "planning_pass.hpp"
#include "record_field.hpp"

// How the regression explorer is written down and read back.
namespace alidade {

using detail::field;

namespace {

void write_statistics(const std::vector<RidgeStatistics>& statistics, Snapshot& record) {
    auto& gram = record.numbers["gram"];
    auto& moment = record.numbers["moment"];
    auto& rounding = record.numbers["rounding"];
    auto& observations = record.integers["observations"];
    for (const RidgeStatistics& step : statistics) {
        for (Index j = 0; j < step.dimension(); ++j)
            for (Index i = 0; i < step.dimension(); ++i)
                gram.push_back(step.gram(std::max(i, j), std::min(i, j)));
        moment.insert(moment.end(), step.moment.data(), step.moment.data() + step.moment.size());
        observations.push_back(step.observations);
        rounding.push_back(step.rounding);
    }
}

std::vector<RidgeStatistics> read_statistics(const Snapshot& record, Index sets, Index p) {
    const auto& gram = field(record.numbers, "gram", at(sets * p * p));
    const auto& moment = field(record.numbers, "moment", at(sets * p));
    const auto& rounding = field(record.numbers, "rounding", at(sets));
    const auto& observations = field(record.integers, "observations", at(sets));
    std::vector<RidgeStatistics> statistics(at(sets), RidgeStatistics(p));
    for (Index k = 0; k < sets; ++k) {
        RidgeStatistics& step = statistics[at(k)];
        step.gram = Eigen::Map<const Matrix>(gram.data() + k * p * p, p, p);
        step.moment = Eigen::Map<const Vector>(moment.data() + k * p, p);
        step.observations = observations[at(k)];
        step.rounding = rounding[at(k)];
        expects(step.gram.allFinite() && step.moment.allFinite() && step.rounding >= 0 &&
                    std::isfinite(step.rounding),
                "the stored statistics are not finite");
    }
    return statistics;
}

}  // namespace

Snapshot HoeffdingExplorer::evidence() const {
    Snapshot record;
    write_statistics(statistics_, record);
    record.integers["episodes"] = {episodes_};
    return record;
}

Snapshot HoeffdingExplorer::memory() const {
    Snapshot record = evidence();
    record.integers["progress"] = {replans_, thorough_at_, replan_due_ ? 1 : 0, policy_ ? 1 : 0};
    detail::write_cut(cut_, options_.schedule, episodes_, record);
    record.numbers["log_det"] = log_det_;
    record.bytes["witness"] = pass_->witnesses();
    auto& actions = record.integers["actions"];
    if (policy_ && policy_->is_deterministic())
        actions.assign(policy_->actions().begin(), policy_->actions().end());
    return record;
}

void HoeffdingExplorer::restore(const Snapshot& memory) {
    const Index p = regression_.dimension();
    statistics_ = read_statistics(memory, widths_.sets, p);
    episodes_ = field(memory.integers, "episodes", 1)[0];
    const auto& progress = field(memory.integers, "progress", 4);
    replans_ = progress[0];
    thorough_at_ = progress[1];
    replan_due_ = progress[2] != 0;
    cut_ = detail::read_cut(memory, options_.schedule, episodes_, replans_);
    log_det_ = field(memory.numbers, "log_det", at(widths_.sets));
    pass_->take_witnesses(field(memory.bytes, "witness", widths_.witness.size()));
    widths_current_ = false;
    policy_.reset();
    if (progress[3] == 0) return;
    if (rule_ == ActionRule::uniform) {
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
        return;
    }
    const auto& actions = field(memory.integers, "actions", at(shape_.horizon * shape_.states));
    policy_ = std::make_shared<const Policy>(
        Policy::deterministic(shape_, std::vector<std::int32_t>(actions.begin(), actions.end())));
}

Knowledge recompute_hoeffding(const Task& task, const Snapshot& evidence, const ExplorerOptions& options) {
    const ValueRegression regression = value_regression(task, options);
    WidthTable widths(regression.sets(), *task.features);
    const auto sets = regression.solve(read_statistics(evidence, widths.sets, regression.dimension()));
    std::vector<Matrix> metrics;
    metrics.reserve(sets.size());
    for (const RegressionSet& set : sets) metrics.push_back(set.inverse_factor);
    WidthOptions effort = detail::thorough(widths);
    effort.method = options.constants.width;
    bracket_widths(*task.features, regression.features(), metrics, effort, options.threads, widths);
    const std::int64_t episodes = field(evidence.integers, "episodes", 1)[0];
    expects(episodes >= 0, "the stored number of episodes is {}; must not be negative", episodes);
    return regression_knowledge(task, regression, sets, widths, episodes);
}

}  // namespace alidade
