#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace alidade::detail {

/// 64 bits over what a table of the run store holds, to notice damage. Every step is a bijection of the
/// state, so a change within one word is always noticed.
class Digest {
public:
    void add(std::uint64_t word) noexcept {
        state_ = (state_ ^ word) * 0x9E3779B97F4A7C15;
        state_ ^= state_ >> 32;
    }
    void add(std::int64_t word) noexcept { add(static_cast<std::uint64_t>(word)); }
    void add(std::span<const std::byte> bytes) noexcept {
        add(static_cast<std::uint64_t>(bytes.size()));
        for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t)))
            add(word_of(bytes));
        if (!bytes.empty()) add(word_of(bytes));
    }
    void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }

    std::uint64_t value() const noexcept { return state_; }

private:
    static std::uint64_t word_of(std::span<const std::byte> bytes) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), bytes.size() < sizeof word ? bytes.size() : sizeof word);
        return word;
    }

    std::uint64_t state_ = 0xCBF29CE484222325;
};

}  // namespace alidade::detail
