#pragma once

#include <span>
#include <vector>

#include "alidade/model/shape.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A reward for every (step, state, action), each in [0, 1].
class Reward {
public:
    /// `values` holds H*S*A numbers, step-major then state-major, or S*A numbers for all steps alike.
    /// Throws InvalidArgument naming the first value that is not in [0, 1].
    Reward(const Shape& shape, std::vector<double> values);
    /// The same number everywhere.
    static Reward constant(const Shape& shape, double value);

    const Shape& shape() const noexcept { return shape_; }
    /// All rewards of step h, one for each pair.
    std::span<const double> at(Step h) const noexcept;
    double at(Step h, State s, Action a) const noexcept {
        return at(h)[static_cast<std::size_t>(shape_.pair(s, a))];
    }
    /// Whether the values were given once for all steps.
    bool stationary() const noexcept { return static_cast<Index>(values_.size()) == shape_.pairs(); }
    const std::vector<double>& values() const noexcept { return values_; }

    bool operator==(const Reward&) const = default;

private:
    Shape shape_;
    std::vector<double> values_;
};

}  // namespace alidade
