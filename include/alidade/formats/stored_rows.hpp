#pragma once

#include <filesystem>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/row_source.hpp"
#include "alidade/model/threads.hpp"

namespace alidade {

/// Base models by a rule, made once and kept in files instead of memory: writes the features into a folder
/// (docs/formats.md, "Arrays in a folder"), some ten thousand rows at a time, and maps them. The same map as
/// FeatureMap::from_rows gives, of any size that the disk has room for; its pages are the files', so that the
/// system may give them back. The folder is made if needed; files of these names are replaced when all are
/// complete. Throws InvalidArgument naming the base model, state and action of a bad row, or the file that
/// cannot be written.
SharedFeatures store_rows(const RowSource& rows, const std::filesystem::path& folder, Threads threads = {});

}  // namespace alidade
