#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace alidade::app {

/// A whole number of at least `least`: 100000, 100_000 and 1e5 are the same. Throws UserError naming the
/// flag.
std::int64_t parse_count(const std::string& text, std::string_view flag, std::int64_t least);

/// 1,234,567.
std::string with_commas(std::int64_t number);
/// A number for reading: four significant digits after the point at most, without an exponent if it fits.
std::string rounded(double value);
/// A bound for reading: four digits after the point, rounded outward so that it still holds.
std::string upper_bound(double value);
std::string lower_bound(double value);
/// "1.5 MB".
std::string memory_size(std::int64_t bytes);
/// "12 s", "3 min 05 s", "2.1 ms".
std::string duration(double seconds);

}  // namespace alidade::app
