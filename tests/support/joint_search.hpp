#pragma once

#include <optional>
#include <vector>

#include "alidade/certify/relaxation.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/explore/joint_source.hpp"
#include "support/sources_of.hpp"

namespace alidade::support {

/// What the last search of Algorithm 2 found in a run.
struct JointSearch {
    double found = 0;             ///< of today's problem, by the point found: a lower end of its maximum
    double relaxed = 0;           ///< B: no search can find more
    std::vector<Vector> weights;  ///< theta~ of the point
};

/// Nothing if the run's first sets are of another algorithm.
inline std::optional<JointSearch> joint_search(const Explorer& explorer) {
    const auto* source = dynamic_cast<const detail::JointSource*>(sources_of(explorer).front().get());
    if (source == nullptr || !source->solution()) return std::nullopt;
    const detail::JointProblem problem = source->problem();
    const detail::JointPoint& point = source->solution()->point;
    return JointSearch{detail::attained_value(problem, point),
                       detail::relaxed_value(problem, detail::relaxation(problem, {})), point.weights};
}

}  // namespace alidade::support
