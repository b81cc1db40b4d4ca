#include "optimal_spans.hpp"

#include <algorithm>
#include <limits>

#include "../model/parallel.hpp"
#include "row_coupling.hpp"
#include "span.hpp"

namespace alidade::detail {

namespace {

/// Of every pair of states, 1 + max_a min_b of the coupled mean of the next step's, the first state's order.
void spans_of_step(const LearnedModel& learned, Step h, std::span<const double> next, Threads threads,
                   std::span<double> now) {
    const Shape& shape = learned.shape();
    const SuccessorMap& successors = learned.model().successors();
    const std::vector<double> laws = learned.model().all_probabilities(h);
    const auto law_of = [&](Index pair) {
        return RowLaw{successors.targets(pair), std::span(laws).subspan(at(successors.first_entry(pair)),
                                                                        at(successors.successors(pair)))};
    };
    const auto most = static_cast<double>(shape.horizon - h);
    in_chunks(shape.states, 1, threads, [&](Index first, Index last) {
        RowCoupling coupling;
        const auto cost = [&](State i, State j) { return next[at(i * shape.states + j)]; };
        for (State x = first; x < last; ++x)
            for (State y = 0; y < shape.states; ++y) {
                if (x == y) continue;
                double worst = 0;
                for (Action a = 0; a < shape.actions; ++a) {
                    double least = std::numeric_limits<double>::infinity();
                    for (Action b = 0; b < shape.actions && least > worst; ++b) {
                        coupling.couple(law_of(shape.pair(x, a)), law_of(shape.pair(y, b)));
                        least = std::min(least, coupling.mean(cost));
                    }
                    worst = std::max(worst, least);
                }
                now[at(x * shape.states + y)] = std::min(most, 1 + worst);
            }
    });
}

}  // namespace

OptimalSpans::OptimalSpans(const LearnedModel& learned, Threads threads)
    : states_(learned.shape().states), of_step_(value_spans(learned, threads)) {
    const Shape& shape = learned.shape();
    if (shape.pairs() * shape.pairs() > most_pairs_of_pairs) return;
    const std::size_t size = at(states_ * states_);
    between_.assign(at(shape.horizon + 1), std::vector<double>(size, 0.0));
    std::vector<double> next(size, 0.0), now(size, 0.0);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        if (h == shape.horizon - 1) {
            // Rewards alone.
            for (State x = 0; x < states_; ++x)
                for (State y = 0; y < states_; ++y) now[at(x * states_ + y)] = x == y ? 0 : 1;
        } else {
            spans_of_step(learned, h, next, threads, now);
        }
        double most = 0;
        for (State x = 0; x < states_; ++x)
            for (State y = 0; y < states_; ++y) {
                const double both = std::max(now[at(x * states_ + y)], now[at(y * states_ + x)]);
                between_[at(h)][at(x * states_ + y)] = both;
                most = std::max(most, both);
            }
        of_step_[at(h)] = std::min(of_step_[at(h)], most);
        next.swap(now);
    }
}

double OptimalSpans::over(Step h, std::span<const std::int32_t> states) const noexcept {
    if (!pairwise()) return states.size() > 1 ? of_step_[at(h)] : 0;
    double most = 0;
    for (std::size_t i = 0; i < states.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) most = std::max(most, between(h, states[i], states[j]));
    return most;
}

double OptimalSpans::across(Step h, std::span<const std::int32_t> one,
                            std::span<const std::int32_t> other) const noexcept {
    double most = 0;
    for (const std::int32_t i : one)
        for (const std::int32_t j : other) {
            most = std::max(most, between(h, i, j));
            if (!pairwise() && most > 0) return most;
        }
    return most;
}

}  // namespace alidade::detail
