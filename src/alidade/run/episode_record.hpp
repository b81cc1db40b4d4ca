#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../files/spool.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/model/policy.hpp"
#include "content_hash.hpp"

// Episodes as bytes. An episode is a number of states n and flags, n*8 + 4*(seen more than once) +
// 2*(complete) + (has an action for its last state), then its states, its actions, and, if it was seen more
// than once, how often; every number in groups of seven bits, the lowest first, with the eighth bit where
// more follow.
namespace alidade::detail {

void append_episode(const LoggedEpisode& episode, std::string& bytes);

/// Reads such bytes, one episode after the other.
class EpisodeBytes {
public:
    explicit EpisodeBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
    /// The next one; false at the end. Throws InvalidArgument if the bytes are no episodes.
    bool next(LoggedEpisode& episode);

private:
    std::int64_t number();
    std::span<const std::byte> bytes_;
};

/// Episodes on their way into a run: in pieces, on disk if they are many, and with what is to be known of
/// them before.
class EpisodeSpool {
public:
    /// A temporary file, if one is needed, lies in `folder`.
    explicit EpisodeSpool(const std::filesystem::path& folder) : spool_(folder / "episodes") {}

    void add(const LoggedEpisode& episode);
    std::int64_t episodes() const noexcept { return episodes_; }  ///< counted as often as they were seen
    std::int64_t transitions() const noexcept { return transitions_; }
    std::int64_t broken_off() const noexcept { return broken_off_; }
    /// Of all episodes, in order. `finish` first.
    std::string digest() const { return hash_.hex(); }
    void finish();
    /// Calls `each` with every piece and how many records it has.
    void pieces(const std::function<void(std::int64_t records, std::span<const std::byte> bytes)>& each);

private:
    struct Piece {
        std::int64_t records, size;
    };
    void flush();

    Spool spool_;
    std::string buffer_;
    std::int64_t records_ = 0, episodes_ = 0, transitions_ = 0, broken_off_ = 0;
    std::vector<Piece> pieces_;
    ContentHash hash_;
};

/// A policy as bytes: the actions as numbers like those of episodes; nothing for the uniform one.
std::string policy_bytes(const Policy& policy);
Policy policy_from(std::span<const std::byte> bytes, const Shape& shape);

}  // namespace alidade::detail
