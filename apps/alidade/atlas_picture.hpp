#pragma once

#include <map>
#include <optional>
#include <string>

#include "alidade/files/atlas_file.hpp"
#include "alidade/model/mixture_model.hpp"

namespace alidade::app {

/// front.svg, what the objectives' values can be and what is guaranteed, and weights.svg, which plan is for
/// which weights and what it may lose: files by name. `truth`: where it is known, the true front is drawn as
/// well.
std::map<std::string, std::string> atlas_pictures(const AtlasRecord& record,
                                                  const std::optional<MixtureModel>& truth);

}  // namespace alidade::app
