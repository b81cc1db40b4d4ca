#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// How the tar archive of a UMB file is compressed; readers know all three.
enum class UmbCompression { none, gzip, xz };

/// Writes a model as Unified Markov Binary, version 1, which PRISM, Storm and umbi read. Points are `double`,
/// intervals `double-interval`; labels become atomic propositions, and names that are no UMB identifiers are
/// kept as aliases. Rewards that are zero on all states (or all choices) are left out there. Choices without
/// an action get one with the empty name. One pass over the rows; memory does not grow with the model, but
/// for its arrays there must be room beside the file. The same model gives the same bytes.
/// Throws InvalidArgument with the path: for parametric models, too.
void write_umb(const std::filesystem::path& path, const ExplicitRows& rows,
               UmbCompression compression = UmbCompression::gzip);

/// Reads a DTMC or MDP with `double` or `double-interval` probabilities and `double` rewards. Branches of one
/// choice that share a target are summed, and rewards of branches must be the same over a choice. Valuations,
/// observations of branches and annotations of other groups are ignored; partially observable models, games
/// and continuous time are refused. Sizes announced in the index are compared with the arrays, never trusted.
/// Throws InvalidArgument with the file and the member.
ExplicitModel read_umb(const std::filesystem::path& path, const ModelReadOptions& options = {});
/// The same from memory; `file` is what messages call it.
ExplicitModel parse_umb(std::string_view bytes, std::string_view file, const ModelReadOptions& options = {});

}  // namespace alidade::detail
