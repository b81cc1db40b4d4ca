"""A learned model as a Gymnasium environment: what reinforcement learning trains on instead of the real system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

if TYPE_CHECKING:
    from alidade.model import Reward, TransitionModel


class LearnedEnv(gymnasium.Env[Any, Any]):
    """The model of a run with a reward, as a Gymnasium environment that passes ``check_env``.

    A finite-horizon model may behave differently at each step, and the best action depends on the steps that are left. So
    an observation is ``step * S + state``, one of H*S: with it the environment is Markov, and what is learned on it is a policy
    of the model. With ``observe="state"`` it is the state alone; then only policies that ignore the step can be learned.
    An episode terminates after H actions.

    ``model`` is the model that a run hands over, or any :class:`alidade.TransitionModel`; ``reward`` a
    :class:`alidade.Reward` or an array (S, A) or (H, S, A).

    >>> import alidade
    >>> from alidade.gym import LearnedEnv
    >>> problem = alidade.make_builtin("builtin:inventory")
    >>> env = LearnedEnv(problem.true_model(), problem.rewards["balanced"])
    >>> observation, _ = env.reset(seed=1)
    >>> env.step(2)[1] <= 1
    True
    """

    metadata = {"render_modes": []}

    def __init__(self, model: TransitionModel, reward: Reward | npt.ArrayLike, *, observe: str = "step and state"):
        if observe not in ("step and state", "state"):
            raise ValueError(f"observe is {observe!r}; must be 'step and state' or 'state'")
        states, actions, horizon = model.shape
        self.horizon, self.states = horizon, states
        self.reward_table = _reward_table(reward, horizon, states, actions)
        successors = model.successors
        self._targets, self._offsets = successors.targets, successors.offsets
        self._laws = [np.asarray(model.probabilities(h)) for h in range(horizon)]
        self._cumulative = [_cumulative(law, self._offsets) for law in self._laws]
        self._start = np.asarray(model.start.to_array(states))
        self._layered = observe != "state"
        self.actions = int(actions)
        self.observation_space = Discrete(horizon * states if self._layered else states)
        self.action_space = Discrete(actions)
        self.initial_state_distrib = np.zeros(horizon * states if self._layered else states)
        self.initial_state_distrib[:states] = self._start
        self._state, self._step = 0, horizon

    def _observation(self) -> int:
        return min(self._step, self.horizon - 1) * self.states + self._state if self._layered else self._state

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begins an episode; a seed, given once, fixes this one and all that follow."""
        super().reset(seed=seed)
        self._step = 0
        self._state = int(np.searchsorted(np.cumsum(self._start), self.np_random.random() * self._start.sum(), side="right"))
        return self._observation(), {"step": 0}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Takes an action; the last of H ends the episode as terminated."""
        if self._step >= self.horizon:
            raise RuntimeError("the episode is over; call reset()")
        h, pair = self._step, self._state * self.actions + int(action)
        earned = float(self.reward_table[h, self._state, int(action)])
        first, last = int(self._offsets[pair]), int(self._offsets[pair + 1])
        sums = self._cumulative[h][first:last]
        place = int(np.searchsorted(sums, self.np_random.random() * sums[-1], side="right"))
        self._state = int(self._targets[first + min(place, last - first - 1)])
        self._step += 1
        over = self._step == self.horizon
        return self._observation(), earned, over, False, {"step": self._step}

    @property
    def P(self) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:
        """The table ``P[observation][action] = [(probability, next, reward, terminated), ...]`` of toy-text environments.

        Made anew at every call. With ``observe="state"`` there is none unless all steps are alike.
        """
        if not self._layered:
            raise ValueError("observations without the step have no table P; use observe='step and state'")
        table: dict[int, dict[int, list[tuple[float, int, float, bool]]]] = {}
        actions = self.actions
        for h, law in enumerate(self._laws):
            over, base = h == self.horizon - 1, min(h + 1, self.horizon - 1) * self.states
            for s in range(self.states):
                rows: dict[int, list[tuple[float, int, float, bool]]] = {}
                for a in range(actions):
                    first, last = int(self._offsets[s * actions + a]), int(self._offsets[s * actions + a + 1])
                    earned = float(self.reward_table[h, s, a])
                    rows[a] = [(float(law[k]), base + int(self._targets[k]), earned, over) for k in range(first, last)]
                table[h * self.states + s] = rows
        return table

    def policy_of(self, predict: Any) -> npt.NDArray[np.int64]:
        """The policy, as an array (H, S), of a function from observations to actions: what to certify after training.

        ``predict`` takes an array of observations; for Stable-Baselines3 it is
        ``lambda seen: trained.predict(seen, deterministic=True)[0]``.
        """
        if not self._layered:
            row = np.asarray(predict(np.arange(self.states)), dtype=np.int64)
            return np.tile(row, (self.horizon, 1))
        found = np.asarray(predict(np.arange(self.horizon * self.states)), dtype=np.int64)
        return found.reshape(self.horizon, self.states)


def _reward_table(reward: Reward | npt.ArrayLike, horizon: int, states: int, actions: int) -> npt.NDArray[np.float64]:
    table = np.asarray(getattr(reward, "values", reward), dtype=np.float64)
    if table.shape == (states, actions):
        table = np.broadcast_to(table, (horizon, states, actions))
    if table.shape != (horizon, states, actions):
        raise ValueError(f"reward has shape {table.shape}; must be ({states}, {actions}) or ({horizon}, {states}, {actions})")
    if not np.isfinite(table).all():
        raise ValueError("reward has entries that are not numbers")
    return table


def _cumulative(data: npt.NDArray[np.float64], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Sums along each row, from its beginning."""
    sums = np.cumsum(data)
    before = np.concatenate([[0.0], sums])[np.asarray(offsets[:-1])]
    return np.asarray(sums - np.repeat(before, np.diff(offsets)), dtype=np.float64)
