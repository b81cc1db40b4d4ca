#include "numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "user_error.hpp"

namespace alidade::app {
namespace {

/// Whole numbers of this size and less are exact as doubles.
constexpr double largest_exact = 9007199254740992.0;

bool read_whole(const std::string& digits, std::int64_t& value) {
    const char* const end = digits.data() + digits.size();
    if (const auto [stop, error] = std::from_chars(digits.data(), end, value);
        error == std::errc{} && stop == end)
        return true;
    double real = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, real);
    if (error != std::errc{} || stop != end || std::floor(real) != real || std::abs(real) > largest_exact)
        return false;
    value = static_cast<std::int64_t>(real);
    return true;
}

}  // namespace

std::int64_t parse_count(const std::string& text, std::string_view flag, std::int64_t least) {
    std::string digits;
    for (const char c : text)
        if (c != '_') digits += c;
    std::int64_t value = 0;
    if (!digits.empty() && read_whole(digits, value) && value >= least) return value;
    throw UserError(fmt::format("{} is '{}'; must be a whole number of at least {}", flag, text, least),
                    {"the command line", "a number read wrongly would silently change what the run does",
                     fmt::format("write it like {} 100000, {} 100_000 or {} 1e5", flag, flag, flag)});
}

std::string with_commas(std::int64_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const bool group_begins = (digits.size() - i) % 3 == 0;
        if (group_begins && !text.empty() && text != "-") text += ',';
        text += digits[i];
    }
    return text;
}

std::string rounded(double value) {
    if (value == 0) return "0";
    if (std::abs(value) >= 1e-3 && std::abs(value) < 1e6) return fmt::format("{:.4f}", value);
    return fmt::format("{:.3g}", value);
}

std::string upper_bound(double value) {
    return fmt::format("{:.4f}", std::ceil(value * 1e4) / 1e4);
}

std::string lower_bound(double value) {
    return fmt::format("{:.4f}", std::floor(value * 1e4) / 1e4);
}

std::string memory_size(std::int64_t bytes) {
    const auto size = static_cast<double>(bytes);
    if (size < 1e3) return fmt::format("{} bytes", bytes);
    if (size < 1e6) return fmt::format("{:.3g} kB", size / 1e3);
    if (size < 1e9) return fmt::format("{:.3g} MB", size / 1e6);
    return fmt::format("{:.4g} GB", size / 1e9);
}

std::string duration(double seconds) {
    if (!(seconds < 360000)) return "days";
    if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::int64_t>(seconds);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace alidade::app
