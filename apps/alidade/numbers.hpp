#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "alidade/spec/readable_number.hpp"

namespace alidade::app {

/// A whole number from `least` to `most`: 100000, 100_000, 1e5 and 0.1e6 are the same, and all are read
/// exactly. Throws UserError naming the flag.
std::int64_t parse_count(const std::string& text, std::string_view flag, std::int64_t least,
                         std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// A seed from 0 to 2^64 - 1, decimal or, behind 0x, hexadecimal. Throws UserError naming the flag.
std::uint64_t parse_seed(const std::string& text, std::string_view flag);

}  // namespace alidade::app
