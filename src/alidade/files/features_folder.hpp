#pragma once

#include <filesystem>

#include "alidade/model/feature_map.hpp"

namespace alidade::detail {

/// Features in a folder of five .npy files, the arrays of a features file [features_file.hpp], which are
/// mapped instead of read: `states.npy` and `actions.npy`, integers; `offsets.npy` ('<i8'), `targets.npy`
/// ('<i4'), `values.npy`
/// ('<f8', shape (n, d), C order). The table points into the files; its kind, bound and names are for the
/// caller to say. Throws InvalidArgument with the file that is missing, cut short or of another type.
FeatureTable map_features(const std::filesystem::path& folder);

/// Writes features of any kind so, in bounded memory; files that are there are replaced, one by one, when
/// complete.
void write_features_folder(const std::filesystem::path& folder, const FeatureMap& features);

}  // namespace alidade::detail
