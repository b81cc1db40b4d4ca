#include "behaviour.hpp"

#include <algorithm>

#include "alidade/error.hpp"
#include "record_field.hpp"

namespace alidade::detail {

Behaviour::Behaviour(const Shape& shape, Schedule schedule) : shape_(shape), schedule_(schedule) {
    validate(shape_);
}

Deployment Behaviour::ask() {
    // Kept until it is due: asked twice without counts in between, it answers the same.
    if (policy_ == nullptr || due()) {
        policy_ = std::make_shared<const Policy>(choose());
        ++replans_;
    }
    return repeat();
}

Deployment Behaviour::repeat() const {
    expects(policy_ != nullptr, "a deployment repeated before one was asked for");
    return {policy_, schedule_.batch(episodes_)};
}

void Behaviour::tell(const Counts& batch) {
    expects(batch.shape() == shape_, "counts have another shape than the problem");
    expects(policy_ != nullptr, "counts told before a deployment was asked for");
    // Each batch that a budget cut short may cost one policy more [theory §3e].
    if (batch.episodes() < schedule_.batch(episodes_)) ++cut_;
    episodes_ += batch.episodes();
}

void Behaviour::tell_unasked(const Counts& batch) {
    expects(batch.shape() == shape_, "counts have another shape than the problem");
    episodes_ += batch.episodes();
}

std::int64_t Behaviour::replan_bound() const {
    // Where determinants decide when to replan, they bound how often; else the batches are counted.
    if (const SetSource* planned_with = source())
        if (const auto bound = planned_with->refresh_bound()) return *bound;
    return schedule_.most_policies(episodes_, cut_);
}

Snapshot Behaviour::memory() const {
    Snapshot record;
    record.integers["progress"] = {episodes_, replans_, cut_, policy_ ? 1 : 0};
    auto& actions = record.integers["actions"];
    if (policy_ && policy_->is_deterministic())
        actions.assign(policy_->actions().begin(), policy_->actions().end());
    return record;
}

void Behaviour::restore(const Snapshot& memory) {
    const auto& progress = field(memory.integers, "progress", 4);
    expects(progress[0] >= 0 && progress[1] >= 0 && progress[2] >= 0,
            "the stored progress is {} episodes, {} policies and {} cut batches; must not be negative",
            progress[0], progress[1], progress[2]);
    episodes_ = progress[0];
    replans_ = progress[1];
    cut_ = progress[2];
    policy_.reset();
    if (progress[3] == 0) return;
    // Policies of explorers are deterministic, or uniform.
    if (memory.integers.contains("actions") && memory.integers.at("actions").empty()) {
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
        return;
    }
    const auto& actions = field(memory.integers, "actions", at(shape_.horizon * shape_.states));
    policy_ = std::make_shared<const Policy>(
        Policy::deterministic(shape_, std::vector<std::int32_t>(actions.begin(), actions.end())));
}

}  // namespace alidade::detail
