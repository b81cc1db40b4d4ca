#include "alidade/environment/continuous.hpp"

#include <cmath>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade {

Dynamics mixture_dynamics(std::vector<Simulator> simulators, Matrix weights) {
    expects(weights.rows() >= 1 && weights.cols() == std::ssize(simulators),
            "the weights have {} rows of {} numbers for {} simulators; they need one number for each",
            weights.rows(), weights.cols(), simulators.size());
    std::vector<std::vector<double>> rows;
    for (Index h = 0; h < weights.rows(); ++h) {
        const Vector row = weights.row(h);
        expects(row.allFinite() && row.minCoeff() >= 0 && std::abs(row.sum() - 1) <= 1e-9,
                "the weights of step {} are not convex: their smallest is {} and they sum to {}", h,
                row.minCoeff(), row.sum());
        rows.emplace_back(row.begin(), row.end());
    }
    return [simulators = std::move(simulators), rows = std::move(rows)](
               Step h, std::span<const double> state, Action a, Stream& random, std::span<double> next) {
        const auto row = rows.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(h);
        expects(row < rows.size(), "step {} of a mixture with weights for {} steps", h, rows.size());
        simulators[static_cast<std::size_t>(sample_categorical(random, rows[row]))](state, a, random, next);
    };
}

ContinuousEnvironment::ContinuousEnvironment(Grid grid, Index actions, Index horizon, StartPoint start,
                                             Dynamics dynamics)
    : grid_(std::move(grid)),
      shape_{grid_.cells(), actions, horizon},
      start_(std::move(start)),
      dynamics_(std::move(dynamics)),
      point_(static_cast<std::size_t>(grid_.dimensions()), 0.0),
      next_(point_),
      h_(horizon) {
    validate(shape_);
    expects(start_ != nullptr && dynamics_ != nullptr, "a continuous system needs a start and dynamics");
}

State ContinuousEnvironment::reset(Stream& random) {
    h_ = 0;
    start_(random, point_);
    return grid_.cell_of(point_);
}

State ContinuousEnvironment::step(Action action, Stream& random) {
    expects(h_ < shape_.horizon, "step {} of an episode of {}; reset the environment first", h_,
            shape_.horizon);
    expects(action >= 0 && action < shape_.actions, "action {} at step {}; must be 0 to {}", action, h_,
            shape_.actions - 1);
    dynamics_(h_, point_, action, random, next_);
    point_.swap(next_);
    ++h_;
    return grid_.cell_of(point_);
}

}  // namespace alidade
