#pragma once

#include <string>

namespace alidade::support {

/// Whether a candidate bounds the loss of greedy plans alone, or of the only plan there is; not the error of
/// every policy's value, as half of the others does.
inline bool of_greedy_plans(const std::string& name) {
    return name == "optimal-span" || name == "two-chain" || name == "one-action";
}

}  // namespace alidade::support
