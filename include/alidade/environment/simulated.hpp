#pragma once

#include <vector>

#include "alidade/environment/environment.hpp"
#include "alidade/model/transition_model.hpp"

namespace alidade {

/// A mixture model played step by step.
class SimulatedEnvironment final : public Environment {
public:
    explicit SimulatedEnvironment(TransitionModel model);

    const Shape& shape() const override { return model_.shape(); }
    State reset(Stream& random) override;
    /// Throws InvalidArgument if the action is out of range or the episode is over (or never began).
    State step(Action action, Stream& random) override;

private:
    TransitionModel model_;
    std::vector<double> start_weights_;
    State state_ = 0;
    Step h_;
};

}  // namespace alidade
