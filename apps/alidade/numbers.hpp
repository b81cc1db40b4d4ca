#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace alidade::app {

/// A whole number from `least` to `most`: 100000, 100_000, 1e5 and 0.1e6 are the same, and all are read
/// exactly. Throws UserError naming the flag.
std::int64_t parse_count(const std::string& text, std::string_view flag, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// A seed from 0 to 2^64 - 1, decimal or, behind 0x, hexadecimal. Throws UserError naming the flag.
std::uint64_t parse_seed(const std::string& text, std::string_view flag);

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
