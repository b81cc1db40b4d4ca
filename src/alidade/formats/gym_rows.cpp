#include "gym_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

bool is_terminated(std::int64_t target) {
    return target < 0;
}

std::int64_t next_of(std::int64_t target) {
    return is_terminated(target) ? -1 - target : target;
}

/// Where number 0, 1, 2, ... came; empty if they came in that order. Keys may be any numbers: nothing is
/// allocated by them.
std::vector<std::size_t> places_of(const std::vector<std::int64_t>& numbers, const std::string& place) {
    bool ordered = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) ordered = ordered && at(numbers[i]) == i;
    if (ordered) return {};
    std::vector<std::size_t> places(numbers.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::sort(places, {}, [&](std::size_t i) { return numbers[i]; });
    for (std::size_t i = 1; i < places.size(); ++i)
        expects(numbers[places[i - 1]] != numbers[places[i]], "{}: the key \"{}\" is there twice; remove one",
                place, numbers[places[i]]);
    for (std::size_t i = 0; i < places.size(); ++i)
        expects(at(numbers[places[i]]) == i, "{}: has {} keys, but not \"{}\"; they must be 0, 1, 2, ...",
                place, numbers.size(), i);
    return places;
}

/// Makes the law one of distinct states in ascending order; equal ones are summed in the order they came.
void merge(std::vector<std::pair<std::int64_t, double>>& law) {
    const auto target = [](const auto& atom) { return atom.first; };
    if (!std::ranges::is_sorted(law, {}, target)) std::ranges::stable_sort(law, {}, target);
    std::size_t last = 0;
    for (std::size_t i = 1; i < law.size(); ++i) {
        if (law[i].first == law[last].first)
            law[last].second += law[i].second;
        else
            law[++last] = law[i];
    }
    law.resize(last + 1);
    // Several branches to one state may sum to a little more than one.
    for (auto& atom : law)
        if (atom.second > 1 && atom.second <= 1 + 1e-9) atom.second = 1;
}

}  // namespace

std::string GymRows::state_place() const {
    return fmt::format("{}: P[{}]", file_, state_);
}

std::string GymRows::choice_place() const {
    return fmt::format("{}: P[{}][{}]", file_, state_, choice_);
}

void GymRows::branch(double probability, std::int64_t next, double reward, bool terminated) {
    if (probability == 0) {
        if (next > dropped_.next) dropped_ = {next, state_, choice_};
        return;
    }
    if (row_.offsets.back() == static_cast<std::int64_t>(row_.targets.size())) {
        first_reward_ = reward;
        expected_ = 0;
        same_reward_ = true;
    }
    row_.targets.push_back(terminated ? -1 - next : next);
    row_.lower.push_back(probability);
    expected_ += probability * reward;
    same_reward_ = same_reward_ && reward == first_reward_;
    rewarded_ = rewarded_ || reward != 0;
    stays_ = stays_ && next == state_ && reward == 0;
}

void GymRows::end_choice() {
    const auto end = static_cast<std::int64_t>(row_.targets.size());
    if (end == row_.offsets.back())
        throw InvalidArgument(fmt::format("{}: no next state has a positive probability", choice_place()));
    row_.offsets.push_back(end);
    row_.actions.push_back(-1);
    // A sum of equal rewards would be off by rounding.
    row_.choice_rewards.push_back(same_reward_ ? first_reward_ : expected_);
    choice_order_.push_back(choice_);
}

void GymRows::sort_choices() {
    const std::vector<std::size_t> places = places_of(choice_order_, state_place());
    if (places.empty()) return;
    ExplicitState sorted;
    sorted.clear();
    sorted.actions = row_.actions;
    for (const std::size_t k : places) {
        const auto from = row_.offsets[k], to = row_.offsets[k + 1];
        sorted.targets.insert(sorted.targets.end(), row_.targets.begin() + from, row_.targets.begin() + to);
        sorted.lower.insert(sorted.lower.end(), row_.lower.begin() + from, row_.lower.begin() + to);
        sorted.offsets.push_back(static_cast<std::int64_t>(sorted.targets.size()));
        sorted.choice_rewards.push_back(row_.choice_rewards[k]);
    }
    row_ = std::move(sorted);
}

void GymRows::end_state() {
    sort_choices();
    if (!rewarded_) row_.choice_rewards.clear();
    // A copy has no room to spare, and the buffers serve the next state.
    model_.states.push_back(row_);
    numbers_.push_back(state_);
    absorbing_.push_back(stays_);
    row_.clear();
    choice_order_.clear();
    stays_ = true;
}

void GymRows::sort_states() {
    const std::vector<std::size_t> places = places_of(numbers_, fmt::format("{}: P", file_));
    if (places.empty()) return;
    std::vector<ExplicitState> sorted;
    sorted.reserve(places.size());
    std::vector<bool> absorbing;
    for (const std::size_t s : places) {
        sorted.push_back(std::move(model_.states[s]));
        absorbing.push_back(absorbing_[s]);
    }
    model_.states = std::move(sorted);
    absorbing_ = std::move(absorbing);
}

