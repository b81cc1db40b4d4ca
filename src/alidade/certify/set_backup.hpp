#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The bounds of expectations of a learned model, held by value, for one recursion: it goes from step to
/// step, and the values that it asks about do not change while it is at a step. Every thread needs its own.
class SetBackup {
public:
    explicit SetBackup(const LearnedModel& learned, WorstCase worst = WorstCase::closed_form)
        : bounds_(learned.expectations(worst)),
          anywhere_(learned.mixture() != nullptr && learned.mixture()->misspecification() > 0 &&
                    learned.mixture()->reach() == Reach::anywhere) {}

    Interval operator()(Step h, Index pair, std::span<const double> value) {
        return anywhere_ ? bounds_->knowing_extremes(h, pair, value, extremes(h, value))
                         : (*bounds_)(h, pair, value);
    }

    /// The upper end alone.
    double upper(Step h, Index pair, std::span<const double> value) {
        return bounds_->upper_knowing_extremes(h, pair, value, anywhere_ ? extremes(h, value) : Interval{});
    }

private:
    /// Of the whole value, once a step and not once a pair.
    const Interval& extremes(Step h, std::span<const double> value) {
        if (h != step_) known_.clear();
        step_ = h;
        for (const auto& [data, interval] : known_)
            if (data == value.data()) return interval;
        const auto [least, most] = std::ranges::minmax(value);
        return known_.emplace_back(value.data(), Interval{least, most}).second;
    }

    std::unique_ptr<ExpectationBounds> bounds_;
    bool anywhere_;  // the truth may be off its mixture, and so lead to any state
    Step step_ = -1;
    std::vector<std::pair<const double*, Interval>> known_;  // of the values of `step_`
};

}  // namespace alidade::detail
