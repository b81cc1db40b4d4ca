#pragma once

#include <string>

#include "alidade/error.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A transition that was seen and that no base model can produce: nothing can count it.
class ImpossibleTransition : public ModelContradiction {
public:
    ImpossibleTransition(const std::string& what, Step step, State state, Action action, State successor)
        : ModelContradiction(what), step_(step), state_(state), action_(action), successor_(successor) {}

    Step step() const noexcept { return step_; }
    State state() const noexcept { return state_; }
    Action action() const noexcept { return action_; }
    /// The state that followed.
    State successor() const noexcept { return successor_; }

private:
    Step step_;
    State state_;
    Action action_;
    State successor_;
};

}  // namespace alidade
