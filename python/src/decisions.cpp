#include "decisions.hpp"

#include <fmt/format.h>
#include <nanobind/operators.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/counts.hpp"
#include "arrays.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

/// The numbers of one step, for all of them.
template <class T>
std::vector<T> repeated(const std::vector<T>& once, Index times) {
    std::vector<T> all;
    all.reserve(once.size() * at(times));
    for (Index h = 0; h < times; ++h) all.insert(all.end(), once.begin(), once.end());
    return all;
}

Policy deterministic_of(nb::handle object, const Shape& shape) {
    const auto array = integers(object, "policy");
    const bool once = array.ndim() == 1;
    expects(
        (once && array.shape(0) == at(shape.states)) ||
            (array.ndim() == 2 && array.shape(0) == at(shape.horizon) && array.shape(1) == at(shape.states)),
        "policy has shape {}; must be ({}, {}) = (horizon, states), or ({},) for all steps alike",
        shape_text(array), shape.horizon, shape.states, shape.states);
    std::vector<std::int32_t> actions(array.size());
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const std::int64_t action = array.data()[i];
        expects(action >= 0 && action < shape.actions,
                "policy: action {} at step {}, state {}; must be 0 to {}", action,
                static_cast<Index>(i) / shape.states, static_cast<Index>(i) % shape.states,
                shape.actions - 1);
        actions[i] = static_cast<std::int32_t>(action);
    }
    return Policy::deterministic(shape, once ? repeated(actions, shape.horizon) : std::move(actions));
}

/// Rows of float32 that sum to one but for its rounding are scaled to do so.
void scale_single(nb::handle object, std::vector<double>& probabilities, Index actions) {
    const nb::object dtype = nb::module_::import_("numpy").attr("asarray")(object).attr("dtype");
    if (nb::cast<int>(nb::object(dtype.attr("itemsize"))) >= 8) return;
    for (auto row = probabilities.begin(); row != probabilities.end(); row += actions) {
        double sum = 0;
        for (auto p = row; p != row + actions; ++p) sum += *p;
        if (std::abs(sum - 1) > 1e-5) continue;
        for (auto p = row; p != row + actions; ++p) *p /= sum;
    }
}

Policy stochastic_of(nb::handle object, const Shape& shape) {
    const auto array = doubles(object, "policy");
    const bool once = array.ndim() == 2;
    const std::size_t first = once ? 0 : 1;
    expects(
        (once || (array.ndim() == 3 && array.shape(0) == at(shape.horizon))) &&
            array.shape(first) == at(shape.states) && array.shape(first + 1) == at(shape.actions),
        "policy has shape {}; must be ({}, {}, {}) = (horizon, states, actions), or ({}, {}) for all steps "
        "alike",
        shape_text(array), shape.horizon, shape.states, shape.actions, shape.states, shape.actions);
    std::vector<double> probabilities = copied(array);
    scale_single(object, probabilities, shape.actions);
    return Policy::stochastic(shape,
                              once ? repeated(probabilities, shape.horizon) : std::move(probabilities));
}

}  // namespace

Policy policy_of(nb::handle object, const Shape& shape) {
    if (nb::isinstance<Policy>(object)) {
        const auto& policy = nb::cast<const Policy&>(object);
        expects(policy.shape() == shape,
                "the policy is for {} states, {} actions and horizon {}; must be for {}, {} and {}",
                policy.shape().states, policy.shape().actions, policy.shape().horizon, shape.states,
                shape.actions, shape.horizon);
        return policy;
    }
    return holds_integers(object) ? deterministic_of(object, shape) : stochastic_of(object, shape);
}

Reward reward_of(nb::handle object, const Shape& shape) {
    if (nb::isinstance<Reward>(object)) {
        const auto& reward = nb::cast<const Reward&>(object);
        expects(reward.shape() == shape,
                "the reward is for {} states, {} actions and horizon {}; must be for {}, {} and {}",
                reward.shape().states, reward.shape().actions, reward.shape().horizon, shape.states,
                shape.actions, shape.horizon);
        return reward;
    }
    const auto array = doubles(object, "reward");
    const auto is = [&](std::initializer_list<Index> wanted) {
        if (array.ndim() != wanted.size()) return false;
        std::size_t i = 0;
        for (const Index size : wanted)
            if (array.shape(i++) != at(size)) return false;
        return true;
    };
    std::vector<double> values = copied(array);
    if (is({shape.states})) {
        std::vector<double> spread;
        for (const double value : values) spread.insert(spread.end(), at(shape.actions), value);
        return {shape, std::move(spread)};
    }
    expects(is({shape.states, shape.actions}) || is({shape.horizon, shape.states, shape.actions}),
            "reward has shape {}; must be ({}, {}) = (states, actions), ({}, {}, {}) = (horizon, states, "
            "actions), "
            "or ({},)",
            shape_text(array), shape.states, shape.actions, shape.horizon, shape.states, shape.actions,
            shape.states);
    return {shape, std::move(values)};
}

