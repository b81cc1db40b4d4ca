#include "alidade/environment/simulated.hpp"

#include <utility>

#include "alidade/error.hpp"
#include "draws.hpp"

namespace alidade {

SimulatedEnvironment::SimulatedEnvironment(TransitionModel model)
    : model_(std::move(model)),
      start_weights_(detail::start_weights(model_.start())),
      h_(model_.shape().horizon) {}

State SimulatedEnvironment::reset(Stream& random) {
    h_ = 0;
    state_ = detail::sample_start(random, model_.start(), start_weights_);
    return state_;
}

State SimulatedEnvironment::step(Action action, Stream& random) {
    const Shape& shape = model_.shape();
    expects(h_ < shape.horizon, "step {} of an episode of {}; reset the environment first", h_,
            shape.horizon);
    expects(action >= 0 && action < shape.actions, "action {} at step {}; must be 0 to {}", action, h_,
            shape.actions - 1);
    const Index entry = detail::sample_entry(random, model_, h_, shape.pair(state_, action));
    state_ = model_.successors().targets()[static_cast<std::size_t>(entry)];
    ++h_;
    return state_;
}

}  // namespace alidade
