#pragma once

#include "alidade/error.hpp"

namespace alidade {

/// How many threads a computation may use: at least one. No result depends on it, bit for bit.
class Threads {
public:
    /// Throws InvalidArgument unless `count` is at least one. Not explicit, so that options read
    /// `.threads = 4`.
    Threads(int count = 1) : count_(count) {
        expects(count >= 1, "threads is {}; must be at least 1", count);
    }

    int count() const noexcept { return count_; }

    bool operator==(const Threads&) const = default;

private:
    int count_;
};

}  // namespace alidade