LoggedEpisode episode_of(nb::handle object) {
    if (nb::isinstance<LoggedEpisode>(object)) return nb::cast<LoggedEpisode>(object);
    const bool named = nb::isinstance<nb::dict>(object);
    expects(
        named || nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object),
        "an episode is a {}; must be an Episode, a pair (states, actions), or a dictionary with these keys",
        nb::cast<std::string>(nb::object(object.type().attr("__name__"))));
    const auto part = [&](const char* name, std::size_t place) -> nb::object {
        if (named) return nb::object(object.attr("get")(name));
        if (place >= nb::len(object)) return nb::none();
        return nb::object(object[place]);
    };
    LoggedEpisode episode;
    const auto numbers = [&](const nb::object& list, const char* what) {
        expects(!list.is_none(), "an episode without {}", what);
        const auto array = integers(list, what);
        expects(array.ndim() == 1, "{} of an episode have shape {}; must be one list", what,
                shape_text(array));
        return std::vector<Index>(array.data(), array.data() + array.size());
    };
    episode.states = numbers(part("states", 0), "states");
    episode.actions = numbers(part("actions", 1), "actions");
    if (const nb::object complete = part("complete", 2); !complete.is_none())
        episode.complete = nb::cast<bool>(nb::bool_(complete));
    if (const nb::object times = part("times", 3); !times.is_none()) episode.times = integer_of(times);
    return episode;
}

namespace {

bool is_two_dimensional(nb::handle object) {
    return nb::hasattr(object, "ndim") && integer_of(nb::object(object.attr("ndim"))) == 2;
}

std::vector<LoggedEpisode> episodes_of_arrays(nb::handle object) {
    const auto states = integers(nb::object(object[0]), "states"),
               actions = integers(nb::object(object[1]), "actions");
    expects(states.ndim() == 2 && actions.ndim() == 2 && states.shape(0) == actions.shape(0),
            "states have shape {} and actions {}; must be (episodes, steps) both", shape_text(states),
            shape_text(actions));
    std::vector<LoggedEpisode> episodes(states.shape(0));
    const auto row = [](const Contiguous<std::int64_t>& array, std::size_t i) {
        std::vector<Index> numbers;
        for (std::size_t t = 0; t < array.shape(1); ++t) {
            const std::int64_t number = array.data()[i * array.shape(1) + t];
            if (number == -1) break;
            numbers.push_back(number);
        }
        return numbers;
    };
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        episodes[i].states = row(states, i);
        episodes[i].actions = row(actions, i);
    }
    if (nb::len(object) < 3 || nb::object(object[2]).is_none()) return episodes;
    const auto complete = integers(nb::object(object[2]), "complete");
    expects(complete.size() == episodes.size(), "complete has {} values for {} episodes; must be as many",
            complete.size(), episodes.size());
    for (std::size_t i = 0; i < episodes.size(); ++i) episodes[i].complete = complete.data()[i] != 0;
    return episodes;
}

}  // namespace

std::vector<LoggedEpisode> episodes_of(nb::handle object) {
    if (nb::isinstance<nb::tuple>(object) && nb::len(object) >= 2 &&
        is_two_dimensional(nb::object(object[0])))
        return episodes_of_arrays(object);
    std::vector<LoggedEpisode> episodes;
    for (const nb::handle episode : object) episodes.push_back(episode_of(episode));
    return episodes;
}

