#include "alidade/model/successor_map.hpp"

#include <algorithm>

#include "alidade/error.hpp"
#include "alidade/model/shape.hpp"

namespace alidade {

struct SuccessorMap::Arrays {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> targets;
};

SuccessorMap::SuccessorMap(Index states, Index actions, std::vector<std::int64_t> offsets,
                           std::vector<std::int32_t> targets)
    : SuccessorMap(states, actions,
                   std::make_shared<const Arrays>(Arrays{std::move(offsets), std::move(targets)})) {}

SuccessorMap::SuccessorMap(Index states, Index actions, const std::shared_ptr<const Arrays>& arrays)
    : SuccessorMap(states, actions, arrays->offsets, arrays->targets, arrays) {}

SuccessorMap::SuccessorMap(Index states, Index actions, std::span<const std::int64_t> offsets,
                           std::span<const std::int32_t> targets, std::shared_ptr<const void> owner)
    : states_(states), actions_(actions), owner_(std::move(owner)), offsets_(offsets), targets_(targets) {
    check();
}

bool SuccessorMap::operator==(const SuccessorMap& other) const noexcept {
    return states_ == other.states_ && actions_ == other.actions_ &&
           std::ranges::equal(offsets_, other.offsets_) && std::ranges::equal(targets_, other.targets_);
}

void SuccessorMap::check() {
    validate(Shape{states_, actions_, 1});
    expects(offsets_.size() == at(pairs() + 1), "{} offsets of successors; must be {} (states*actions + 1)",
            offsets_.size(), pairs() + 1);
    expects(offsets_.front() == 0 && offsets_.back() == entries(),
            "offsets of successors run from {} to {}; must run from 0 to {} (the number of entries)",
            offsets_.front(), offsets_.back(), entries());
    for (Index pair = 0; pair < pairs(); ++pair) {
        const Index first = first_entry(pair), end = first_entry(pair + 1);
        expects(first < end && end <= entries(), "state {}, action {} has no successor", pair / actions_,
                pair % actions_);
        for (Index e = first; e < end; ++e) {
            const std::int32_t target = targets_[at(e)];
            expects(target >= 0 && target < states_, "state {}, action {} leads to state {}; must be 0 to {}",
                    pair / actions_, pair % actions_, target, states_ - 1);
            expects(e == first || targets_[at(e - 1)] < target,
                    "state {}, action {} lists successor {} after {}; must ascend", pair / actions_,
                    pair % actions_, target, targets_[at(e - 1)]);
        }
        max_successors_ = std::max(max_successors_, end - first);
    }
}

std::span<const std::int32_t> SuccessorMap::targets(Index pair) const noexcept {
    return targets_.subspan(at(first_entry(pair)), at(successors(pair)));
}

Index SuccessorMap::find_entry(Index pair, State successor) const noexcept {
    const auto possible = targets(pair);
    const auto place = std::ranges::lower_bound(possible, successor);
    if (place == possible.end() || *place != successor) return -1;
    return first_entry(pair) + (place - possible.begin());
}

Index SuccessorMap::pair_of(Index entry) const noexcept {
    // Every pair has a successor, so that no two begin at the same entry.
    return std::ranges::upper_bound(offsets_, entry) - offsets_.begin() - 1;
}

}  // namespace alidade
