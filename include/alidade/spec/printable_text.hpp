#pragma once

#include <string>
#include <string_view>

namespace alidade {

/// A text that somebody else wrote (a name, a path) as a terminal may show it: control characters, the end of
/// a line among them, bytes that are no UTF-8 and marks that turn the direction of writing become `\x1b` or
/// `\u202e`; everything else stays. What is printable already comes back as it is.
std::string printable(std::string_view text);

/// Columns that a printable text takes on a terminal: two for the wide characters of East Asia, none for
/// marks that combine with the character before them.
std::size_t display_width(std::string_view text);

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
