#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/model/feature_map.hpp"
#include "npz.hpp"

namespace alidade::detail {

/// Reads signed features from an .npz file of five arrays: `states` (S) and `actions` (A), integers
/// without dimensions; `offsets`, S*A+1 integers; `targets`, n integers; `values`, shape (n, d). Entries
/// offsets[s*A+a] .. offsets[s*A+a+1]-1 are the successors of (s, a). `norm_bound` is B >= 1, which the
/// file does not hold. Throws InvalidArgument, starting with the path, if the arrays do not fit together.
SignedFeatures read_features(const std::filesystem::path& path, double norm_bound);
/// The same from arrays; `file` is what messages call them.
SignedFeatures features_from_arrays(NpzArrays arrays, double norm_bound, std::string_view file);

/// Writes features of any kind in that format.
void write_features(const std::filesystem::path& path, const FeatureMap& features,
                    NpzCompression compression = NpzCompression::deflated);
/// The same as arrays.
NpzArrays features_to_arrays(const FeatureMap& features);

}  // namespace alidade::detail
