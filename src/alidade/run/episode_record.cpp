#include "episode_record.hpp"

#include <stdexcept>

#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

/// Large enough that rows cost little, small enough to be held in memory.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

void append_number(std::int64_t value, std::string& bytes) {
    auto rest = static_cast<std::uint64_t>(value);
    for (; rest >= 0x80; rest >>= 7) bytes += static_cast<char>((rest & 0x7F) | 0x80);
    bytes += static_cast<char>(rest);
}

}  // namespace

void append_episode(const LoggedEpisode& episode, std::string& bytes) {
    const auto states = static_cast<std::int64_t>(episode.states.size());
    append_number(states * 8 + (episode.times != 1 ? 4 : 0) + (episode.complete ? 2 : 0) +
                      (episode.actions.size() == episode.states.size() ? 1 : 0),
                  bytes);
    for (const State s : episode.states) append_number(s, bytes);
    for (const Action a : episode.actions) append_number(a, bytes);
    if (episode.times != 1) append_number(episode.times, bytes);
}

std::int64_t EpisodeBytes::number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        expects(!bytes_.empty(), "the stored episodes are cut short");
        const auto byte = static_cast<std::uint64_t>(bytes_.front());
        bytes_ = bytes_.subspan(1);
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) return static_cast<std::int64_t>(value);
    }
    throw InvalidArgument("the stored episodes hold a number that is too large");
}

bool EpisodeBytes::next(LoggedEpisode& episode) {
    if (bytes_.empty()) return false;
    const std::int64_t head = number(), states = head / 8, actions = states - (head % 2 == 0 ? 1 : 0);
    // Each takes a byte at least.
    expects(states >= 1 && states + actions <= std::ssize(bytes_), "the stored episodes are cut short");
    episode.states.clear();
    episode.actions.clear();
    for (std::int64_t h = 0; h < states; ++h) episode.states.push_back(number());
    for (std::int64_t h = 0; h < actions; ++h) episode.actions.push_back(number());
    episode.complete = (head & 2) != 0;
    episode.times = (head & 4) != 0 ? number() : 1;
    return true;
}

void EpisodeSpool::add(const LoggedEpisode& episode) {
    append_episode(episode, buffer_);
    ++records_;
    episodes_ += episode.times;
    if (!episode.complete) broken_off_ += episode.times;
    transitions_ += episode.times * (std::ssize(episode.states) - 1);
    if (buffer_.size() >= piece_bytes) flush();
}

void EpisodeSpool::flush() {
    if (records_ == 0) return;
    hash_.add(buffer_);
    try {
        spool_.append(buffer_.data(), buffer_.size());
    } catch (const InvalidArgument& error) {
        throw std::runtime_error(error.what());  // the disk's fault, not the caller's
    }
    pieces_.push_back({records_, std::ssize(buffer_)});
    buffer_.clear();
    records_ = 0;
}

void EpisodeSpool::finish() {
    flush();
}

void EpisodeSpool::pieces(
    const std::function<void(std::int64_t records, std::span<const std::byte> bytes)>& each) {
    spool_.rewind();
    std::vector<std::byte> bytes;
    for (const Piece& piece : pieces_) {
        bytes.resize(at(piece.size));
        for (std::size_t have = 0; have < bytes.size();) {
            const std::size_t more = spool_.read(bytes.data() + have, bytes.size() - have);
            ensures(more > 0, "spooled episodes are cut short");
            have += more;
        }
        each(piece.records, bytes);
    }
}

std::string policy_bytes(const Policy& policy) {
    std::string bytes;
    for (const std::int32_t action : policy.actions()) append_number(action, bytes);
    return bytes;
}

Policy policy_from(std::span<const std::byte> bytes, const Shape& shape) {
    if (bytes.empty()) return Policy::uniform(shape);
    std::vector<std::int32_t> actions;
    std::uint64_t value = 0;
    int shift = 0;
    for (const std::byte byte : bytes) {
        value |= (static_cast<std::uint64_t>(byte) & 0x7F) << shift;
        shift += 7;
        if ((static_cast<std::uint64_t>(byte) & 0x80) != 0) {
            expects(shift < 35, "the stored policy holds a number that is too large");
            continue;
        }
        actions.push_back(static_cast<std::int32_t>(value));
        value = 0;
        shift = 0;
    }
    return Policy::deterministic(shape, std::move(actions));
}

}  // namespace alidade::detail
