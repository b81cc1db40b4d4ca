#include "alidade/spec/printable_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace alidade {
namespace {

/// One character of UTF-8; `bytes` is 1 and `valid` false for a byte that begins none.
struct Character {
    char32_t code = 0;
    std::size_t bytes = 1;
    bool valid = false;
};

Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {lead, 1, false};
    char32_t code = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {lead, 1, false};
        code = (code << 6U) | (byte(i) & 0x3fU);
    }
    // Longer than need be, half of a pair of UTF-16, or beyond the last character.
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool valid = code >= least.at(bytes) && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return valid ? Character{code, bytes, true} : Character{lead, 1, false};
}

struct Range {
    char32_t first, last;
};

template <std::size_t n>
bool within(const Range (&ranges)[n], char32_t code) {
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [&](const Range& range) { return code >= range.first && code <= range.last; });
}

/// What moves the cursor, ends a line, turns the direction of writing or cannot be seen.
constexpr Range dangerous[] = {{0x00, 0x1f},     {0x7f, 0x9f},      {0x061c, 0x061c}, {0x200b, 0x200b},
                               {0x200e, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0xfeff, 0xfeff},
                               {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

constexpr Range combining[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},
                               {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d}, {0x20d0, 0x20ff},
                               {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

constexpr Range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
                          {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
                          {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const Character next = first_character(text);
        if (!next.valid || (within(dangerous, next.code) && next.code < 0x80))
            shown += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(next.code));
        else if (within(dangerous, next.code))
            shown += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(next.code));
        else
            shown += text.substr(0, next.bytes);
        text.remove_prefix(next.bytes);
    }
    return shown;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const Character next = first_character(text);
        if (!within(combining, next.code)) width += within(wide, next.code) ? 2U : 1U;
        text.remove_prefix(next.bytes);
    }
    return width;
}

}  // namespace alidade
