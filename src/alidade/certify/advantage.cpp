#include "advantage.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "../model/sweep.hpp"
#include "../theory/radii.hpp"
#include "advantage_state.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

/// The fewest pairs that are worth a chunk: each takes some microseconds.
constexpr Index pairs_an_advantage = 16;
/// The most states whose undecided actions wait in memory until SharedLoss takes them.
constexpr Index states_at_once = 1024;

double span_of(const std::vector<double>& value) {
    const auto [least, most] = std::ranges::minmax(value);
    return most - least;
}

class AdvantageRecursion {
public:
    AdvantageRecursion(const AdvantageQuestion& question, Threads threads)
        : question_(question),
          learned_(question.learned),
          shape_(learned_.shape()),
          sets_(static_cast<Index>(learned_.sets().size())),
          second_order_(learned_),
          shared_loss_(learned_, question.policy, threads),
          step_{{shape_.states, sets_ * learned_.model().features().features()},
                {shape_.states, sets_ * learned_.model().features().features()}},
          at_once_(std::min(shape_.states, states_at_once)),
          found_(at(at_once_)),
          threads_(threads) {}

    AdvantageBounds run() {
        // States go in blocks, and each block of each step is a step of the sweep.
        const Index blocks = (shape_.states + at_once_ - 1) / at_once_;
        const Sweep sweep({at_once_, shape_.actions, shape_.horizon}, threads_, pairs_an_advantage);
        const auto make = [&] { return AdvantageState(question_, second_order_, shared_loss_, step_); };
        const auto before = [&](Index k) {
            if (k > 0) take(shape_.horizon - 1 - (k - 1) / blocks, (k - 1) % blocks);
            if (k % blocks == 0) begin(shape_.horizon - 1 - k / blocks);
        };
        const auto work = [&](AdvantageState& state, Index k, State first, State last) {
            const Index offset = k % blocks * at_once_;
            const State end = std::min(last, shape_.states - offset);
            for (State i = first; i < end; ++i)
                state.run(shape_.horizon - 1 - k / blocks, offset + i, found_[at(i)]);
        };
        sweep.forwards(shape_.horizon * blocks, make, work, before);
        take(0, blocks - 1);
        std::swap(step_.now, step_.next);
        return result();
    }

private:
    bool last(Step h) const { return h + 1 >= shape_.horizon; }

    /// What was computed becomes what is known.
    void begin(Step h) {
        if (!last(h)) std::swap(step_.now, step_.next);
        const bool misspecified = learned_.misspecification() > 0 && learned_.reach() == Reach::anywhere;
        // Off the mixture the truth may lead to any state, so spans are over all of them.
        step_.value_span = misspecified ? span_of(step_.next.value) : 0;
        step_.middle_span = misspecified ? span_of(step_.next.middle) : 0;
        // Sets before those of the next step do not matter any more; where data are pooled it is always the
        // one.
        if (!last(h)) second_order_.prepare(last(h + 1) ? sets_ : learned_.set_index(h + 1), step_.next.sums);
    }

    /// Hands over what the states of a block have found, in their order.
    void take(Step h, Index block) {
        const Index offset = block * at_once_;
        for (State i = 0; i < std::min(at_once_, shape_.states - offset); ++i) {
            FoundActions& found = found_[at(i)];
            for (FoundActions::First& first : found.first)
                shared_loss_.add_first(first.action, first.bound, std::move(first.advantage));
            if (!found.undecided.empty()) shared_loss_.add(h, offset + i, std::move(found.undecided));
            margin_ = std::min(margin_, found.margin);
            found.margin = std::numeric_limits<double>::infinity();
            found.first.clear();
            found.undecided.clear();
        }
    }

    /// The mean over the start; not zero by underflow.
    double expected_loss(const std::vector<double>& loss) const {
        const StartLaw& start = learned_.model().start();
        const double mean = start.expect(loss);
        const bool some = std::ranges::any_of(
            start.atoms(), [&](const auto& atom) { return atom.second > 0 && loss[at(atom.first)] > 0; });
        return some ? std::max(mean, std::numeric_limits<double>::denorm_min()) : mean;
    }

    AdvantageBounds result() const {
        const StartLaw& start = learned_.model().start();
        const double slack = rounding_slack(shape_.horizon);
        // A loss of exactly 0 is a proof, so it gets no slack: each advantage that is not known without
        // rounding has had one of its own [docs/algorithms/likelihood.md, Rounding, underflow, and bounds
        // that are exactly 0].
        const auto widened = [&](double loss) { return loss > 0 ? loss + slack : 0.0; };
        // V^pi = V~ + e_0, and [low, high] contains e_0 at every state [docs/algorithms/likelihood.md, The
        // value].
        const double value = start.expect(step_.next.value);
        return {
            widened(std::min(expected_loss(step_.next.loss), shared_loss_.bound(question_.sharpened))),
            widened(expected_loss(step_.next.gap)),
            {std::max(0.0, value + start.expect(step_.next.low) - slack),
             std::min(static_cast<double>(shape_.horizon), value + start.expect(step_.next.high) + slack)},
            margin_};
    }

    AdvantageQuestion question_;
    const LearnedMixture& learned_;
    const Shape& shape_;
    Index sets_;
    SecondOrder second_order_;
    SharedLoss shared_loss_;
    AdvantageStep step_;
    Index at_once_;
    std::vector<FoundActions> found_;  ///< of the states of the block in hand
    double margin_ = std::numeric_limits<double>::infinity();
    Threads threads_;
};

}  // namespace

AdvantageBounds advantage_bounds(const LearnedMixture& learned, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, const ValueBounds& bounds,
                                 Threads threads, const NearRewards* near, int sharpened) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape && policy.shape() == shape,
            "reward and policy must have the model's shape ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    for (const Matrix* values : {&bounds.policy_lower, &bounds.policy_upper, &bounds.optimal_upper})
        expects(values->rows() == shape.horizon + 1 && values->cols() == shape.states,
                "value bounds have {} rows of {}; must have {} rows of {}", values->rows(), values->cols(),
                shape.horizon + 1, shape.states);
    deviations.require_fit(learned);
    return AdvantageRecursion({learned, deviations, reward, policy, bounds, near, sharpened}, threads).run();
}

}  // namespace alidade::detail
