#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "user_error.hpp"

namespace alidade::app {
namespace {

constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();

/// A number as it is written: digits times a power of ten.
struct Decimal {
    std::string digits;         ///< without the point; no zeros around them, none for 0
    std::int64_t exponent = 0;  ///< of ten
};

/// Takes the digits at the front of `text`.
std::string_view take_digits(std::string_view& text) {
    const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
    text.remove_prefix(digits.size());
    return digits;
}

/// The power of ten behind an e, and nothing after it.
std::optional<std::int64_t> read_exponent(std::string_view text) {
    if (text.empty()) return 0;
    if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    // Nobody writes a whole number with a thousand places.
    std::int32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || std::abs(value) > 1000)
        return std::nullopt;
    return value;
}

/// "2.5e3" as 25 times 10^2; nothing if it is no number. Never through a double, which holds no more than
/// 53 bits of it.
std::optional<Decimal> read_decimal(std::string_view text) {
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        fraction = take_digits(text);
    }
    const std::optional<std::int64_t> exponent = read_exponent(text);
    if (whole.size() + fraction.size() == 0 || !exponent) return std::nullopt;
    Decimal number{std::string(whole) + std::string(fraction),
                   *exponent - static_cast<std::int64_t>(fraction.size())};
    number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size()));
    while (number.digits.ends_with('0')) {
        number.digits.pop_back();
        ++number.exponent;
    }
    if (number.digits.empty()) number.exponent = 0;
    return number;
}

/// The whole number; `largest_count` and a flag if it is larger. Nothing if it is not whole.
std::optional<std::int64_t> whole_of(const Decimal& number, bool& too_large) {
    if (number.exponent < 0) return std::nullopt;
    std::int64_t value = 0;
    const auto append = [&](std::int64_t digit) {
        too_large = too_large || value > (largest_count - digit) / 10;
        value = too_large ? largest_count : 10 * value + digit;
    };
    for (const char digit : number.digits) append(digit - '0');
    for (std::int64_t i = 0; i < number.exponent && !too_large; ++i) append(0);
    return value;
}

std::string without_underscores(const std::string& text) {
    std::string digits;
    for (const char c : text)
        if (c != '_') digits += c;
    return digits;
}

}  // namespace

std::int64_t parse_count(const std::string& text, std::string_view flag, std::int64_t least,
                         std::int64_t most) {
    const std::optional<Decimal> number = read_decimal(without_underscores(text));
    bool too_large = false;
    const std::optional<std::int64_t> value = number ? whole_of(*number, too_large) : std::nullopt;
    if (value && !too_large && *value >= least && *value <= most) return *value;
    const bool over = value && (too_large || *value > most);
    throw UserError(over
                        ? fmt::format("{} is '{}'; must be at most {}", flag, text, most)
                        : fmt::format("{} is '{}'; must be a whole number of at least {}", flag, text, least),
                    {"the command line",
                     over ? "more could not be counted exactly"
                          : "a number read wrongly would silently change what the run does",
                     over ? fmt::format("write a smaller number, like {} 1e9", flag)
                          : fmt::format("write it like {} 100000, {} 100_000 or {} 1e5", flag, flag, flag)});
}

std::uint64_t parse_seed(const std::string& text, std::string_view flag) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const char* const first = text.data() + (hexadecimal ? 2 : 0);
    const char* const end = text.data() + text.size();
    std::uint64_t seed = 0;
    const auto [stop, error] = std::from_chars(first, end, seed, hexadecimal ? 16 : 10);
    if (error == std::errc{} && stop == end) return seed;
    throw UserError(
        fmt::format("{} is '{}'; must be a whole number from 0 to {}", flag, text,
                    std::numeric_limits<std::uint64_t>::max()),
        {"the command line", "two seeds that were taken for the same one would give the same run twice",
         fmt::format("write it like {} 7", flag)});
}

}  // namespace alidade::app
