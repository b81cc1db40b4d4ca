#pragma once

#include <memory>

#include "alidade/model/transition_operator.hpp"
#include "behaviour.hpp"
#include "likelihood_source.hpp"

namespace alidade::detail {

/// Exploration by Fisher information: greedy for a bonus under the smoothed maximum-likelihood model
/// [likelihood §5].
class FisherBehaviour final : public Behaviour {
public:
    FisherBehaviour(const BehaviourSetting& setting, std::shared_ptr<LikelihoodSource> source,
                    FisherBonus bonus = FisherBonus::sqrt);
    SetSource* source() const noexcept override { return source_.get(); }

private:
    bool due() const override { return source_->due(); }
    Policy choose() override;
    Action choose(const double* value, Step h, State s) const;

    BehaviourSetting setting_;
    FisherBonus bonus_;
    std::shared_ptr<LikelihoodSource> source_;
    std::unique_ptr<InformationPlanner> planner_;
};

}  // namespace alidade::detail
