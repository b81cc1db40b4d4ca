#pragma once

#include <filesystem>
#include <string_view>

#include "../files/npz.hpp"
#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// Writes an explicit model of any kind as arrays for NumPy: `header` (a byte string of JSON with `kind` and
/// the names of `parameters`, `actions`, `labels`, `rewards`), `state_to_choices` (n+1), `choice_to_branches`
/// (c+1), `targets` (m), `lower` (m; the probability of a point), `upper` (m; intervals), `coefficients`
/// (m, 1+p; parametric, constant first), `choice_actions` (c; -1: none), `initial_states`, `label_offsets`
/// (n+1) and `labels`, `state_rewards` (n, r), `choice_rewards` (c, r). One pass over the rows, memory does
/// not grow with the model. The same model gives the same bytes. Throws InvalidArgument with the path.
void write_explicit_npz(const std::filesystem::path& path, const ExplicitRows& rows,
                        NpzCompression compression = NpzCompression::deflated);

/// Reads such a file. Throws InvalidArgument with the file and the array.
ExplicitModel read_explicit_npz(const std::filesystem::path& path, const ModelReadOptions& options = {});
/// The same from arrays; `file` is what messages call them.
ExplicitModel explicit_from_arrays(NpzArrays arrays, std::string_view file,
                                   const ModelReadOptions& options = {});

}  // namespace alidade::detail
