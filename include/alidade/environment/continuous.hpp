#pragma once

#include <functional>
#include <span>
#include <vector>

#include "alidade/environment/environment.hpp"
#include "alidade/model/grid.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Draws the next point of a continuous system at step h, as a Simulator does.
using Dynamics = std::function<void(Step h, std::span<const double> state, Action action, Stream& random,
                                    std::span<double> next)>;

/// Draws the first point.
using StartPoint = std::function<void(Stream& random, std::span<double> first)>;

/// The mixture of simulators: at step h one is drawn with the weights of row h (of the only row, if there is
/// one) and draws the next point. Throws InvalidArgument unless every row is a distribution over them.
Dynamics mixture_dynamics(std::vector<Simulator> simulators, Matrix weights);

/// A system with a continuous state that is seen through a grid: the state stays hidden, and only its cell is
/// reported. What follows depends on the hidden state, so the cells are no Markov chain; how far from one is
/// what a problem's misspecification bounds.
class ContinuousEnvironment final : public Environment {
public:
    ContinuousEnvironment(Grid grid, Index actions, Index horizon, StartPoint start, Dynamics dynamics);

    const Shape& shape() const override { return shape_; }
    State reset(Stream& random) override;
    /// Throws InvalidArgument if the action is out of range or the episode is over (or never began).
    State step(Action action, Stream& random) override;

    /// The hidden point: for tests and pictures, never for an explorer.
    const std::vector<double>& point() const noexcept { return point_; }

private:
    Grid grid_;
    Shape shape_;
    StartPoint start_;
    Dynamics dynamics_;
    std::vector<double> point_, next_;
    Step h_;
};

}  // namespace alidade
