#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace alidade {

/// Throws InvalidArgument unless `path` is a file that can be opened.
void check_readable(const std::filesystem::path& path);

/// The bytes of a file. Throws InvalidArgument with the path if it cannot be read.
std::string read_text(const std::filesystem::path& path);

/// Replaces a file. Throws InvalidArgument with the path if it cannot be written.
void write_text(const std::filesystem::path& path, std::string_view bytes);

}  // namespace alidade
