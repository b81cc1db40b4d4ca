#include "alidade/io/explicit_model.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

void ExplicitState::clear() {
    labels.clear();
    actions.clear();
    offsets.assign(1, 0);
    targets.clear();
    lower.clear();
    upper.clear();
    coefficients.clear();
    state_rewards.clear();
    choice_rewards.clear();
}

void RowsOfModel::do_read(Index state, ExplicitState& row) const {
    row = model_.states[static_cast<std::size_t>(state)];
}

ExplicitModel collect(const ExplicitRows& rows) {
    ExplicitModel model{rows.header(), {}};
    model.states.resize(static_cast<std::size_t>(model.header.states));
    for (Index state = 0; state < model.header.states; ++state)
        rows.read(state, model.states[static_cast<std::size_t>(state)]);
    return model;
}

}  // namespace alidade
