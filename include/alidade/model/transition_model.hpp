#pragma once

#include <span>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A finite-horizon decision process without rewards, however it came about: P_h(s'|s,a) over a map of
/// successors, and a known start. What planners, evaluation and simulation need, and all that they see.
/// Immutable.
class TransitionModel {
public:
    /// `probabilities` has one number an entry, for each of the H steps or once for all of them. Throws
    /// InvalidArgument unless every transition is a distribution (>= -1e-9, sums to 1 within 1e-8); tiny
    /// negative probabilities are set to zero.
    TransitionModel(SharedSuccessors successors, Index horizon, StartLaw start,
                    std::vector<double> probabilities);

    /// A known model, the same at all steps. `kernel` has a row for each of states*actions pairs. Throws
    /// InvalidArgument as FeatureMap::from_base_kernels does.
    static TransitionModel from_kernel(const BaseKernel& kernel, Index actions, Index horizon,
                                       StartLaw start);

    const Shape& shape() const noexcept { return shape_; }
    const SuccessorMap& successors() const noexcept { return *successors_; }
    const SharedSuccessors& shared_successors() const noexcept { return successors_; }
    const StartLaw& start() const noexcept { return start_; }
    /// One kernel for all of several steps.
    bool homogeneous() const noexcept { return stationary_ && shape_.horizon > 1; }

    /// Probability of every entry at step h.
    std::span<const double> probabilities(Step h) const noexcept;
    /// Probabilities of one pair's successors at step h.
    std::span<const double> probabilities(Step h, Index pair) const noexcept;
    /// E[value(s') | s, a] at step h; `value` has one number a state.
    double expect(Step h, Index pair, std::span<const double> value) const noexcept;

private:
    Index row(Step h) const noexcept { return stationary_ ? 0 : h; }

    SharedSuccessors successors_;
    Shape shape_;
    StartLaw start_;
    bool stationary_ = false;            // one row of probabilities
    std::vector<double> probabilities_;  // one row, or H, of entries
};

}  // namespace alidade
