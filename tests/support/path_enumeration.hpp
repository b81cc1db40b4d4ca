#pragma once

#include <functional>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/types.hpp"

/// The law of episodes by listing them all: slow, and with nothing in common with dynamic programming.
namespace alidade::support {

namespace detail {

inline void extend_path(const MixtureModel& model, const Policy& policy, State state, double probability,
                        Episode& path, const std::function<void(const Episode&, double)>& visit) {
    const Shape& shape = model.shape();
    const auto h = static_cast<Step>(path.states.size());
    path.states.push_back(state);
    for (Action a = 0; a < shape.actions; ++a) {
        const double taken = probability * policy.probability(h, state, a);
        if (taken == 0) continue;
        path.actions.push_back(a);
        if (h + 1 == shape.horizon) {
            visit(path, taken);
        } else {
            const Index pair = shape.pair(state, a);
            const auto targets = model.features().targets(pair);
            const auto law = model.probabilities(h, pair);
            for (std::size_t i = 0; i < law.size(); ++i) {
                if (law[i] > 0) extend_path(model, policy, targets[i], taken * law[i], path, visit);
            }
        }
        path.actions.pop_back();
    }
    path.states.pop_back();
}

}  // namespace detail

/// Calls visit(episode, probability) for every episode that the policy can have.
inline void for_each_path(const MixtureModel& model, const Policy& policy,
                          const std::function<void(const Episode&, double)>& visit) {
    Episode path;
    for (const auto& [state, probability] : model.start().atoms()) {
        if (probability > 0) detail::extend_path(model, policy, state, probability, path, visit);
    }
}

}  // namespace alidade::support
