#pragma once

#include <string>
#include <string_view>

namespace alidade {

/// A text that somebody else wrote (a name, a path) as a terminal may show it: control characters, the end of
/// a line among them, bytes that are no UTF-8 and marks that turn the direction of writing become \x1b or
/// \u202e; everything else stays. What is printable already comes back as it is.
std::string printable(std::string_view text);

/// Columns that a printable text takes on a terminal: two for the wide characters of East Asia, none for
/// marks that combine with the character before them.
std::size_t display_width(std::string_view text);

}  // namespace alidade
