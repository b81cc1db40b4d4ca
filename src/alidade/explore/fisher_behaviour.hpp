#pragma once

#include <memory>

#include "behaviour.hpp"
#include "fisher_bonus.hpp"
#include "likelihood_source.hpp"

namespace alidade::detail {

class FisherPass;

/// Exploration by Fisher information: greedy for a bonus under the smoothed maximum-likelihood model
/// [likelihood §5].
class FisherBehaviour final : public Behaviour {
public:
    FisherBehaviour(const BehaviourSetting& setting, std::shared_ptr<LikelihoodSource> source,
                    FisherBonus bonus = FisherBonus::sqrt);
    ~FisherBehaviour() override;
    SetSource* source() const noexcept override { return source_.get(); }

private:
    bool due() const override { return source_->due(); }
    Policy choose() override;
    Action choose(const double* value, Step h, State s) const;

    BehaviourSetting setting_;
    FisherBonus bonus_;
    std::shared_ptr<LikelihoodSource> source_;
    std::unique_ptr<FisherPass> pass_;
};

}  // namespace alidade::detail