namespace {

void bind_policy(nb::module_& m) {
    nb::class_<Policy>(m, "Policy",
                       "What to do at each (step, state): an action, or a distribution. Immutable.")
        .def(
            "__init__",
            [](Policy* self, nb::handle values, const Shape& shape) {
                new (self) Policy(policy_of(values, shape));
            },
            "values"_a, "shape"_a,
            nb::sig("def __init__(self, values: numpy.typing.ArrayLike, shape: Shape) -> None"),
            "Actions (H, S), or (S,) for all steps alike; or probabilities (H, S, A), or (S, A).")
        .def_static("uniform", &Policy::uniform, "shape"_a, "Every action equally likely everywhere.")
        .def_prop_ro("shape", &Policy::shape)
        .def_prop_ro("is_deterministic", &Policy::is_deterministic)
        .def_prop_ro(
            "actions",
            [](nb::handle self) -> nb::object {
                const auto& policy = nb::cast<const Policy&>(self);
                if (!policy.is_deterministic()) return nb::none();
                return nb::cast(view(std::span(policy.actions()),
                                     {at(policy.shape().horizon), at(policy.shape().states)}, self));
            },
            nb::sig("def actions(self) -> numpy.typing.NDArray[numpy.int32] | None"),
            "(H, S), a view; None of a stochastic policy.")
        .def_prop_ro(
            "probabilities",
            [](nb::handle self) {
                const auto& policy = nb::cast<const Policy&>(self);
                const Shape& s = policy.shape();
                if (!policy.is_deterministic())
                    return nb::cast(view(std::span(policy.probabilities()),
                                         {at(s.horizon), at(s.states), at(s.actions)}, self));
                std::vector<double> law(at(s.horizon * s.pairs()), 0.0);
                for (Index row = 0; row < s.horizon * s.states; ++row)
                    law[at(row * s.actions + policy.actions()[at(row)])] = 1;
                return nb::cast(own(std::move(law), {at(s.horizon), at(s.states), at(s.actions)}));
            },
            nb::sig("def probabilities(self) -> numpy.typing.NDArray[numpy.float64]"),
            "(H, S, A); a view of a stochastic policy.")
        .def(
            "__call__",
            [](const Policy& policy, Step step, State state) {
                expects(policy.is_deterministic(), "the policy is stochastic: look at its probabilities");
                expects(
                    step >= 0 && step < policy.shape().horizon && state >= 0 && state < policy.shape().states,
                    "step {}, state {}; must be 0 to {} and 0 to {}", step, state, policy.shape().horizon - 1,
                    policy.shape().states - 1);
                return policy.action(step, state);
            },
            "step"_a, "state"_a, "The action of a deterministic policy.")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__", [](const Policy& policy) {
            const Shape& s = policy.shape();
            return fmt::format("<{} policy: {} states, {} actions, horizon {}>",
                               policy.is_deterministic() ? "deterministic" : "stochastic", s.states,
                               s.actions, s.horizon);
        });
}

void bind_reward(nb::module_& m) {
    nb::class_<Reward>(m, "Reward", "A reward in [0, 1] for every (step, state, action). Immutable.")
        .def(
            "__init__",
            [](Reward* self, nb::handle values, const Shape& shape) {
                new (self) Reward(reward_of(values, shape));
            },
            "values"_a, "shape"_a,
            nb::sig("def __init__(self, values: numpy.typing.ArrayLike, shape: Shape) -> None"),
            "(S, A) or (S,) for all steps alike, or (H, S, A).\n\n"
            ">>> import alidade\n"
            ">>> alidade.Reward([[0, 2.0]], alidade.Shape(1, 2, 3))\n"
            "Traceback (most recent call last):\n"
            "alidade.InvalidArgument: reward of step 0 (all steps), state 0, action 1 is 2; must be from 0 "
            "to 1\n")
        .def_prop_ro("shape", &Reward::shape)
        .def_prop_ro("stationary", &Reward::stationary, "Given once for all steps.")
        .def_prop_ro(
            "values",
            [](nb::handle self) {
                const auto& reward = nb::cast<const Reward&>(self);
                const Shape& s = reward.shape();
                if (reward.stationary())
                    return nb::cast(view(std::span(reward.values()), {at(s.states), at(s.actions)}, self));
                return nb::cast(
                    view(std::span(reward.values()), {at(s.horizon), at(s.states), at(s.actions)}, self));
            },
            nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float64]"),
            "(S, A) if stationary, else (H, S, A); a view.")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__", [](const Reward& reward) {
            const Shape& s = reward.shape();
            return fmt::format("<reward: {} states, {} actions, horizon {}{}>", s.states, s.actions,
                               s.horizon, reward.stationary() ? ", stationary" : "");
        });
}

