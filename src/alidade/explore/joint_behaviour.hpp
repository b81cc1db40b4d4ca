#pragma once

#include <memory>

#include "behaviour.hpp"
#include "joint_source.hpp"

namespace alidade::detail {

/// The paper's Algorithm 2: does what maximises how uncertain the value of some reward is
/// [paper, Alg. 2 lines 8-11].
class JointBehaviour final : public Behaviour {
public:
    JointBehaviour(const BehaviourSetting& setting, std::shared_ptr<JointSource> source)
        : Behaviour(setting.task.shape(), setting.schedule), source_(std::move(source)) {}
    SetSource* source() const noexcept override { return source_.get(); }

private:
    bool due() const override { return source_->due(); }
    Policy choose() override {
        source_->refresh();
        return source_->policy();
    }

    std::shared_ptr<JointSource> source_;
};

}  // namespace alidade::detail
