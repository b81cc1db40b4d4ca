#pragma once

#include "lanes.hpp"

namespace alidade::detail {

/// One binary serves all machines: `Kernel::run<Number>(arguments...)`, which must be ALIDADE_INLINE,
/// compiled for every width of vectors, each with the instructions that have it.
template <class Kernel, class... Arguments>
class ByLanes {
public:
    using Function = void (*)(Arguments...);

    /// The version of that width, or of the widest below it that this machine has.
    static Function of([[maybe_unused]] LaneWidth width) {
#if ALIDADE_WIDER_LANES
        if (width == LaneWidth::eight) return eight;
        if (width == LaneWidth::four) return four;
#endif
#if ALIDADE_LANES
        if (width != LaneWidth::one) return two;
#endif
        return one;
    }

private:
#if ALIDADE_WIDER_LANES
    [[gnu::target("avx512f")]] static void eight(Arguments... given) {
        Kernel::template run<EightLanes>(given...);
    }
    [[gnu::target("avx2")]] static void four(Arguments... given) {
        Kernel::template run<FourLanes>(given...);
    }
#endif
#if ALIDADE_LANES
    static void two(Arguments... given) {
        Kernel::template run<TwoLanes>(given...);
    }
#endif
    static void one(Arguments... given) {
        Kernel::template run<double>(given...);
    }
};

}  // namespace alidade::detail
