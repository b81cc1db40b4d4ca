#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/environment/system.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/types.hpp"

/// What is said between alidade and a system that is another program: one JSON object a line, request and
/// answer (docs/own-system.md). Every answer repeats what it answers, so that one too many is never taken for
/// the next.
namespace alidade::detail {

inline constexpr std::int64_t system_protocol = 1;
/// Seeds are below 2^53: whole numbers in every language, also where numbers are doubles.
inline constexpr int seed_bits = 53;

/// What a system says of itself.
struct SystemInfo {
    Index states = 0, actions = 0;
    std::optional<Index> horizon;  ///< none: any
    std::vector<std::string> state_names, action_names;
    bool batches = false;  ///< it answers `run`
    bool seeded = false;   ///< an episode is fixed by its seed and the actions

    bool operator==(const SystemInfo&) const = default;
};

/// How an episode goes on after a state.
enum class EpisodeEnd {
    none,
    terminated,  ///< the state is absorbing: the system stays there
    truncated,   ///< the system cannot go on: what would follow is missing
};

/// The answer to `step`.
struct StepAnswer {
    State state = 0;
    EpisodeEnd end = EpisodeEnd::none;
};

/// An episode of an answer to `run`: as long as the system went.
struct BatchEpisode {
    std::vector<State> states;  ///< 1 .. H
    EpisodeEnd end = EpisodeEnd::none;
};

/// A system that says {"error": "..."}: it is sound, but cannot do what it was asked.
class SystemDeclined : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The seed of an episode: the first bits of Stream(seed, system, episode).
std::uint64_t episode_seed(std::uint64_t seed, std::int64_t episode);

std::string info_request(const Shape& shape);
std::string reset_request(std::int64_t episode, std::uint64_t seed);
std::string step_request(Step h, Action action);
/// Of a deterministic policy.
std::string run_request(const Policy& policy, std::int64_t first, std::span<const std::uint64_t> seeds);

/// They read an answer. Throw InvalidArgument saying what is wrong and what is allowed, SystemDeclined for
/// errors.
SystemInfo parse_info(std::string_view line);
State parse_reset(std::string_view line, const Shape& shape, std::int64_t episode);
StepAnswer parse_step(std::string_view line, const Shape& shape, Step h);
/// All `count` episodes, the actions being those of the policy.
std::vector<BatchEpisode> parse_run(std::string_view line, const Policy& policy, std::int64_t first,
                                    std::int64_t count);

}  // namespace alidade::detail
