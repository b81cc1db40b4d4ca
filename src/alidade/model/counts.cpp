#include "alidade/model/counts.hpp"

#include <algorithm>

#include "alidade/error.hpp"

namespace alidade {

Counts::Counts(SharedFeatures features, Index horizon) : features_(std::move(features)) {
    expects(features_ != nullptr, "counts need features");
    shape_ = {features_->states(), features_->actions(), horizon};
    validate(shape_);
    values_.assign(static_cast<std::size_t>(shape_.learned_steps() * features_->entries()), 0);
}

std::span<const std::int64_t> Counts::at(Step h) const noexcept {
    const auto entries = static_cast<std::size_t>(features_->entries());
    return std::span(values_).subspan(static_cast<std::size_t>(h) * entries, entries);
}

std::span<std::int64_t> Counts::at(Step h) noexcept {
    const auto entries = static_cast<std::size_t>(features_->entries());
    return std::span(values_).subspan(static_cast<std::size_t>(h) * entries, entries);
}

std::int64_t Counts::visits(Step h, Index pair) const noexcept {
    std::int64_t sum = 0;
    const auto counts = at(h);
    for (Index e = features_->first_entry(pair); e < features_->first_entry(pair + 1); ++e)
        sum += counts[static_cast<std::size_t>(e)];
    return sum;
}

void Counts::add(const Episode& episode) {
    validate(episode, shape_);
    const auto entry_of = [&](std::size_t h) {
        return find_entry(*features_, shape_.pair(episode.states[h], episode.actions[h]),
                          episode.states[h + 1]);
    };
    const auto steps = static_cast<std::size_t>(shape_.learned_steps());
    for (std::size_t h = 0; h < steps; ++h)
        if (entry_of(h) < 0)
            throw ModelContradiction(
                fmt::format("step {}: state {}, action {} led to state {}, which no base model can produce",
                            h, episode.states[h], episode.actions[h], episode.states[h + 1]));
    for (std::size_t h = 0; h < steps; ++h) ++at(static_cast<Step>(h))[static_cast<std::size_t>(entry_of(h))];
    ++episodes_;
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

Index find_entry(const FeatureMap& features, Index pair, State successor) {
    const auto targets = features.targets(pair);
    const auto place = std::ranges::lower_bound(targets, successor);
    if (place == targets.end() || *place != successor) return -1;
    return features.first_entry(pair) + (place - targets.begin());
}

}  // namespace alidade
