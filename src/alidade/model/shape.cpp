#include "alidade/model/shape.hpp"

#include <limits>

#include "alidade/error.hpp"
#include "alidade/model/counts.hpp"

namespace alidade {

void validate(const Shape& shape) {
    constexpr Index most = std::numeric_limits<std::int32_t>::max();
    expects(shape.states >= 1 && shape.states <= most, "states is {}; must be 1 to {}", shape.states, most);
    expects(shape.actions >= 1 && shape.actions <= most, "actions is {}; must be 1 to {}", shape.actions,
            most);
    expects(shape.horizon >= 1 && shape.horizon <= most, "horizon is {}; must be 1 to {}", shape.horizon,
            most);
}

void validate(const Episode& episode, const Shape& shape) {
    const auto steps = static_cast<std::size_t>(shape.horizon);
    expects(episode.states.size() == steps && episode.actions.size() == steps,
            "episode has {} states and {} actions; must have {} of each (the horizon)", episode.states.size(),
            episode.actions.size(), shape.horizon);
    for (std::size_t h = 0; h < steps; ++h) {
        expects(episode.states[h] >= 0 && episode.states[h] < shape.states,
                "episode: state {} at step {}; must be 0 to {}", episode.states[h], h, shape.states - 1);
        expects(episode.actions[h] >= 0 && episode.actions[h] < shape.actions,
                "episode: action {} at step {}; must be 0 to {}", episode.actions[h], h, shape.actions - 1);
    }
}

}  // namespace alidade
