#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "alidade/files/atlas_file.hpp"
#include "alidade/model/shape.hpp"

namespace alidade::detail {

/// What an atlas.json says besides the atlas itself.
struct AtlasHead {
    Shape shape;
    std::string problem;
    std::vector<AtlasObjective> objectives;  ///< their rewards are not read yet
    std::vector<std::string> policies;       ///< files, relative to the folder
};

/// The whole object: docs/formats.md.
nlohmann::ordered_json atlas_json(const AtlasRecord& record);

/// The other way; the atlas's policies have placeholders. Throws InvalidArgument, starting with `file`.
Atlas atlas_of(const nlohmann::json& document, const std::string& file, AtlasHead& head);

/// Names of the files of policy and objective number i.
std::string policy_name(std::size_t i);
std::string objective_name(std::size_t i);

}  // namespace alidade::detail
