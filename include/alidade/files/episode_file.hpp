#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"

namespace alidade {

/// An episode as somebody wrote it down.
struct LoggedEpisode {
    std::vector<State> states;    ///< 1 to H
    std::vector<Action> actions;  ///< one for each state, or for each but the last
    std::int64_t times = 1;       ///< how often this very episode was seen, >= 1
    bool complete = true;         ///< false where it broke off

    bool operator==(const LoggedEpisode&) const = default;
};

/// How a file of episodes is to be read.
struct EpisodeFileOptions {
    Shape shape;  ///< of the problem: numbers are checked against it
    std::span<const std::string> state_names = {},
                                 action_names = {};  ///< words that stand for numbers; may be empty
    /// Of a .csv: which columns hold what, as "episode=run,next_state=then"; what is not named has its own
    /// name.
    std::string columns = {};
};

/// Calls `each` with every episode of a file and where it is ("log.jsonl:3"). Kinds of files as below, and
/// `.csv`: one row a transition, with a line of names first: episode, step, state, action, next_state. The
/// rows of an episode follow one another, step by step from 0. Throws InvalidArgument with file, line (or
/// episode) and what is allowed; what `each` throws passes through with the place in front of its words.
void visit_episodes(const std::filesystem::path& path, const EpisodeFileOptions& options,
                    const std::function<void(const LoggedEpisode&)>& each);
/// The same from memory.
void visit_episodes(std::string_view bytes, const std::filesystem::path& path,
                    const EpisodeFileOptions& options, const std::function<void(const LoggedEpisode&)>& each);

/// Throws InvalidArgument if an episode is not one that the problem can have: its shape, and a first state to
/// which the start law gives no probability.
void validate(const LoggedEpisode& episode, const Shape& shape, const StartLaw& start);

/// Adds the episodes of a file to `counts` and returns how many they are. `.jsonl` or `.ndjson`: one object
/// a line, {"states": [s_0, ...], "actions": [a_0, ...], "count": n}, read line by line; `.npz`: integer
/// arrays `states` and `actions` of one shape (episodes, steps), where -1 stands for "the episode was over",
/// and perhaps `count` (episodes). An episode has 1 to H states, and an action for each or for each but the
/// last; `count`, 1 if left out, says how often it was seen; "id" and "rewards" are ignored.
///
/// Throws InvalidArgument with file, line (or episode) and what is allowed, also for a first state to which
/// the start law gives no probability; ModelContradiction with the same and (step, state, action, successor)
/// for a transition that no base model can make. What came before it in the file is then counted.
std::int64_t read_episodes(const std::filesystem::path& path, const StartLaw& start, Counts& counts,
                           const EpisodeFileOptions& options);
std::int64_t read_episodes(const std::filesystem::path& path, const StartLaw& start, Counts& counts);
/// The same from memory; `path` is what messages call it, and its extension says what the bytes are.
std::int64_t parse_episodes(std::string_view bytes, const std::filesystem::path& path, const StartLaw& start,
                            Counts& counts);

}  // namespace alidade
