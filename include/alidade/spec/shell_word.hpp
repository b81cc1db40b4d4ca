#pragma once

#include <string>
#include <string_view>

namespace alidade {

/// A text as one word of a POSIX shell's command line: as it is where that is safe, else between single
/// quotes. What a terminal cannot show goes through printf, so that a printed command can be copied; a text
/// that ends in ends of lines loses those.
std::string shell_word(std::string_view text);

/// The same for a path: one that begins with '-' gets ./ in front, so that no program takes it for a flag.
std::string shell_path(std::string_view path);

/// A flag with its value as words of a command line: `--reward 'a b'`, or `--reward='-x'` where the value
/// would look like a flag.
std::string shell_flag(std::string_view flag, std::string_view value);

}  // namespace alidade
