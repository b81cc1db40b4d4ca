#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace alidade::report::detail {

/// Bytes as text [RFC 4648].
std::string base64(std::string_view bytes);

/// The SHA-256 digest, 32 bytes [FIPS 180-4]: by it a content security policy knows the page's own script.
std::array<std::uint8_t, 32> sha256(std::string_view bytes);

/// "'sha256-...'", as a content security policy names a script or a style sheet.
std::string policy_hash(std::string_view text);

}  // namespace alidade::report::detail
