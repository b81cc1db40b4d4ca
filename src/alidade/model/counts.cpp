#include "alidade/model/counts.hpp"

#include <algorithm>

#include "alidade/error.hpp"

namespace alidade {

Counts::Counts(SharedSuccessors successors, Index horizon, Elsewhere elsewhere)
    : successors_(std::move(successors)), policy_(elsewhere) {
    expects(successors_ != nullptr, "counts need a map of successors");
    shape_ = {successors_->states(), successors_->actions(), horizon};
    validate(shape_);
    steps_.resize(at(shape_.learned_steps()));
    elsewhere_.resize(steps_.size());
}

void Counts::StepCounts::add(Index entry, std::int64_t times) {
    // What came since is brought into order when it has grown to be as much as what is in order, or when
    // somebody asks: so a count costs a logarithm on average, and memory stays that of what was seen.
    constexpr std::size_t few = 1024;
    if (times == 0) return;
    recent.push_back({entry, times});
    if (recent.size() >= std::max(few, ordered.size())) order();
}

void Counts::StepCounts::order() {
    if (recent.empty()) return;
    std::ranges::sort(recent, {}, &SeenEntry::entry);
    std::vector<SeenEntry> merged;
    merged.reserve(ordered.size() + recent.size());
    const auto take = [&](const SeenEntry& seen) {
        if (!merged.empty() && merged.back().entry == seen.entry)
            merged.back().count += seen.count;
        else
            merged.push_back(seen);
    };
    auto old = ordered.begin();
    for (const SeenEntry& seen : recent) {
        while (old != ordered.end() && old->entry <= seen.entry) take(*old++);
        take(seen);
    }
    while (old != ordered.end()) take(*old++);
    ordered = std::move(merged);
    recent.clear();
}

std::vector<SeenEntry> Counts::together(const std::vector<StepCounts>& steps) {
    StepCounts all;
    for (const StepCounts& step : steps) {
        all.recent.insert(all.recent.end(), step.ordered.begin(), step.ordered.end());
        all.recent.insert(all.recent.end(), step.recent.begin(), step.recent.end());
    }
    all.order();
    return std::move(all.ordered);
}

std::span<const SeenEntry> Counts::seen(Step h) const {
    steps_[at(h)].order();
    return steps_[at(h)].ordered;
}

std::vector<SeenEntry> Counts::pooled() const {
    return together(steps_);
}

std::span<const SeenEntry> Counts::elsewhere(Step h) const {
    elsewhere_[at(h)].order();
    return elsewhere_[at(h)].ordered;
}

std::vector<SeenEntry> Counts::pooled_elsewhere() const {
    return together(elsewhere_);
}

bool Counts::any_elsewhere() const {
    for (const StepCounts& step : elsewhere_)
        if (!step.ordered.empty() || !step.recent.empty()) return true;
    return false;
}

std::int64_t Counts::count(Step h, Index entry) const {
    const auto here = seen(h);
    const auto place = std::ranges::lower_bound(here, entry, {}, &SeenEntry::entry);
    return place == here.end() || place->entry != entry ? 0 : place->count;
}

std::int64_t Counts::visits(Step h, Index pair) const {
    const auto here = seen(h);
    const Index end = successors_->first_entry(pair + 1);
    std::int64_t sum = 0;
    for (auto place = std::ranges::lower_bound(here, successors_->first_entry(pair), {}, &SeenEntry::entry);
         place != here.end() && place->entry < end; ++place)
        sum += place->count;
    const auto others = elsewhere(h);
    const auto other = std::ranges::lower_bound(others, pair, {}, &SeenEntry::entry);
    return other == others.end() || other->entry != pair ? sum : sum + other->count;
}

std::int64_t Counts::transitions() const {
    std::int64_t sum = 0;
    for (Step h = 0; h < shape_.learned_steps(); ++h) {
        for (const SeenEntry& here : seen(h)) sum += here.count;
        for (const SeenEntry& here : elsewhere(h)) sum += here.count;
    }
    return sum;
}

void Counts::add(Step h, Index entry, std::int64_t times) {
    steps_[at(h)].add(entry, times);
}

void Counts::add_elsewhere(Step h, Index pair, std::int64_t times) {
    expects(counts_elsewhere(), "a transition to where no base model leads; such are refused here");
    elsewhere_[at(h)].add(pair, times);
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
        if (entry_of(h) < 0 && !counts_elsewhere())
            throw ImpossibleTransition(
                fmt::format("step {}: state {}, action {} led to state {}, which no base model can produce",
                            h, states[h], actions[h], states[h + 1]),
                static_cast<Step>(h), states[h], actions[h], states[h + 1]);
    for (std::size_t h = 0; h + 1 < states.size(); ++h) {
        const Index entry = entry_of(h);
        if (entry >= 0)
            add(static_cast<Step>(h), entry, times);
        else
            add_elsewhere(static_cast<Step>(h), shape_.pair(states[h], actions[h]), times);
    }
    episodes_ += times;
}

Counts& Counts::operator+=(const Counts& other) {
    expects(shape_ == other.shape_ && successors_->entries() == other.successors_->entries(),
            "counts of different problems cannot be added");
    for (Step h = 0; h < shape_.learned_steps(); ++h) {
        for (const SeenEntry& seen : other.seen(h)) add(h, seen.entry, seen.count);
        for (const SeenEntry& seen : other.elsewhere(h)) add_elsewhere(h, seen.entry, seen.count);
    }
    episodes_ += other.episodes_;
    return *this;
}

void Counts::clear() {
    for (auto* const all : {&steps_, &elsewhere_})
        for (StepCounts& step : *all) {
            step.ordered.clear();
            step.recent.clear();
        }
    episodes_ = 0;
}

bool Counts::operator==(const Counts& other) const {
    if (shape_ != other.shape_ || episodes_ != other.episodes_ ||
        successors_->entries() != other.successors_->entries())
        return false;
    for (Step h = 0; h < shape_.learned_steps(); ++h)
        if (!std::ranges::equal(seen(h), other.seen(h)) ||
            !std::ranges::equal(elsewhere(h), other.elsewhere(h)))
            return false;
    return true;
}

std::vector<std::int64_t> Counts::dense() const {
    const Index entries = successors_->entries();
    std::vector<std::int64_t> all(at(shape_.learned_steps() * entries), 0);
    for (Step h = 0; h < shape_.learned_steps(); ++h)
        for (const SeenEntry& here : seen(h)) all[at(h * entries + here.entry)] = here.count;
    return all;
}

namespace {

/// So many counts are stored as they are, seen or not: 8 MiB, as in every run before there were others.
constexpr Index few_counts = Index{1} << 20;
/// What a record begins with that has only the entries that were seen; no count is negative.
constexpr std::int64_t only_seen = -1;
/// And one of transitions to where no base model leads.
constexpr std::int64_t with_elsewhere = -2;

}  // namespace

std::vector<std::int64_t> Counts::record() const {
    const Index entries = successors_->entries();
    std::vector<std::int64_t> result;
    if (any_elsewhere()) {
        result = {with_elsewhere, 0};
        for (Step h = 0; h < shape_.learned_steps(); ++h)
            for (const SeenEntry& here : elsewhere(h)) {
                result.push_back(h * shape_.pairs() + here.entry);
                result.push_back(here.count);
            }
        result[1] = (std::ssize(result) - 2) / 2;
    }
    if (shape_.learned_steps() * entries <= few_counts) {
        std::vector<std::int64_t> all = dense();
        if (result.empty()) return all;
        result.insert(result.end(), all.begin(), all.end());
        return result;
    }
    result.push_back(only_seen);
    for (Step h = 0; h < shape_.learned_steps(); ++h)
        for (const SeenEntry& here : seen(h)) {
            result.push_back(h * entries + here.entry);
            result.push_back(here.count);
        }
    return result;
}

// How long that part of the record is.
std::size_t Counts::take_elsewhere(std::span<const std::int64_t> record,
                                   std::vector<StepCounts>& taken) const {
    if (record.empty() || record.front() != with_elsewhere) return 0;
    const Index pairs = shape_.pairs(), all = shape_.learned_steps() * pairs;
    const std::int64_t places = record.size() < 2 ? 0 : record[1];
    expects(places > 0 && places <= all && record.size() >= 2 + 2 * at(places),
            "the stored counts are cut short");
    expects(counts_elsewhere(), "the stored counts have transitions to where no base model leads");
    Index last = -1;
    for (std::size_t i = 2; i < 2 + 2 * at(places); i += 2) {
        expects(record[i] > last && record[i] < all && record[i + 1] > 0,
                "a stored count of {} of transitions elsewhere at position {}; positions must ascend below "
                "{} and counts be positive",
                record[i + 1], record[i], all);
        last = record[i];
        taken[at(last / pairs)].ordered.push_back({last % pairs, record[i + 1]});
    }
    return 2 + 2 * at(places);
}

void Counts::take_record(std::span<const std::int64_t> record) {
    const Index entries = successors_->entries(), all = shape_.learned_steps() * entries;
    std::vector<StepCounts> taken(steps_.size()), others(steps_.size());
    record = record.subspan(take_elsewhere(record, others));
    if (record.empty() || record.front() != only_seen) {
        expects(std::ssize(record) == all, "{} stored counts; must be {} (one an entry and step)",
                record.size(), all);
        for (Index place = 0; place < all; ++place) {
            const std::int64_t count = record[at(place)];
            expects(count >= 0, "the stored counts are negative");
            if (count > 0) taken[at(place / entries)].ordered.push_back({place % entries, count});
        }
    } else {
        expects(record.size() % 2 == 1, "the stored counts are cut short");
        Index last = -1;
        for (std::size_t i = 1; i < record.size(); i += 2) {
            const Index place = record[i];
            expects(place > last && place < all && record[i + 1] > 0,
                    "a stored count of {} at position {}; positions must ascend below {} and counts be "
                    "positive",
                    record[i + 1], place, all);
            taken[at(place / entries)].ordered.push_back({place % entries, record[i + 1]});
            last = place;
        }
    }
    steps_ = std::move(taken);
    elsewhere_ = std::move(others);
}

}  // namespace alidade
