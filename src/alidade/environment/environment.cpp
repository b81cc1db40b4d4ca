#include "alidade/environment/environment.hpp"

#include "alidade/error.hpp"
#include "draws.hpp"

namespace alidade {
namespace {

void expect_state(State state, const Shape& shape, Step h, std::int64_t episode) {
    expects(state >= 0 && state < shape.states,
            "the environment returned state {} for step {} of episode {}; must be 0 to {}", state, h, episode,
            shape.states - 1);
}

}  // namespace

Episode run_episode(Environment& environment, const Policy& policy, std::uint64_t seed,
                    std::int64_t episode) {
    const Shape& shape = environment.shape();
    detail::expect_system_shape(shape, policy.shape(), "policy");
    expects(episode >= 0, "episode {}; must not be negative", episode);
    const auto stream_of = [&](Step h) {
        return Stream(seed, Purpose::simulation, static_cast<std::uint64_t>(episode),
                      static_cast<std::uint64_t>(h));
    };
    Episode result;
    result.states.reserve(static_cast<std::size_t>(shape.horizon));
    result.actions.reserve(static_cast<std::size_t>(shape.horizon));

    Stream start = stream_of(shape.horizon);
    State state = environment.reset(start);
    for (Step h = 0; h < shape.horizon; ++h) {
        expect_state(state, shape, h, episode);
        Stream random = stream_of(h);
        const Action action = detail::sample_action(random, policy, h, state);
        result.states.push_back(state);
        result.actions.push_back(action);
        state = environment.step(action, random);
    }
    return result;
}

}  // namespace alidade
