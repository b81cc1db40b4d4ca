#include "model_gaps.hpp"

#include <algorithm>
#include <vector>

#include "../model/parallel.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

double largest_model_gaps(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                          Threads threads) {
    const Shape& shape = learned.shape();
    const OptimalPlan best = backward_induction(learned.model(), reward, threads);
    std::vector<double> next(at(shape.states), 0.0), now(next), values(next);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const bool last = h + 1 == shape.horizon;
        for (State s = 0; s < shape.states; ++s) values[at(s)] = best.values(h + 1, s);
        in_chunks(shape.states, 64, threads, [&](Index first, Index end) {
            SetBackup backup(learned);
            for (State s = first; s < end; ++s) {
                double sum = 0;
                for (Action a = 0; a < shape.actions; ++a) {
                    const double weight = policy.probability(h, s, a);
                    if (!(weight > 0)) continue;
                    const Index pair = shape.pair(s, a);
                    const double value =
                        reward.at(h, s, a) + (last ? 0 : learned.model().expect(h, pair, values));
                    const double gap = std::max(0.0, best.values(h, s) - value);
                    // The model is handed over, and need not be in all of several sets.
                    const double later =
                        last ? 0
                             : std::max(backup.upper(h, pair, next), learned.model().expect(h, pair, next));
                    sum += weight * (gap + later);
                }
                now[at(s)] = sum;
            }
        });
        next.swap(now);
    }
    return learned.model().start().expect(next);
}

}  // namespace alidade::detail
