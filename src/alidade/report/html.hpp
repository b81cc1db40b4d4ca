#pragma once

#include <string>
#include <string_view>

#include "section.hpp"

namespace alidade::report::detail {

/// A text that somebody else wrote as HTML or XML shows it, in an element or an attribute: no character of it
/// is markup, control characters and marks that turn the direction of writing are spelt out.
std::string escaped(std::string_view text);
/// The same of a text of our own, whose ends of lines stay.
std::string escaped_lines(std::string_view text);
/// The same of JSON inside a script element: what would end the element is written as JSON can write it, too.
std::string inside_script(std::string_view json);

/// A section with everything in it.
std::string to_html(const Section& section);
/// A table with its heading cells, in a box that scrolls.
std::string to_html(const DataTable& table, std::string_view label);

}  // namespace alidade::report::detail
