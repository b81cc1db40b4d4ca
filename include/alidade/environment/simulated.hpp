#pragma once

#include "alidade/environment/environment.hpp"
#include "alidade/model/mixture_model.hpp"

namespace alidade {

/// A mixture model played step by step.
class SimulatedEnvironment final : public Environment {
public:
    explicit SimulatedEnvironment(MixtureModel model);

    const Shape& shape() const override { return model_.shape(); }
    State reset(Stream& random) override;
    State step(Action action, Stream& random) override;

private:
    MixtureModel model_;
    State state_ = 0;
    Step h_ = 0;
};

}  // namespace alidade
