#include "optimal_span.hpp"

#include <algorithm>

#include "coupling.hpp"
#include "error_recursion.hpp"
#include "reward_caps.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

ErrorRecursion optimal_span_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                      const OptimalSpans& spans, const ErrorRecursion& cap, Threads threads) {
    deviations.require_fit(learned);
    const Shape& shape = learned.shape();
    require_recursion_of(shape, cap);
    const bool anywhere = leads_anywhere(learned);
    const auto make = [&] {
        return [&, backup = SetBackup(learned), coupling = CouplingBackup(learned)](
                   Step h, Index pair, const std::vector<double>& next) mutable {
            const double tau = deviations.at(h, pair);
            const auto range = static_cast<double>(shape.steps_after(h));
            const double span = anywhere ? spans.over_all(h + 1)
                                         : spans.over(h + 1, learned.model().successors().targets(pair));
            return std::min(span * tau * (1 + 1e-12) + backup.upper(h, pair, next),
                            coupling(h, pair, tau, range, next));
        };
    };
    return run_backwards(shape, threads, make, [&](Step h, State s) {
        return std::min(cap.values(h, s), static_cast<double>(shape.steps_after(h)));
    });
}

}  // namespace alidade::detail
