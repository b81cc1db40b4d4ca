#include "alidade/explore/likelihood.hpp"
#include "record_field.hpp"

// How the likelihood explorer is written down and read back.
namespace alidade {

using detail::field;

namespace {

void write_weights(const std::vector<Vector>& weights, std::vector<double>& numbers) {
    for (const Vector& row : weights) numbers.insert(numbers.end(), row.data(), row.data() + row.size());
}

std::vector<Vector> read_weights(const std::vector<double>& numbers, Index features) {
    std::vector<Vector> weights;
    for (std::size_t k = 0; k + at(features) <= numbers.size(); k += at(features)) {
        weights.emplace_back(Eigen::Map<const Vector>(numbers.data() + k, features));
        expects(weights.back().allFinite() && weights.back().minCoeff() > 0,
                "the stored weights are not positive numbers");
    }
    return weights;
}

void read_counts(const Snapshot& record, Counts& counts) {
    const auto& values = field(record.integers, "counts", counts.values().size());
    const std::int64_t episodes = field(record.integers, "episodes", 1)[0];
    expects(episodes >= 0 && std::ranges::all_of(values, [](std::int64_t n) { return n >= 0; }),
            "the stored counts are negative");
    counts.clear();
    std::ranges::copy(values, counts.values().begin());
    counts.add_episodes(episodes);
}

}  // namespace

Snapshot likelihood_evidence(const Counts& counts) {
    Snapshot record;
    record.integers["counts"].assign(counts.values().begin(), counts.values().end());
    record.integers["episodes"] = {counts.episodes()};
    return record;
}

Snapshot LikelihoodExplorer::evidence() const {
    Snapshot record = likelihood_evidence(counts_);
    if (options_.constants.prequential) record.numbers["predicted"] = predicted_;
    return record;
}

Snapshot LikelihoodExplorer::memory() const {
    Snapshot record = evidence();
    record.integers["progress"] = {replans_, replan_due_ ? 1 : 0, policy_ ? 1 : 0};
    detail::write_cut(cut_, options_.schedule, counts_.episodes(), record);
    write_weights(smoothed_, record.numbers["smoothed"]);
    record.numbers["log_det"] = log_det_;
    auto& actions = record.integers["actions"];
    if (policy_ && policy_->is_deterministic())
        actions.assign(policy_->actions().begin(), policy_->actions().end());
    return record;
}

void LikelihoodExplorer::restore(const Snapshot& memory) {
    read_counts(memory, counts_);
    if (options_.constants.prequential) predicted_ = field(memory.numbers, "predicted", predicted_.size());
    const auto& progress = field(memory.integers, "progress", 3);
    replans_ = progress[0];
    replan_due_ = progress[1] != 0;
    cut_ = detail::read_cut(memory, options_.schedule, counts_.episodes(), replans_);
    policy_.reset();
    const Index sets = confidence_sets(task_.horizon, task_.homogeneous), d = task_.features->features();
    const bool planned = progress[2] != 0;
    const std::size_t numbers = planned ? at(sets * d) : 0;
    smoothed_ = read_weights(field(memory.numbers, "smoothed", numbers), d);
    log_det_ = field(memory.numbers, "log_det", planned ? at(sets) : 0);
    information_.clear();
    if (!planned) return;
    if (options_.constants.bonus == FisherBonus::none) {
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
        return;
    }
    const auto& actions = field(memory.integers, "actions", at(shape_.horizon * shape_.states));
    policy_ = std::make_shared<const Policy>(
        Policy::deterministic(shape_, std::vector<std::int32_t>(actions.begin(), actions.end())));
}

Knowledge recompute_likelihood(const Task& task, const Snapshot& evidence, const ExplorerOptions& options) {
    Counts counts(task.features, task.horizon);
    read_counts(evidence, counts);
    const WidthTable widths(confidence_sets(task.horizon, task.homogeneous), *task.features);
    WidthOptions effort = detail::thorough(widths);
    effort.method = options.constants.width;
    LikelihoodSetOptions sets{.thorough = true};
    if (options.constants.prequential)
        sets.predicted = field(evidence.numbers, "predicted", static_cast<std::size_t>(widths.sets));
    return likelihood_knowledge(task, counts, options, effort, std::move(sets), {});
}

}  // namespace alidade
