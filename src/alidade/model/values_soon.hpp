#pragma once

#include <cstdint>

#include "alidade/types.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// Values that are read some blocks later, to be called for a few at a time while there is other work: they
/// lie anywhere, and a machine forgets most of what is called for all at once.
class ValuesSoon {
public:
    ValuesSoon() = default;
    constexpr ValuesSoon(const double* values, const std::int32_t* states, Index count)
        : values_(values), state_(states), left_(count) {}

    constexpr Index left() const noexcept { return left_; }
    ALIDADE_INLINE void call_for([[maybe_unused]] Index some) {
#if ALIDADE_LANES
        for (some = some < left_ ? some : left_, left_ -= some; some > 0; --some, ++state_)
            __builtin_prefetch(values_ + *state_);
#endif
    }

private:
    const double* values_ = nullptr;
    const std::int32_t* state_ = nullptr;
    Index left_ = 0;
};

}  // namespace alidade::detail
