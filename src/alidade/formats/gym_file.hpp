#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// Writes a point model as the `P` dictionary of Gymnasium's toy-text environments, in JSON, state by state:
/// {"P": {"0": {"0": [[probability, next, reward, terminated], ...]}}, "initial_state_distrib": [...]}.
/// A branch is terminated where it leads to a state labelled `end` that only leads to itself and earns
/// nothing. The reward is that of the choice plus that of its state; the model has at most one reward
/// structure. Several initial states share the start equally. Names and other labels are not kept. Throws
/// InvalidArgument with the path.
void write_gym(const std::filesystem::path& path, const ExplicitRows& rows);

/// Reads such a file: dictionaries or lists, with or without the wrapper. Repeated next states are summed and
/// branches of probability 0 dropped. The reward structure is called `reward`: the expectation over the
/// branches of a choice; there is none if all are 0. States that only lead to themselves and earn nothing are
/// labelled `end` where a terminated branch leads to them; all other terminated branches lead to one more
/// state, labelled `end`, behind those of the file. Initial states are those of positive probability, state 0
/// if none are given; a law that is not uniform over them becomes one more state behind all others, labelled
/// `start`, with a single choice. Keys may come in any order; the file is read as it comes, with little more
/// than the model in memory, and nothing is allocated by the numbers in it. Throws InvalidArgument with file
/// and place, also for keys that come twice.
ExplicitModel read_gym(const std::filesystem::path& path, const ModelReadOptions& options = {});

/// The same from text; `file` is what messages call it.
ExplicitModel parse_gym(std::string_view text, std::string_view file, const ModelReadOptions& options = {});

}  // namespace alidade::detail
