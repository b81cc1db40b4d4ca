#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "alidade/model/pair_features.hpp"
#include "npz.hpp"

namespace alidade::detail {

/// Reads features of pairs from an .npz file: `features`, numbers of shape (S, A, d), or (S*A, d) beside an
/// integer `states`; where not every state can follow every pair also `offsets`, S*A+1 integers, and
/// `targets`, the successors. `norm_bound` is what the file does not hold: none is sqrt(d). Throws
/// InvalidArgument, starting with the path, if the arrays do not fit together.
PairFeatures read_pair_features(const std::filesystem::path& path, std::optional<double> norm_bound);
/// The same from arrays; `file` is what messages call them.
PairFeatures pair_features_from_arrays(NpzArrays arrays, std::optional<double> norm_bound,
                                       std::string_view file);

/// Writes features in that format; successors only if not every state is one.
void write_pair_features(const std::filesystem::path& path, const PairFeatures& features);

/// Reads measures from an .npz file: `measures`, numbers of shape (steps, d, S), or (d, S) for one step.
/// Throws InvalidArgument, starting with the path, if there are others.
std::vector<Matrix> read_measures(const std::filesystem::path& path);
std::vector<Matrix> measures_from_arrays(NpzArrays arrays, std::string_view file);
void write_measures(const std::filesystem::path& path, const std::vector<Matrix>& measures);

}  // namespace alidade::detail
