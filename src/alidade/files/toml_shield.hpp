#pragma once

#include <string>
#include <string_view>

namespace alidade::detail {

/// The text with every character from U+0080 to U+FFFF moved up by 0xF0000, to where toml++ 3.3 does not look
/// for blanks: its search runs into what it calls unreachable on some letters, outside strings above all
/// (found by fuzzing). Bytes that are no UTF-8 stay as they are, for the parser to refuse, and so does a byte
/// order mark at the start. Throws InvalidArgument with file and line if the text has characters up there
/// already, which are for private use.
std::string shield(std::string_view text, std::string_view file);

/// What was shielded, moved back.
std::string unshield(std::string_view text);

}  // namespace alidade::detail
