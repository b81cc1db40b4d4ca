#include "alidade/io/printable_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace alidade {
namespace {

/// One character of UTF-8, or one byte that is none.
struct Character {
    std::uint32_t code = 0;
    std::size_t size = 1;  ///< bytes
    bool valid = false;
};

std::uint32_t byte_at(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

/// The first character of a text that is not empty.
Character first_character(std::string_view text) {
    const std::uint32_t lead = byte_at(text, 0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
    std::uint32_t code = lead & (0x7Fu >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte_at(text, i) & 0xC0u) != 0x80) return {};
        code = code << 6 | (byte_at(text, i) & 0x3Fu);
    }
    // Longer than needed, half of a pair of UTF-16, beyond the last character.
    const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    if (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
    return {code, size, true};
}

/// Whether a terminal would act on it instead of showing it.
bool steers(std::uint32_t code) {
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    const bool separator = code == 0x2028 || code == 0x2029;
    const bool direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return control || separator || direction;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const Character next = first_character(text);
        if (!next.valid || (next.size == 1 && steers(next.code)))
            shown += fmt::format("\\x{:02X}", byte_at(text, 0));
        else if (steers(next.code))
            shown += fmt::format("\\u{{{:04X}}}", next.code);
        else
            shown += text.substr(0, next.size);
        text.remove_prefix(next.size);
    }
    return shown;
}

std::string printable(const std::filesystem::path& path) {
    return printable(std::string_view(path.native()));
}

}  // namespace alidade
