#include "joint_source.hpp"

#include <cmath>
#include <utility>

#include "alidade/error.hpp"
#include "record_field.hpp"

namespace alidade::detail {

JointSource::JointSource(SourceSetting setting, const AscentOptions& ascent, WidthMethod width)
    : setting_(std::move(setting)), ascent_(ascent), width_(width), shape_(setting_.task.shape()) {
    validate(shape_);
    setting_.task.start.validate(shape_.states);
}

std::span<const double> JointSource::frozen(const std::vector<double>& table, Step h) const {
    return std::span(table).subspan(at(h * shape_.states), at(shape_.states));
}

// [paper, Alg. 2 line 8]
void JointSource::refresh() {
    const JointProblem problem = this->problem();
    // Starts are drawn by the number of episodes: equal data, equal searches.
    solution_ = maximise(problem, ascent_, solution_, static_cast<std::uint64_t>(episodes_));
    // What is regressed on until the next policy: known before the batch, as the radius asks for
    // [docs/algorithms/bernstein.md, A run].
    freeze(problem, JointValues(problem, solution_->point, solution_->scale));
    log_det_ = log_determinants();
    due_ = false;
}

void JointSource::absorb(const Counts& batch) {
    expects(batch.shape() == shape_, "counts have another shape than the problem");
    // A value that was chosen with the help of a transition must not be regressed on it [theory §3i].
    expects(solution_.has_value(), "counts taken up before what is regressed on was fixed");
    // Into the regressions with V and the variances of the last refresh, all visits of a pair at once.
    take(batch);
    episodes_ += batch.episodes();
    due_ = true;
    if (setting_.schedule.kind != Schedule::Kind::doubling) return;
    // Rare switching by the product of the sets' determinants, as RegressionSource has it [theory §3e].
    double grown = 0;
    const std::vector<double> now = log_determinants();
    for (std::size_t k = 0; k < now.size(); ++k) grown += now[k] - log_det_[k];
    due_ = grown >= std::log(2.0);
}

std::optional<std::int64_t> JointSource::refresh_bound() const {
    if (setting_.schedule.kind != Schedule::Kind::doubling) return std::nullopt;
    // At every refresh but the first the product has doubled since the one before [theory §3e].
    double doublings = 0;
    for (const double grown : log_determinants()) doublings += grown / std::log(2.0);
    return 1 + static_cast<std::int64_t>(doublings * (1 + 1e-12) + 1e-9);
}

Policy JointSource::policy() const {
    expects(solution_.has_value(), "a policy asked for before the first refresh");
    return Policy::deterministic(shape_, solution_->point.actions);
}

Snapshot JointSource::memory() const {
    Snapshot record = evidence();
    record.integers["refreshed"] = {solution_ ? 1 : 0, due_ ? 1 : 0};
    if (!solution_) return record;
    record.numbers["log_det"] = log_det_;
    const JointPoint& point = solution_->point;
    record.integers["joint_actions"].assign(point.actions.begin(), point.actions.end());
    record.bytes["joint_rewards"] = point.rewards;
    for (const Vector& weights : point.weights)
        record.numbers["joint_weights"].insert(record.numbers["joint_weights"].end(), weights.begin(),
                                               weights.end());
    record.numbers["joint_found"] = {solution_->value, solution_->scale};
    write_frozen(record);
    return record;
}

void JointSource::restore(const Snapshot& memory) {
    episodes_ = field(memory.integers, "episodes", 1)[0];
    const auto& refreshed = field(memory.integers, "refreshed", 2);
    due_ = refreshed[1] != 0;
    solution_.reset();
    read_frozen(memory);
    if (refreshed[0] == 0) return;
    log_det_ = field(memory.numbers, "log_det", log_determinants().size());
    const auto choices = at(shape_.horizon * shape_.states);
    const auto& actions = field(memory.integers, "joint_actions", choices);
    JointPoint point{{actions.begin(), actions.end()}, field(memory.bytes, "joint_rewards", choices), {}};
    for (const std::int32_t action : point.actions)
        expects(action >= 0 && action < shape_.actions, "a stored action is {}; must be 0 to {}", action,
                shape_.actions - 1);
    // The search goes on from the point stored, so that a resumed run finds what the other would have found.
    const Index sets = confidence_sets(shape_.horizon, setting_.task.homogeneous),
                d = setting_.task.features->features();
    if (sets > 0) {
        const auto& weights = field(memory.numbers, "joint_weights", at(sets * d));
        for (Index k = 0; k < sets; ++k)
            point.weights.emplace_back(Eigen::Map<const Vector>(weights.data() + k * d, d));
    }
    const auto& found = field(memory.numbers, "joint_found", 2);
    expects(found[1] > 0 && found[1] <= 1, "a stored scale of radii is {}; must be in (0, 1]", found[1]);
    solution_ = JointSolution{std::move(point), found[0], found[1]};
}

}  // namespace alidade::detail
