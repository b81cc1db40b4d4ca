#pragma once

#include <string>

namespace alidade::detail {

/// The last 20 lines of what a command wrote, indented; "(nothing)" if there are none.
std::string last_lines(const std::string& talk);

/// A wait status in words: "ended with exit status 3", "was ended by signal 9 (Killed)".
std::string ending_in_words(int wait_status);

}  // namespace alidade::detail
