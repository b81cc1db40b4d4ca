"""Vector environments as the real system: many episodes at once, for throughput."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alidade.gym.system import Observer, _check_actions, _warn_if_too_short

if TYPE_CHECKING:
    import gymnasium.vector

    from alidade.model import Policy
    from alidade.problem import Problem


Episodes = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_]]
"""states and actions of shape (episodes, H), -1 where nothing was seen, and whether each episode is complete."""


class Chooser:
    """The actions of a policy, many at once."""

    def __init__(self, policy: Policy):
        table = np.asarray(policy.probabilities if policy.actions is None else policy.actions)
        self.random = table.ndim == 3
        self.table = np.cumsum(table, axis=2)[..., :-1] if self.random else table.astype(np.int64)

    def __call__(self, step: Any, state: Any, chance: Any) -> Any:
        """Actions at steps and states; ``chance`` are uniform numbers, one each, of which fixed policies take none."""
        if not self.random:
            return self.table[step, state]
        return (np.asarray(chance)[..., None] >= self.table[step, state]).sum(axis=-1)


class VectorGymSystem:
    """A Gymnasium vector environment as the system under study.

    The episodes of a batch are dealt to the sub-environments before any of them is run, and all are waited for: taking
    those that end first would prefer short ones. Each sub-environment has its own step, so that one which ends early
    begins its next episode at once. All three ways of resetting (``NextStep``, ``SameStep``, ``Disabled``) are understood;
    the step after an end, whose action is ignored, is not taken for a transition.

    Without ``seeded`` (the default: it is faster) the first reset alone has a seed. With it every episode is reset with its
    own, of ``seed`` and its number: the same episode comes out whenever it is run. That takes vector environments that understand ``options={"reset_mask": ...}``, as Gymnasium's do.
    """

    def __init__(
        self,
        env: gymnasium.vector.VectorEnv[Any, Any, Any],
        problem: Problem,
        *,
        grid: Any = None,
        seeded: bool = False,
        seed: int = 0,
    ):
        _check_actions(env.single_action_space, problem)
        self.env = env
        self.seeded = seeded
        self.shape = problem.shape
        self._observer = Observer.of(env.single_observation_space, problem, grid)
        self._first_action = int(env.single_action_space.start)  # type: ignore[attr-defined]
        self.seed = seed
        self._first_seed: int | None = seed
        self._random = np.random.Generator(np.random.Philox(key=seed))
        mode = env.metadata.get("autoreset_mode", "NextStep")
        self._mode = str(getattr(mode, "value", mode))
        _warn_if_too_short(_step_limit(env), problem.shape.horizon)

    def run(self, policy: Policy, first: int, count: int) -> Iterator[Episodes]:
        """Runs episodes first .. first+count-1 of a policy; each batch is (states, actions, complete)."""
        from alidade.environment import seed_of_episode

        known = np.array([seed_of_episode(self.seed, k) for k in range(first, first + count)]) if self.seeded else None
        # Arrays of one batch stay small; a batch is long enough for its last episodes not to matter.
        size = max(64 * self.env.num_envs, 4096)
        for begin in range(0, count, size):
            end = min(begin + size, count)
            yield _Batch(self, Chooser(policy), end - begin, None if known is None else known[begin:end]).run()

    def __repr__(self) -> str:
        return f"<system of {self.env.num_envs} x {self.env.spec.id if self.env.spec else type(self.env).__name__}>"


def _step_limit(env: Any) -> int | None:
    """After how many steps the sub-environments truncate; the vector's own spec does not know."""
    for spec in env.get_attr("spec") if hasattr(env, "get_attr") else [env.spec]:
        if getattr(spec, "max_episode_steps", None) is not None:
            return int(spec.max_episode_steps)
    return None


