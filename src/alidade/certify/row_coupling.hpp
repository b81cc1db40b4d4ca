#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alidade/types.hpp"

namespace alidade::detail {

/// A transition law: successors, ascending, and their probabilities.
struct RowLaw {
    std::span<const std::int32_t> targets;
    std::span<const double> law;
};

/// Couples two laws: what they share goes together, and what is left of either independently. With scratch
/// memory: one for each thread.
class RowCoupling {
public:
    void couple(const RowLaw& one, const RowLaw& other) {
        shared_.clear();
        left_.clear();
        right_.clear();
        double left = 0, right = 0;
        const auto keep = [](std::vector<Mass>& masses, std::int32_t target, double mass, double& sum) {
            if (!(mass > 0)) return;
            masses.push_back({target, mass});
            sum += mass;
        };
        std::size_t i = 0, j = 0;
        while (i < one.targets.size() || j < other.targets.size()) {
            const bool first =
                j == other.targets.size() || (i < one.targets.size() && one.targets[i] < other.targets[j]);
            const bool second =
                i == one.targets.size() || (j < other.targets.size() && other.targets[j] < one.targets[i]);
            if (first) {
                keep(left_, one.targets[i], one.law[i], left);
                ++i;
            } else if (second) {
                keep(right_, other.targets[j], other.law[j], right);
                ++j;
            } else {
                const double common = std::min(one.law[i], other.law[j]);
                if (common > 0) shared_.push_back({one.targets[i], common});
                keep(left_, one.targets[i], one.law[i] - common, left);
                keep(right_, other.targets[j], other.law[j] - common, right);
                ++i, ++j;
            }
        }
        // Both are what the other lacks, up to rounding.
        apart_ = std::min(left, right);
    }

    /// The mean of cost(x', y'), rounded outward. No cost is negative.
    template <class Cost>
    double mean(const Cost& cost) const {
        double together = 0, apart = 0;
        for (const Mass& mass : shared_) together += mass.amount * cost(mass.target, mass.target);
        for (const Mass& one : left_) {
            double sum = 0;
            for (const Mass& other : right_) sum += other.amount * cost(one.target, other.target);
            apart += one.amount * sum;
        }
        return (together + (apart_ > 0 ? apart / apart_ : 0)) * (1 + 1e-12);
    }

    /// Calls visit(x', y', probability) for all pairs that it leads to.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const Mass& mass : shared_) visit(mass.target, mass.target, mass.amount);
        if (!(apart_ > 0)) return;
        for (const Mass& one : left_)
            for (const Mass& other : right_)
                visit(one.target, other.target, one.amount * other.amount / apart_);
    }

private:
    struct Mass {
        std::int32_t target;
        double amount;
    };
    std::vector<Mass> shared_, left_, right_;
    double apart_ = 0;
};

}  // namespace alidade::detail
