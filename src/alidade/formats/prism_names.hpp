#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <filesystem>

namespace alidade::detail {

/// The file of a model in PRISM's explicit format that has another extension than `tra`: "m.lab" beside
/// "m.tra"; for reward structure `position` of several, "m1.srew", "m2.srew", ...
inline std::filesystem::path prism_part(const std::filesystem::path& tra, const char* extension,
                                        std::size_t position, std::size_t structures) {
    const std::string number = structures > 1 ? fmt::format("{}", position + 1) : "";
    return tra.parent_path() / (tra.stem().string() + number + extension);
}

}  // namespace alidade::detail
