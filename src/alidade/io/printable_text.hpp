#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace alidade {

/// The text as a message may carry it: what is not valid UTF-8 as \xNN, and what would steer a terminal
/// (control characters, line separators, marks that turn the direction of writing) as \xNN or \u{NNNN}. For
/// bytes that come from a file or are the name of one.
std::string printable(std::string_view text);
std::string printable(const std::filesystem::path& path);

}  // namespace alidade
