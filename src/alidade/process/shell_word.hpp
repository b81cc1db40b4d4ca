#pragma once

#include <algorithm>
#include <string>

namespace alidade::detail {

/// A text as a word of the shell. One that needs no quotes gets none, so that it may stand inside quotes.
inline std::string shell_word(const std::string& text) {
    const auto harmless = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
               c == '.' || c == '_' || c == '-' || c == '+';
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), harmless)) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

}  // namespace alidade::detail
