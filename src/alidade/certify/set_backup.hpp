#pragma once

#include <memory>
#include <span>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The bounds of expectations of a learned model, held by value; every thread needs its own.
class SetBackup {
public:
    explicit SetBackup(const LearnedModel& learned, WorstCase worst = WorstCase::closed_form)
        : bounds_(learned.expectations(worst)) {}

    Interval operator()(Step h, Index pair, std::span<const double> value) {
        return (*bounds_)(h, pair, value);
    }

private:
    std::unique_ptr<ExpectationBounds> bounds_;
};

}  // namespace alidade::detail
