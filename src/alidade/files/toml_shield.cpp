#include "toml_shield.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

constexpr std::uint32_t shift = 0xF0000;

/// The character at the start of `text` and its length in bytes; length 0 if it is no UTF-8.
struct Character {
    std::uint32_t value = 0;
    std::size_t length = 0;
};

Character first(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    const std::uint32_t lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || length > text.size() || lead > 0xF4) return {};
    std::uint32_t value = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return {};
        value = value << 6U | (byte(i) & 0x3FU);
    }
    constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[length] || (value >= 0xD800 && value <= 0xDFFF)) return {};
    return {value, length};
}

void append(std::string& text, std::uint32_t c) {
    const auto push = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (c < 0x80) return push(c);
    if (c < 0x800) {
        push(0xC0U | c >> 6U);
    } else if (c < 0x10000) {
        push(0xE0U | c >> 12U);
        push(0x80U | (c >> 6U & 0x3FU));
    } else {
        push(0xF0U | c >> 18U);
        push(0x80U | (c >> 12U & 0x3FU));
        push(0x80U | (c >> 6U & 0x3FU));
    }
    push(0x80U | (c & 0x3FU));
}

}  // namespace

std::string shield(std::string_view text, std::string_view file) {
    std::string result;
    std::size_t i = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    result = text.substr(0, i);
    while (i < text.size()) {
        const Character c = first(text.substr(i));
        // The line is counted only where it is needed: the text may be long.
        if (c.length == 4 && c.value >= shift && c.value <= shift + 0xFFFF)
            throw InvalidArgument(fmt::format(
                "{}:{}: has a character for private use (U+{:X}); leave it out", file,
                1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n'), c.value));
        if (c.length == 2 || c.length == 3)
            append(result, c.value + shift);
        else
            result += text.substr(i, std::max<std::size_t>(c.length, 1));
        i += std::max<std::size_t>(c.length, 1);
    }
    return result;
}

std::string unshield(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        const Character c = first(text.substr(i));
        if (c.length == 4 && c.value >= shift && c.value <= shift + 0xFFFF)
            append(result, c.value - shift);
        else
            result += text.substr(i, std::max<std::size_t>(c.length, 1));
        i += std::max<std::size_t>(c.length, 1);
    }
    return result;
}

}  // namespace alidade::detail
