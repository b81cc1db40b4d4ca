#include "alidade/model/counts.hpp"

#include <algorithm>

#include "alidade/error.hpp"

namespace alidade {

Counts::Counts(SharedSuccessors successors, Index horizon) : successors_(std::move(successors)) {
    expects(successors_ != nullptr, "counts need a map of successors");
    shape_ = {successors_->states(), successors_->actions(), horizon};
    validate(shape_);
    values_.assign(static_cast<std::size_t>(shape_.learned_steps() * successors_->entries()), 0);
}

std::span<const std::int64_t> Counts::at(Step h) const noexcept {
    const auto entries = static_cast<std::size_t>(successors_->entries());
    return std::span(values_).subspan(static_cast<std::size_t>(h) * entries, entries);
}

std::span<std::int64_t> Counts::at(Step h) noexcept {
    const auto entries = static_cast<std::size_t>(successors_->entries());
    return std::span(values_).subspan(static_cast<std::size_t>(h) * entries, entries);
}

std::int64_t Counts::visits(Step h, Index pair) const noexcept {
    std::int64_t sum = 0;
    const auto counts = at(h);
    for (Index e = successors_->first_entry(pair); e < successors_->first_entry(pair + 1); ++e)
        sum += counts[static_cast<std::size_t>(e)];
    return sum;
}

void Counts::add(const Episode& episode) {
    validate(episode, shape_);
    add(episode.states, episode.actions);
}

void Counts::add(std::span<const State> states, std::span<const Action> actions, std::int64_t times) {
    const auto horizon = static_cast<std::size_t>(shape_.horizon);
    expects(!states.empty() && states.size() <= horizon, "an episode of {} states; must have 1 to {}",
            states.size(), shape_.horizon);
    expects(actions.size() == states.size() || actions.size() + 1 == states.size(),
            "an episode of {} states and {} actions; must have as many actions, or one less", states.size(),
            actions.size());
    expects(times >= 1, "an episode that was seen {} times; must be at least 1", times);
    for (std::size_t h = 0; h < states.size(); ++h)
        expects(states[h] >= 0 && states[h] < shape_.states, "state {} at step {}; must be 0 to {}",
                states[h], h, shape_.states - 1);
    for (std::size_t h = 0; h < actions.size(); ++h)
        expects(actions[h] >= 0 && actions[h] < shape_.actions, "action {} at step {}; must be 0 to {}",
                actions[h], h, shape_.actions - 1);
    const auto entry_of = [&](std::size_t h) {
        return successors_->find_entry(shape_.pair(states[h], actions[h]), states[h + 1]);
    };
    for (std::size_t h = 0; h + 1 < states.size(); ++h)
        if (entry_of(h) < 0)
            throw ImpossibleTransition(
                fmt::format("step {}: state {}, action {} led to state {}, which no base model can produce",
                            h, states[h], actions[h], states[h + 1]),
                static_cast<Step>(h), states[h], actions[h], states[h + 1]);
    for (std::size_t h = 0; h + 1 < states.size(); ++h)
        at(static_cast<Step>(h))[static_cast<std::size_t>(entry_of(h))] += times;
    episodes_ += times;
}

Counts& Counts::operator+=(const Counts& other) {
    expects(shape_ == other.shape_ && values_.size() == other.values_.size(),
            "counts of different problems cannot be added");
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += other.values_[i];
    episodes_ += other.episodes_;
    return *this;
}

void Counts::clear() {
    std::ranges::fill(values_, 0);
    episodes_ = 0;
}

}  // namespace alidade
