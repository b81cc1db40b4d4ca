#include "alidade/spec/printable_text.hpp"

#include <fmt/format.h>

namespace alidade {
namespace {

constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,-=";

/// For printf between single quotes: octal for all that is not plain.
std::string through_printf(std::string_view text) {
    std::string format;
    for (const char c : text) {
        if (c == '%')
            format += "%%";
        else if (plain.find(c) != std::string_view::npos || c == ' ')
            format += c;
        else
            format += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    // A format that begins with '-' would be taken for an option.
    return fmt::format("\"$(printf -- '{}')\"", format);
}

}  // namespace

std::string shell_word(std::string_view text) {
    if (printable(text) != text) return through_printf(text);
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'')
            word += "'\\''";
        else
            word += c;
    }
    return word + "'";
}

std::string shell_path(std::string_view path) {
    return path.starts_with('-') ? shell_word("./" + std::string(path)) : shell_word(path);
}

std::string shell_flag(std::string_view flag, std::string_view value) {
    return fmt::format("{}{}{}", flag, value.starts_with('-') ? "=" : " ", shell_word(value));
}

}  // namespace alidade