class _Batch:
    """One batch of episodes on their way through the sub-environments (lanes)."""

    def __init__(self, system: VectorGymSystem, choose: Chooser, count: int, seeds: npt.NDArray[Any] | None):
        self.system, self.choose, self.count, self.seeds = system, choose, count, seeds
        self.observer = system._observer
        horizon, lanes = self.observer.horizon, system.env.num_envs
        self.last = horizon - 1
        # One row more than there are episodes: lanes without one write there.
        self.states = np.full((count + 1, horizon), -1, dtype=np.int32)
        self.actions = np.full((count + 1, horizon), -1, dtype=np.int32)
        self.complete = np.ones(count + 1, dtype=bool)
        self.terminated = np.zeros(count + 1, dtype=bool)
        self.end_step = np.full(count + 1, self.last, dtype=np.int64)
        self.chance = self._chances(horizon) if choose.random else None
        self.lane_step = np.zeros(lanes, dtype=np.int64)
        self.lane_state = np.zeros(lanes, dtype=np.int64)
        self.lane_episode = np.full(lanes, count, dtype=np.int64)
        self.waiting = np.zeros(lanes, dtype=bool)
        """Ended, and reset by the environment itself in the next step."""
        self.dealt = self.ended = 0

    def _chances(self, horizon: int) -> npt.NDArray[np.float64]:
        if self.seeds is None:
            return self.system._random.random((self.count + 1, horizon))
        rows = [np.random.Generator(np.random.Philox(key=int(seed))).random(horizon) for seed in self.seeds]
        return np.array([*rows, np.zeros(horizon)])

    def run(self) -> Episodes:
        self._begin()
        while self.ended < self.count:
            self._step()
        self._stay()
        return self.states[:-1], self.actions[:-1], self.complete[:-1]

    def _begin(self) -> None:
        lanes = np.arange(self.system.env.num_envs)
        seed: Any = self._deal(lanes)
        if self.seeds is None:
            seed, self.system._first_seed = self.system._first_seed, None
        observations, _ = self.system.env.reset(seed=seed)
        self._arrive(lanes, self.observer.states_of(observations))
        if self.last == 0:  # nothing is stepped: every reset is an episode
            self._end(lanes[self.lane_episode < self.count])
            while self.ended < self.count:
                self._reset(lanes)
                self._end(lanes[self.lane_episode < self.count])

    def _deal(self, lanes: npt.NDArray[np.int64]) -> list[int | None]:
        """Gives each of these lanes the next episode, if there is one; returns the seeds of all lanes."""
        numbers = self.dealt + np.arange(len(lanes))
        self.lane_episode[lanes] = np.minimum(numbers, self.count)
        self.dealt = min(self.count, self.dealt + len(lanes))
        seeds: list[int | None] = [None] * len(self.lane_episode)
        if self.seeds is not None:
            for lane, number in zip(lanes, numbers):
                seeds[int(lane)] = int(self.seeds[number]) if number < self.count else 0
        return seeds

    def _arrive(self, lanes: npt.NDArray[np.int64], states: npt.NDArray[np.int64]) -> None:
        """First states of the episodes of these lanes."""
        self.lane_step[lanes] = 0
        self.lane_state[lanes] = states
        self.states[self.lane_episode[lanes], 0] = states

    def _reset(self, lanes: npt.NDArray[np.int64]) -> None:
        """Resets these lanes, with the seeds of their next episodes."""
        mask = np.zeros(len(self.lane_step), dtype=bool)
        mask[lanes] = True
        seeds: Any = self._deal(lanes)
        observations, _ = self.system.env.reset(seed=seeds, options={"reset_mask": mask})
        self._arrive(lanes, self.observer.states_of(observations)[lanes])
        self.waiting[lanes] = False

    def _step(self) -> None:
        step, state, episode = self.lane_step, self.lane_state, self.lane_episode
        action = self.choose(step, state, None if self.chance is None else self.chance[episode, step])
        observations, _, terminated, truncated, infos = self.system.env.step(action + self.system._first_action)
        over = terminated | truncated
        seen = observations
        if self.system._mode == "SameStep" and over.any():
            seen = np.array(observations, copy=True)
            for lane in np.flatnonzero(over):
                seen[lane] = infos["final_obs"][lane]
        states = self.observer.states_of(seen)
        fresh = None
        if self.waiting.any():  # their step was a reset: no transition
            fresh = np.flatnonzero(self.waiting)
            episode = np.where(self.waiting, self.count, episode)
            self.waiting[fresh] = False
        self.actions[episode, step] = action
        step += 1
        self.states[episode, step] = states
        state[:] = states
        if fresh is not None:
            self._deal(fresh)
            self._arrive(fresh, states[fresh])
        ending = over | (step >= self.last)
        if ending.any():
            self._finish(np.flatnonzero(ending), terminated, over, observations)

    def _finish(self, lanes: npt.NDArray[np.int64], terminated: Any, over: Any, observations: Any) -> None:
        """Episodes that have ended, and what their lanes do next."""
        busy = lanes[self.lane_episode[lanes] < self.count]
        rows = self.lane_episode[busy]
        self.end_step[rows] = self.lane_step[busy]
        self.terminated[rows] = terminated[busy]
        self.ended += len(busy)
        self.lane_episode[lanes] = self.count
        self.lane_step[lanes] = 0
        if self.seeds is not None or self.system._mode == "Disabled":
            self._reset(lanes)
            return
        itself, by_us = lanes[over[lanes]], lanes[~over[lanes]]
        if self.system._mode == "NextStep":
            self.waiting[itself] = True
        elif len(itself):  # SameStep: the new first observation is here already
            self._deal(itself)
            self._arrive(itself, self.observer.states_of(observations)[itself])
        if len(by_us) and self.dealt < self.count:  # else they idle: where they are does not matter
            self._reset(by_us)

    def _stay(self) -> None:
        """What terminated stays where it ended, to the last step; what was truncated before it is not complete."""
        self.complete = self.terminated | (self.end_step == self.last)
        rows = np.flatnonzero(self.terminated)
        if not len(rows):
            return
        at = self.end_step[rows]
        ends = self.observer.states_at_end(self.states[rows, at].astype(np.int64))
        steps = np.arange(self.last + 1)
        after = steps >= at[:, None]
        self.states[rows] = np.where(after, ends[:, None], self.states[rows])
        chance = None if self.chance is None else self.chance[rows]
        taken = self.choose(steps[None, :], ends[:, None], chance)
        taken[:, -1] = -1
        self.actions[rows] = np.where(after, taken, self.actions[rows])

    def _end(self, lanes: npt.NDArray[np.int64]) -> None:
        self.ended += len(lanes)
        self.lane_episode[lanes] = self.count
