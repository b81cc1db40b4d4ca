#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "alidade/files/episode_file.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"

namespace alidade::python {

namespace nb = nanobind;

/// A policy from whatever stands for one: a Policy; an array (H, S) of actions, or (S,) for all steps alike;
/// an array (H, S, A) or (S, A) of probabilities.
Policy policy_of(nb::handle object, const Shape& shape);
/// A reward: a Reward, an array (S, A) or (H, S, A), or (S,) for all actions alike.
Reward reward_of(nb::handle object, const Shape& shape);
/// An episode: an Episode, (states, actions), (states, actions, complete), or a dictionary with these keys
/// and `times`.
LoggedEpisode episode_of(nb::handle object);
/// Episodes: an iterable of them, or the arrays (states, actions) of shape (episodes, steps), where -1 stands
/// for "the episode was over", and perhaps `complete` (episodes).
std::vector<LoggedEpisode> episodes_of(nb::handle object);

}  // namespace alidade::python
