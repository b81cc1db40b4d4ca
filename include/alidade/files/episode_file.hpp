#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "alidade/model/counts.hpp"
#include "alidade/model/start_law.hpp"

namespace alidade {

/// Adds the episodes of a file to `counts` and returns how many they are. `.jsonl` or `.ndjson`: one object
/// a line, {"states": [s_0, ...], "actions": [a_0, ...], "count": n}, read line by line; `.npz`: integer
/// arrays `states` and `actions` of one shape (episodes, steps), where -1 stands for "the episode was over",
/// and perhaps `count` (episodes). An episode has 1 to H states, and an action for each or for each but the
/// last; `count`, 1 if left out, says how often it was seen; "id" and "rewards" are ignored.
///
/// Throws InvalidArgument with file, line (or episode) and what is allowed, also for a first state to which
/// the start law gives no probability; ModelContradiction with the same and (step, state, action, successor)
/// for a transition that no base model can make. What came before it in the file is then counted.
std::int64_t read_episodes(const std::filesystem::path& path, const StartLaw& start, Counts& counts);
/// The same from memory; `path` is what messages call it, and its extension says what the bytes are.
std::int64_t parse_episodes(std::string_view bytes, const std::filesystem::path& path, const StartLaw& start,
                            Counts& counts);

}  // namespace alidade
