#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// One candidate transition kernel in compressed sparse rows: row s*A+a is the law of the next state.
/// Plain data; FeatureMap validates it.
struct BaseKernel {
    std::string name;                   ///< for messages and reports; may be empty
    Index rows = 0;                     ///< S*A
    Index columns = 0;                  ///< S
    std::vector<std::int64_t> offsets;  ///< rows+1 positions into `targets`, non-decreasing from 0
    std::vector<std::int64_t> targets;  ///< next states; duplicates in a row are summed, zeros dropped
    std::vector<double> probabilities;  ///< as long as `targets`; each row sums to 1 within 1e-9

    bool operator==(const BaseKernel&) const = default;
};

}  // namespace alidade
