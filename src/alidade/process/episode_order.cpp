#include "episode_order.hpp"

#include <algorithm>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

/// How far others may get ahead of one that takes long: what they have done is kept in memory.
constexpr std::int64_t longest_lead = 65'536;

}  // namespace

std::int64_t EpisodeOrder::open() const {
    return std::ssize(again_) + std::max<std::int64_t>(0, std::min(end_, released_ + longest_lead) - fresh_);
}

std::optional<Assignment> EpisodeOrder::next(std::int64_t most) {
    if (!again_.empty()) {
        Assignment assignment = std::move(again_.front());
        again_.pop_front();
        return assignment;
    }
    const std::int64_t count = std::min(most, open());
    if (count < 1) return std::nullopt;
    Assignment assignment{.first = fresh_, .count = count};
    fresh_ += count;
    return assignment;
}

void EpisodeOrder::done(SystemEpisode episode) {
    const std::int64_t number = episode.episode;
    ensures(number >= released_ && number < fresh_ && !done_.contains(number),
            "episode {} was reported twice, or never asked for", number);
    if (number > released_) {
        done_.emplace(number, std::move(episode));
        return;
    }
    ready_.push_back(std::move(episode));
    ++released_;
    for (auto next = done_.begin(); next != done_.end() && next->first == released_;
         next = done_.erase(next)) {
        ready_.push_back(std::move(next->second));
        ++released_;
    }
}

std::vector<SystemEpisode> EpisodeOrder::close_gaps(std::vector<SystemEpisode> more) {
    for (auto& [number, episode] : done_) more.push_back(std::move(episode));
    done_.clear();
    std::ranges::sort(more, {}, &SystemEpisode::episode);
    for (SystemEpisode& episode : more) episode.episode = released_++;
    return more;
}

}  // namespace alidade::detail
