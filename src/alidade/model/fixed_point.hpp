#pragma once

#include <cmath>
#include <cstdint>

namespace alidade::detail {

/// A sum of numbers from 0 to 1 in fixed point, each rounded up to a multiple of 2^-63: integers, so that any
/// order gives the same bits, and never below the sum. Up to 2^31 numbers.
class FixedPointSum {
public:
    /// `x` is not negative and at most one.
    void add(double x) noexcept {
        // 31 bits after the point, exactly, and of what is left 32 more, rounded up.
        const double scaled = x * 0x1p31, whole = std::floor(scaled);
        high_ += static_cast<std::uint64_t>(whole);
        low_ += static_cast<std::uint64_t>(std::ceil((scaled - whole) * 0x1p32));
    }
    void add(const FixedPointSum& other) noexcept {
        high_ += other.high_;
        low_ += other.low_;
    }

    /// At least the sum.
    double upper() const noexcept {
        // Carries are kept back until here. Both conversions may round down by one unit of 2^-53.
        const double sum = static_cast<double>(high_) * 0x1p-31 + static_cast<double>(low_) * 0x1p-63;
        return sum * (1 + 0x1p-50);
    }
    bool operator==(const FixedPointSum&) const = default;

private:
    std::uint64_t high_ = 0, low_ = 0;
};

}  // namespace alidade::detail
