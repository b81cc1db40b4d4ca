#pragma once

#include <vector>

#include "alidade/types.hpp"
#include "second_order.hpp"

namespace alidade::detail {

/// What is known at one step, for every state.
struct StepBounds {
    std::vector<double> value;           ///< V~
    std::vector<double> low, high;       ///< of V^pi - V~
    std::vector<double> remainder;       ///< |Rem(s, pi)| is at most this
    std::vector<double> sums;            ///< M_{h->k}(s, pi): states x sets x d
    std::vector<double> loss, gap;       ///< bounds of V* - V^pi
    std::vector<double> upper;           ///< of V^pi, by intervals
    std::vector<double> middle, radius;  ///< of the interval of V^pi

    StepBounds(Index states, Index numbers)
        : value(at(states), 0.0),
          low(value),
          high(value),
          remainder(value),
          sums(at(states * numbers), 0.0),
          loss(value),
          gap(value),
          upper(value),
          middle(value),
          radius(value) {}
};

/// A step in hand, which is computed from the next one.
struct AdvantageStep {
    StepBounds now, next;
    /// Of the next step, over all states; zero where the truth cannot lead to all.
    double value_span = 0, middle_span = 0;
};

/// What belongs to one action at the state in hand.
struct ActionBounds {
    double probability = 0, reward = 0, value = 0, remainder = 0;
    double spread = 0;     ///< most that the radius of the next value is expected to be
    double unsettled = 0;  ///< |(P - P~) Rem| at the next step is at most this
    SecondOrder::Form second_order;
    std::vector<double> sums;    ///< M_{h->k}(s, a): sets x d
    std::vector<double> middle;  ///< phi of the next middle: d
};

}  // namespace alidade::detail
