#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>

namespace alidade::detail {

/// Throws InvalidArgument unless `path` is a file, or leads to one, that can be opened. Pipes and devices are
/// refused without opening them.
void check_readable(const std::filesystem::path& path);

/// The bytes of a file. Throws InvalidArgument with the path if it cannot be read.
std::string read_text(const std::filesystem::path& path);

/// The longest line that is read, in bytes.
inline constexpr std::size_t longest_line = std::size_t{1} << 26U;

/// The next line without its end; false if there is none. Throws InvalidArgument with the file's name for one
/// of more than 64 MiB, so that a text without ends of lines cannot fill the memory.
bool read_line(std::istream& stream, std::string& line, std::string_view file);

/// Replaces a file. Throws InvalidArgument with the path if it cannot be written.
void write_text(const std::filesystem::path& path, std::string_view bytes);

}  // namespace alidade::detail
