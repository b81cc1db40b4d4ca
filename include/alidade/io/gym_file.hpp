#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/io/explicit_model.hpp"

namespace alidade {

/// Writes a point model as the `P` dictionary of Gymnasium's toy-text environments, in JSON:
/// {"P": {"0": {"0": [[probability, next, reward, terminated], ...]}}, "initial_state_distrib": [...]}.
/// A branch is terminated where it leads to a state labelled `end`, or else to one that only leads to itself
/// and earns nothing there. The reward is that of the choice plus that of the state; the model has at most
/// one reward structure. Several initial states share the start equally. Names and labels are not kept.
/// Throws InvalidArgument with the path.
void write_gym(const std::filesystem::path& path, const ExplicitRows& rows);

/// Reads such a file: dictionaries or lists, with or without the wrapper. Repeated next states are summed and
/// branches of probability 0 dropped; what is terminated leads to its next state all the same. The reward of
/// a choice, called `reward`, is the expectation of its branches' rewards; there is none if all are 0.
/// Initial states are those of positive probability, state 0 if none are given; a law over several that is
/// not uniform is kept by one more state after the others, labelled `start`, with a single choice. States in
/// which a terminated branch ends are labelled `end`. Throws InvalidArgument with file and place.
ExplicitModel read_gym(const std::filesystem::path& path, const ModelReadOptions& options = {});

/// The same from text; `file` is what messages call it.
ExplicitModel parse_gym(std::string_view text, std::string_view file, const ModelReadOptions& options = {});

}  // namespace alidade
