#include "sweep.hpp"

#include "parallel.hpp"

namespace alidade::detail {

namespace {

/// More chunks than threads, so that one that is held up does not hold up the others for long.
constexpr Index chunks_a_thread = 4;

Index rounded_up(Index count, Index multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

Sweep::Sweep(const Shape& shape, Threads threads, Index grain)
    : states_(shape.states),
      states_each_(shape.states),
      chunks_(1),
      threads_(usable_threads(threads.count())) {
    if (threads_ == 1) return;
    const Index worthwhile = (grain + shape.actions - 1) / shape.actions;
    const Index shared = (states_ + chunks_a_thread * threads_ - 1) / (chunks_a_thread * threads_);
    states_each_ = rounded_up(std::max({worthwhile, shared, Index{1}}), alignment);
    chunks_ = std::max<Index>(1, (states_ + states_each_ - 1) / states_each_);
}

void Sweep::run_chunks(Index steps, const Before& before, const Chunk& chunk) const {
    const Crew crew(threads_);
    for (Index step = 0; step < steps; ++step) {
        before(step);
        crew.share(chunks_, 1, [&](Index first, Index last) {
            for (Index c = first; c < last; ++c) chunk(step, c);
        });
    }
}

}  // namespace alidade::detail
