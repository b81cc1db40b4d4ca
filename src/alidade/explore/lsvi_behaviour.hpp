#pragma once

#include <memory>

#include "../certify/linear_values.hpp"
#include "behaviour.hpp"
#include "linear_source.hpp"

namespace alidade::detail {

/// The paper's Algorithm 3: the greedy policy of optimistic least-squares value iteration whose reward is the
/// bonus u itself, or u/H.
class LsviBehaviour final : public Behaviour {
public:
    LsviBehaviour(const BehaviourSetting& setting, std::shared_ptr<LinearSource> source,
                  ExplorationReward reward);

    SetSource* source() const noexcept override { return source_.get(); }

private:
    bool due() const override { return source_->due(); }
    Policy choose() override;

    std::uint64_t seed_;
    std::shared_ptr<LinearSource> source_;
    ExplorationReward reward_;
};

}  // namespace alidade::detail
