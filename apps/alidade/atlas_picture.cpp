#include "atlas_picture.hpp"

namespace alidade::app {

std::map<std::string, std::string> atlas_pictures(const AtlasRecord&, const std::optional<MixtureModel>&) {
    return {};
}

}  // namespace alidade::app
