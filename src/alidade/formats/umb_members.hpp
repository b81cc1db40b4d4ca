#pragma once

#include <string_view>

#include "../files/archive_file.hpp"
#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// The model in the members of a UMB archive.
ExplicitModel model_of_members(const ArchiveMembers& members, std::string_view file,
                               const ModelReadOptions& options = {});

}  // namespace alidade::detail
