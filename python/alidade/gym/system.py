"""Gymnasium environments as the real system: run for whole episodes, with every episode reported."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import gymnasium

    from alidade.problem import Problem


@dataclass(frozen=True)
class Observer:
    """How an environment's observations and ends become states of a problem."""

    states: int
    """Of the problem."""
    horizon: int
    absorbing: npt.NDArray[np.bool_]
    """States that no base model leaves."""
    start: int
    """The number of the first state of a Discrete space; 0 with a grid."""
    observed: int
    """How many states can be observed: the cells, or the n of a Discrete space."""
    grid: Any = None

    @classmethod
    def of(cls, space: gymnasium.Space[Any], problem: Problem, grid: Any = None) -> Observer:
        from gymnasium.spaces import Discrete

        states, _, horizon = problem.shape
        if grid is not None:
            first, observed = 0, int(grid.cells)
        elif isinstance(space, Discrete):
            first, observed = int(space.start), int(space.n)
        else:
            raise ValueError(f"observations are {space}; those that are not Discrete need grid=")
        if states not in (observed, observed + 1):
            raise ValueError(
                f"the environment has {observed} states, the problem {states}; it must have as many, or one more for ends"
            )
        offsets, targets = problem.successors.offsets, problem.successors.targets
        own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) // problem.shape.actions
        absorbing = np.ones(states, dtype=bool)
        absorbing[own[own != targets]] = False
        return cls(states, horizon, absorbing, first, observed, grid)

    def states_of(self, observations: Any) -> npt.NDArray[np.int64]:
        """The states of a batch of observations."""
        if self.grid is not None:
            points = np.asarray(observations, dtype=np.float64)
            return np.asarray(self.grid.cells_of(points.reshape(len(points), -1)), dtype=np.int64)
        return np.asarray(observations, dtype=np.int64) - self.start

    def state_of(self, observation: Any) -> int:
        if self.grid is not None:
            return int(self.grid.cell_of(np.asarray(observation, dtype=np.float64).ravel()))
        return int(observation) - self.start

    def states_at_end(self, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where episodes stay that terminated in these states: there, or in the state for ends."""
        stays = self.absorbing[states]
        if self.states == self.observed + 1:
            return np.where(stays, states, self.observed)
        if not stays.all():
            raise ValueError(
                f"the environment terminated in state {states[~stays][0]}, but the base models do not stay there; "
                "make them of the environment's P (problem_from_gym), or leave one more state for ends"
            )
        return states


def _warn_if_too_short(limit: int | None, horizon: int) -> None:
    if limit is not None and limit < horizon - 1:
        warnings.warn(
            f"the environment truncates after {limit} steps, the horizon needs {horizon - 1}: later steps are never seen. "
            f"Make it with max_episode_steps={horizon - 1}.",
            stacklevel=3,
        )


class GymSystem:
    """One Gymnasium environment with discrete actions as the system under study.

    It is stepped by the library: an episode that terminates stays where it ended; one that is truncated before its last
    step is reported as broken off, and what was seen counts.

    With ``seeded`` every episode begins with ``reset(seed=...)``, the seed being that of its number in the run: the same
    episode comes out whenever it is run, and a run that was stopped goes on to the same bytes. Environments that ignore
    their seed must say ``seeded=False``; then every attempt is an experiment of its own, and the first reset alone has a
    seed.

    ``grid`` makes states of continuous observations: those of its cells.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], problem: Problem, *, grid: Any = None, seeded: bool = True):
        _check_actions(env.action_space, problem)
        self.env = env
        self.seeded = seeded
        self.states, self.actions, self.horizon = problem.shape
        self._observer = Observer.of(env.observation_space, problem, grid)
        self._first_action = int(env.action_space.start)  # type: ignore[attr-defined]
        self._begun = False
        self._step = 0
        _warn_if_too_short(None if env.spec is None else env.spec.max_episode_steps, problem.shape.horizon)

    def reset(self, seed: int) -> int:
        """Begins an episode; returns the first state."""
        observation, _ = self.env.reset(seed=None if self._begun and not self.seeded else int(seed))
        self._begun, self._step = True, 0
        return self._observer.state_of(observation)

    def step(self, action: int) -> int | tuple[int, str]:
        """Takes an action; returns the next state, and why the episode ended if it did."""
        observation, _, terminated, truncated, _ = self.env.step(action + self._first_action)
        self._step += 1
        state = self._observer.state_of(observation)
        if terminated:
            return int(self._observer.states_at_end(np.array([state]))[0]), "terminated"
        # A limit at the last step takes nothing away.
        return (state, "truncated") if truncated and self._step < self.horizon - 1 else state

    def __repr__(self) -> str:
        name = self.env.spec.id if self.env.spec else type(self.env.unwrapped).__name__
        return f"<system {name}, {'seeded' if self.seeded else 'without seeds'}>"


def _check_actions(space: gymnasium.Space[Any], problem: Problem) -> None:
    from gymnasium.spaces import Discrete

    if not isinstance(space, Discrete) or int(space.n) != problem.shape.actions:
        raise ValueError(f"actions are {space}; must be Discrete({problem.shape.actions}), as in the problem")


def gym_system(env: Any, problem: Problem, **options: Any) -> Any:
    """The system of an environment, a vector environment, an id, or a function that makes one.

    ``options`` go to :class:`GymSystem` or :class:`VectorGymSystem`: ``grid`` for continuous observations, ``seeded``...
    """
    from gymnasium.vector import VectorEnv

    from alidade.gym.vector import VectorGymSystem

    if isinstance(env, str):
        import gymnasium

        env = gymnasium.make(env, max_episode_steps=max(1, problem.shape.horizon - 1))
    elif callable(env):
        env = env()
    return (VectorGymSystem if isinstance(env, VectorEnv) else GymSystem)(env, problem, **options)
