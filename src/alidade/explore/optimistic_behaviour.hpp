#pragma once

#include <memory>

#include "alidade/model/threads.hpp"
#include "behaviour.hpp"
#include "regression_source.hpp"

namespace alidade::detail {

/// How actions are chosen that clipped values do not tell apart.
enum class Ties {
    unclipped,  ///< the value before it is clipped decides, then a draw
    first,      ///< the first action, as a printed argmax does: no signal while everything is clipped
                ///< [likelihood §8.4]
};

/// The paper's Algorithm 1 with the sharp constants of [theory §3]: the greedy policy of
/// E_h = max_a min(H-1-h, (H-1-h) beta width + P~ E_{h+1}) in place of the paper's doubly optimistic Q
/// [paper, Alg. 1 lines 8-13; oracle §0.4]. With the paper's constants, Algorithm 1 as printed, each
/// departure said at its line in the source.
class OptimisticBehaviour final : public Behaviour {
public:
    OptimisticBehaviour(const BehaviourSetting& setting, std::shared_ptr<RegressionSource> source,
                        Ties ties = Ties::unclipped);
    SetSource* source() const noexcept override { return source_.get(); }

private:
    bool due() const override { return source_->due(); }
    Policy choose() override;
    Action choose(const double* values, Step h, State s) const;

    std::uint64_t seed_;
    Threads threads_;
    Ties ties_;
    std::shared_ptr<RegressionSource> source_;
};

/// Every action equally likely: the baseline.
class UniformBehaviour final : public Behaviour {
public:
    /// New policies are counted when `source` is due, so that its runs are comparable.
    UniformBehaviour(const BehaviourSetting& setting, std::shared_ptr<SetSource> source);
    SetSource* source() const noexcept override { return source_.get(); }

private:
    bool due() const override { return source_->due(); }
    Policy choose() override;

    std::shared_ptr<SetSource> source_;
};

}  // namespace alidade::detail
