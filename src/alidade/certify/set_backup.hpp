#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Bounds of E[value(s')] over the confidence set of a step, and over all laws that are farther from it by
/// the misspecification at most: they move a value by that share of its span [theory §1.1]. The last step's
/// value is zero.
class SetBackup {
public:
    /// `exact`: by each set's support function, which is monotone in the value, instead of closed forms.
    explicit SetBackup(const LearnedModel& learned, bool exact = false)
        : learned_(learned), direction_(static_cast<std::size_t>(learned.model().features().features())) {
        if (!exact) return;
        for (const ConfidenceSet& set : learned.sets()) supports_.push_back(set.support_function());
    }

    Interval operator()(Step h, Index pair, const std::vector<double>& value) {
        if (h + 1 >= learned_.shape().horizon) return {0, 0};
        const FeatureMap& features = learned_.model().features();
        const Index d = features.features();
        std::ranges::fill(direction_, 0.0);
        double largest = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            const double v = value[static_cast<std::size_t>(features.targets()[static_cast<std::size_t>(e)])];
            const double* phi = features.values().data() + e * d;
            largest = std::max(largest, std::abs(v));
            for (Index i = 0; i < d; ++i) direction_[static_cast<std::size_t>(i)] += v * phi[i];
        }
        Interval range = learned_.set(h).range(direction_);
        if (!supports_.empty())
            range = cut(range, supports_[static_cast<std::size_t>(learned_.set_index(h))]);
        if (largest > 0 && range.upper < underflow) {
            // Each product may have been rounded by the least number there is: zero must be a proof.
            const double lost =
                static_cast<double>(features.successors(pair)) * std::numeric_limits<double>::denorm_min();
            range = {range.lower - lost, range.upper + lost};
        }
        if (learned_.misspecification() > 0) {
            const auto [least, most] = std::ranges::minmax(value);
            const double off = learned_.misspecification() * (most - least);
            range = {std::max(least, range.lower - off), std::min(most, range.upper + off)};
        }
        return range;
    }

private:
    static constexpr double underflow = 1e-300;

    /// Both are bounds, so the tighter end on each side is one.
    Interval cut(Interval range, const SupportFunction& support) {
        range.upper = std::min(range.upper, support.bracket(direction_).upper);
        for (double& element : direction_) element = -element;
        range.lower = std::max(range.lower, -support.bracket(direction_).upper);
        return range;
    }

    const LearnedModel& learned_;
    std::vector<double> direction_;
    std::vector<SupportFunction> supports_;
};

}  // namespace alidade::detail
