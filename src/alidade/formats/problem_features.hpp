#pragma once

#include <filesystem>

#include "../files/toml_section.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/model/feature_map.hpp"

namespace alidade::detail {

/// The features of a problem's file, which are its [[base]] or [features]; paths are relative to the file.
/// Those of a `folder` are mapped. Throws InvalidArgument with file and line, or with the file that does not
/// fit.
SharedFeatures load_features(const TomlSection& root, const std::filesystem::path& file,
                             const LoadOptions& options);

}  // namespace alidade::detail
