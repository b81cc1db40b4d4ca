#pragma once

#include <cstdint>
#include <filesystem>

#include "alidade/run/ask_tell.hpp"

namespace alidade {

/// Writes every episode that a run has kept and returns how many records they are. By the file's ending:
/// `.jsonl`, one object a line with states, actions, count, complete, id, experiment, episode, seed, source,
/// worker and told (UTC);
/// `.csv`, one row a transition; `.npz`, integer arrays states, actions, count, experiment. `learn` reads
/// each of them back. Throws InvalidArgument for another ending, and if the file cannot be written.
std::int64_t export_episodes(const AskTell& experiments, const Shape& shape,
                             const std::filesystem::path& path);

}  // namespace alidade