void bind_counts(nb::module_& m) {
    nb::class_<LoggedEpisode>(m, "Episode",
                              "One trajectory, as a system reports it or somebody wrote it down.")
        .def(
            "__init__",
            [](LoggedEpisode* self, nb::handle states, nb::handle actions, bool complete,
               std::int64_t times) {
                LoggedEpisode episode = episode_of(nb::make_tuple(states, actions));
                episode.complete = complete;
                episode.times = times;
                new (self) LoggedEpisode(std::move(episode));
            },
            "states"_a, "actions"_a, "complete"_a = true, "times"_a = 1,
            nb::sig("def __init__(self, states: numpy.typing.ArrayLike, actions: numpy.typing.ArrayLike, "
                    "complete: bool = True, times: int = 1) -> None"))
        .def_ro("states", &LoggedEpisode::states, "1 to H of them.")
        .def_ro("actions", &LoggedEpisode::actions, "One for each state, or for each but the last.")
        .def_ro("complete", &LoggedEpisode::complete, "False where it broke off.")
        .def_ro("times", &LoggedEpisode::times, "How often this very episode was seen.")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__", [](const LoggedEpisode& e) {
            return fmt::format("<episode of {} states{}>", e.states.size(), e.complete ? "" : ", broken off");
        });
    nb::class_<Counts>(
        m, "Counts",
        "How often each (step, state, action, successor) was seen, for steps 0 to H-2: all that "
        "any estimator needs of the data.")
        .def(
            "__init__",
            [](Counts* self, std::shared_ptr<const SuccessorMap> successors, Index horizon, bool elsewhere) {
                new (self) Counts(std::move(successors), horizon,
                                  elsewhere ? Elsewhere::counted : Elsewhere::refused);
            },
            "successors"_a, "horizon"_a, "elsewhere"_a = false,
            "elsewhere: whether a transition to where no base model leads is counted, as data of a truth "
            "that "
            "may be off its mixture; it is an ImpossibleTransition otherwise.")
        .def_prop_ro("shape", &Counts::shape)
        .def_prop_ro("episodes", &Counts::episodes)
        .def_prop_ro("transitions", &Counts::transitions)
        .def_prop_ro("any_elsewhere", &Counts::any_elsewhere,
                     "Whether a transition led where no base model leads.")
        .def(
            "add",
            [](Counts& counts, nb::handle episodes) {
                for (const LoggedEpisode& e : episodes_of(episodes)) counts.add(e.states, e.actions, e.times);
            },
            "episodes"_a, nb::sig("def add(self, episodes: typing.Any) -> None"),
            "Counts episodes: an iterable of Episode or (states, actions), or a pair of arrays (episodes, "
            "steps) "
            "where -1 stands for \"it was over\".")
        .def("seen", in_python("alidade._layouts", "seen"),
             nb::sig("def seen(self, step: int | None = None) -> alidade._table.Table"),
             "What was seen, as a table: step, state, action, successor, count.")
        .def(
            "_seen",
            [](const Counts& counts, Step step) {
                expects(step >= 0 && step < counts.shape().horizon - 1, "step {}; must be 0 to {}", step,
                        counts.shape().horizon - 2);
                std::vector<std::int64_t> numbers;
                for (const SeenEntry& seen : counts.seen(step)) {
                    const Index pair = counts.successors().pair_of(seen.entry);
                    numbers.insert(numbers.end(),
                                   {pair / counts.shape().actions, pair % counts.shape().actions,
                                    counts.successors().targets()[at(seen.entry)], seen.count});
                }
                const std::size_t rows = numbers.size() / 4;
                return own(std::move(numbers), {rows, 4});
            },
            "step"_a)
        .def(
            "dense",
            [](const Counts& counts) {
                const auto steps = at(counts.shape().horizon - 1),
                           entries = at(counts.successors().entries());
                return own(counts.dense(), {steps, entries});
            },
            "One number a step and entry: (H-1, entries).")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__", [](const Counts& counts) {
            return fmt::format("<counts of {} episodes: {} transitions>", counts.episodes(),
                               counts.transitions());
        });
}

}  // namespace

void bind_decisions(nb::module_& m) {
    bind_policy(m);
    bind_reward(m);
    bind_counts(m);
}

}  // namespace alidade::python