void GymRows::check_next(std::int64_t next, std::int64_t state, std::int64_t choice) const {
    expects(next < states(), "{}: P[{}][{}], next state: is {}; must be an integer from 0 to {}", file_,
            state, choice, next, states() - 1);
}

/// Where terminated branches lead: into states that are the end already, or to one more.
void GymRows::find_ends() {
    check_next(dropped_.next, dropped_.state, dropped_.choice);
    ends_.resize(model_.states.size());
    for (std::size_t s = 0; s < model_.states.size(); ++s) {
        const ExplicitState& row = model_.states[s];
        std::size_t choice = 0;
        for (std::size_t i = 0; i < row.targets.size(); ++i) {
            if (static_cast<std::int64_t>(i) == row.offsets[choice + 1]) ++choice;
            const std::int64_t next = next_of(row.targets[i]);
            if (next >= states())
                check_next(next, static_cast<std::int64_t>(s), static_cast<std::int64_t>(choice));
            if (!is_terminated(row.targets[i])) continue;
            if (absorbing_[at(next)])
                ends_[at(next)] = true;
            else
                extra_end_ = true;
        }
    }
}

/// Next states of the file become those of the model, distinct within a choice.
void GymRows::resolve(ExplicitState& row) {
    std::size_t used = 0;
    std::size_t begin = 0;
    for (std::size_t k = 1; k < row.offsets.size(); ++k) {
        const std::size_t end = at(row.offsets[k]);
        law_.clear();
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t next = next_of(row.targets[i]);
            const bool over = is_terminated(row.targets[i]) && !absorbing_[at(next)];
            law_.emplace_back(over ? states() : next, row.lower[i]);
        }
        merge(law_);
        for (const auto& [target, probability] : law_) {
            row.targets[used] = target;
            row.lower[used++] = probability;
        }
        row.offsets[k] = static_cast<std::int64_t>(used);
        begin = end;
    }
    if (used == row.targets.size()) return;
    row.targets.resize(used);
    row.lower.resize(used);
    row.targets.shrink_to_fit();
    row.lower.shrink_to_fit();
}

/// A choice of the last state, from law_, that earns nothing.
void GymRows::add_choice() {
    ExplicitState& row = model_.states.back();
    merge(law_);
    for (const auto& [target, probability] : law_) {
        row.targets.push_back(target);
        row.lower.push_back(probability);
    }
    row.offsets.push_back(static_cast<std::int64_t>(row.targets.size()));
    row.actions.push_back(-1);
}

void GymRows::add_state(std::vector<std::int32_t> labels) {
    model_.states.emplace_back();
    model_.states.back().clear();
    model_.states.back().labels = std::move(labels);
}

void GymRows::add_start() {
    auto& initial = model_.header.initial_states;
    if (!has_start_) {
        initial = {0};
        return;
    }
    const std::string place = fmt::format("{}: initial_state_distrib", file_);
    expects(start_.size() == numbers_.size(), "{}: has {} elements; must be {}, one for each state", place,
            start_.size(), numbers_.size());
    law_.clear();
    double sum = 0;
    bool uniform = true;
    for (std::size_t s = 0; s < start_.size(); ++s) {
        const double p = start_[s];
        expects(p >= 0, "{} has {} at state {}; must not be negative", place, p, s);
        if (p > 0) law_.emplace_back(static_cast<std::int64_t>(s), p);
        uniform = uniform && (p == 0 || p == law_.front().second);
        sum += p;
    }
    expects(std::abs(sum - 1) <= 1e-9, "{} sums to {}; must be 1 within 1e-9", place, sum);
    if (uniform) {
        for (const auto& atom : law_) initial.push_back(atom.first);
        return;
    }
    const auto label = static_cast<std::int32_t>(model_.header.labels.size());
    model_.header.labels.emplace_back("start");
    initial = {static_cast<std::int64_t>(model_.states.size())};
    add_state({label});
    add_choice();
}

ExplicitModel GymRows::finish() {
    sort_states();
    find_ends();
    ExplicitHeader& header = model_.header;
    if (extra_end_ || std::ranges::find(ends_, true) != ends_.end()) header.labels = {"end"};
    for (std::size_t s = 0; s < ends_.size(); ++s) {
        resolve(model_.states[s]);
        if (ends_[s]) model_.states[s].labels = {0};
    }
    if (extra_end_) {
        add_state({0});
        // As many choices as other states have, so that all have the same actions where they had.
        for (Index k = 0; k < model_.states[0].choices(); ++k) {
            law_ = {{states(), 1.0}};
            add_choice();
        }
    }
    add_start();
    if (rewarded_) header.rewards = {"reward"};
    header.states = static_cast<Index>(model_.states.size());
    for (ExplicitState& row : model_.states) {
        if (rewarded_) {
            row.state_rewards = {0};
            // Nothing was earned by the time such a state came.
            row.choice_rewards.resize(row.actions.size(), 0);
        }
        header.choices += row.choices();
        header.branches += static_cast<Index>(row.targets.size());
    }
    return std::move(model_);
}

}  // namespace alidade::detail
