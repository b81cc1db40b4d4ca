#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/shape.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What to do at each (step, state): an action, or a distribution over actions.
class Policy {
public:
    /// H*S actions, step-major. Throws InvalidArgument naming the first action out of range.
    static Policy deterministic(const Shape& shape, std::vector<std::int32_t> actions);
    /// H*S*A probabilities; each (step, state) sums to one within 1e-9 and is scaled to
    /// do so up to rounding.
    static Policy stochastic(const Shape& shape, std::vector<double> probabilities);
    /// Every action equally likely everywhere.
    static Policy uniform(const Shape& shape);

    const Shape& shape() const noexcept { return shape_; }
    bool is_deterministic() const noexcept { return !actions_.empty(); }
    /// The action at (h, s). Requires is_deterministic().
    Action action(Step h, State s) const noexcept {
        return actions_[static_cast<std::size_t>(h * shape_.states + s)];
    }
    double probability(Step h, State s, Action a) const noexcept;
    /// The H*S actions of a deterministic policy; empty otherwise.
    const std::vector<std::int32_t>& actions() const noexcept { return actions_; }
    /// The H*S*A probabilities of a stochastic policy; empty otherwise.
    const std::vector<double>& probabilities() const noexcept { return probabilities_; }

    bool operator==(const Policy&) const = default;

private:
    Policy(const Shape& shape) : shape_(shape) {}

    Shape shape_;
    std::vector<std::int32_t> actions_;
    std::vector<double> probabilities_;
};

}  // namespace alidade
