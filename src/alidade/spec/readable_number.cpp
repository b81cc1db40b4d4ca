#include "alidade/spec/readable_number.hpp"

#include <fmt/format.h>

#include <cmath>

namespace alidade {

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

}  // namespace alidade
