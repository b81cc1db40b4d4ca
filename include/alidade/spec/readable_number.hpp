#pragma once

#include <cstdint>
#include <string>

/// Numbers as people read them.
namespace alidade {

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

}  // namespace alidade
