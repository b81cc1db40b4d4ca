#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Throws InvalidArgument unless a policy (or whatever `what` names) fits the system.
inline void expect_system_shape(const Shape& system, const Shape& other, const char* what) {
    expects(system == other,
            "the {} is for {} states, {} actions and horizon {}, the system has {}, {} and {}", what,
            other.states, other.actions, other.horizon, system.states, system.actions, system.horizon);
}

/// The probabilities of the start law's atoms, in their order.
inline std::vector<double> start_weights(const StartLaw& start) {
    std::vector<double> weights;
    for (const auto& [state, probability] : start.atoms()) weights.push_back(probability);
    return weights;
}

/// The law over actions of a stochastic policy at (h, s).
inline std::span<const double> action_law(const Policy& policy, Step h, State s) {
    const auto actions = static_cast<std::size_t>(policy.shape().actions);
    const auto row = static_cast<std::size_t>(h * policy.shape().states + s);
    return std::span(policy.probabilities()).subspan(row * actions, actions);
}

/// A first state. Draws nothing if there is only one.
inline State sample_start(Stream& random, const StartLaw& start, std::span<const double> weights) {
    const auto atom = weights.size() == 1 ? 0 : sample_categorical(random, weights);
    return start.atoms()[static_cast<std::size_t>(atom)].first;
}

/// The action at (h, s). Draws nothing if the policy is deterministic.
inline Action sample_action(Stream& random, const Policy& policy, Step h, State s) {
    if (policy.is_deterministic()) return policy.action(h, s);
    return sample_categorical(random, action_law(policy, h, s));
}

/// The entry of a transition from `pair` at step h.
inline Index sample_entry(Stream& random, const TransitionModel& model, Step h, Index pair) {
    return model.successors().first_entry(pair) + sample_categorical(random, model.probabilities(h, pair));
}

/// As sample_multinomial, at a cost that also suits few trials.
inline void split(Stream& random, std::int64_t trials, std::span<const double> weights,
                  std::span<std::int64_t> cells) {
    // A draw a trial is cheaper than a binomial a cell.
    if (trials <= std::ssize(weights)) {
        std::ranges::fill(cells, 0);
        for (std::int64_t k = 0; k < trials; ++k) {
            ++cells[static_cast<std::size_t>(sample_categorical(random, weights))];
        }
        return;
    }
    sample_multinomial(random, trials, weights, cells);
}

}  // namespace alidade::detail
