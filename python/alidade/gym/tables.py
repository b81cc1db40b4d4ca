"""Base models from the transition tables that Gymnasium's toy-text environments carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import gymnasium

    from alidade.problem import Problem

Kernel = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""A kernel as compressed sparse rows, row s*A+a: (data, indices, indptr)."""


@dataclass(frozen=True)
class GymTable:
    """The table ``P`` of one environment, branch by branch, and where its episodes begin.

    Branches stay apart here, because an end is a property of a branch: into which state it leads is settled when the
    tables of all base models are known (:func:`kernels_of`).
    """

    name: str
    states: int
    """Of the environment: n."""
    actions: int
    pair: npt.NDArray[np.int64]
    """s*A+a of every branch."""
    target: npt.NDArray[np.int64]
    probability: npt.NDArray[np.float64]
    reward: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    start: npt.NDArray[np.float64] | None
    """Law of the first state, (n,); None if the environment does not say."""

    @property
    def absorbing(self) -> npt.NDArray[np.bool_]:
        """States that every action leads back to."""
        leaves = (self.pair // self.actions != self.target) & (self.probability > 0)
        found = np.ones(self.states, dtype=bool)
        found[self.pair[leaves] // self.actions] = False
        return found

    def expected_reward(self) -> npt.NDArray[np.float64]:
        """The reward that a state and an action earn on average *under this table*, shape (n, A).

        Where a reward depends on the next state, the average depends on the table: of another base model, or of the real
        system, it is another.
        """
        table = np.zeros(self.states * self.actions)
        np.add.at(table, self.pair, self.probability * self.reward)
        return table.reshape(self.states, self.actions)

    def __repr__(self) -> str:
        return f"<table of {self.name}: {self.states} states, {self.actions} actions, {len(self.pair)} branches>"


GymSource = Union["gymnasium.Env[Any, Any]", str, GymTable]


def from_gym(env: gymnasium.Env[Any, Any] | str, *, name: str | None = None, **options: Any) -> GymTable:
    """The transition table of a Gymnasium environment, as a base model.

    ``env`` is an environment whose innermost one has a table ``P`` (it is unwrapped here), or the id of one, which is
    then made with ``options``. Repeated successors of a branch list, as on the corners of FrozenLake, are kept and summed
    later.

    >>> from alidade.gym import from_gym
    >>> lake = from_gym("FrozenLake-v1", success_rate=0.9)
    >>> lake
    <table of FrozenLake-v1: 16 states, 4 actions, 152 branches>
    """
    if isinstance(env, str):
        import gymnasium

        env = gymnasium.make(env, **options)
    elif options:
        raise TypeError(f"{', '.join(options)}: options are for environments that are made here, by their id")
    inner = env.unwrapped
    table = getattr(inner, "P", None)
    if table is None:
        raise ValueError(
            f"{type(inner).__name__} has no transition table P; learn it instead, or sample it with base_models_from_simulators"
        )
    states, actions = len(table), len(table[0])
    rows: list[tuple[int, int, float, float, bool]] = []
    for s in range(states):
        if len(table[s]) != actions:
            raise ValueError(f"state {s} has {len(table[s])} actions, state 0 has {actions}; all must have the same")
        for a in range(actions):
            rows += [(s * actions + a, int(t), float(p), float(r), bool(end)) for p, t, r, end in table[s][a]]
    pair, target, probability, reward, terminated = zip(*rows)
    start = getattr(inner, "initial_state_distrib", None)
    if name is None:
        name = inner.spec.id if inner.spec is not None else type(inner).__name__
    return GymTable(
        name=name,
        states=states,
        actions=actions,
        pair=np.array(pair, dtype=np.int64),
        target=np.array(target, dtype=np.int64),
        probability=np.array(probability, dtype=np.float64),
        reward=np.array(reward, dtype=np.float64),
        terminated=np.array(terminated, dtype=bool),
        start=None if start is None else np.asarray(start, dtype=np.float64),
    )


def tables_of(sources: Iterable[GymSource]) -> list[GymTable]:
    """The tables of environments, ids, or tables; all must have the same sizes."""
    tables = [source if isinstance(source, GymTable) else from_gym(source) for source in sources]
    if not tables:
        raise ValueError("no base models; at least one is needed")
    for table in tables:
        if (table.states, table.actions) != (tables[0].states, tables[0].actions):
            raise ValueError(
                f"{table.name} has {table.states} states and {table.actions} actions, {tables[0].name} has "
                f"{tables[0].states} and {tables[0].actions}; base models must have the same"
            )
    return tables


def kernels_of(tables: Sequence[GymTable]) -> tuple[list[Kernel], bool]:
    """The kernels of several tables over the same states, and whether there is one state more, for ends.

    An alidade episode has a fixed number of steps, so what Gymnasium ends must go on somewhere. A terminated branch leads to
    its own state where every table stays there for good (FrozenLake's holes). Everywhere else (Taxi, CliffWalking, whose
    tables go on after the end) it leads to one more state, number n, which nothing leaves.
    """
    absorbing = np.logical_and.reduce([table.absorbing for table in tables])
    ended = any(bool(np.any(table.terminated & ~absorbing[table.target])) for table in tables)
    return [_kernel_of(table, absorbing, ended) for table in tables], ended


def _kernel_of(table: GymTable, absorbing: npt.NDArray[np.bool_], ended: bool) -> Kernel:
    states = table.states + ended
    target = np.where(table.terminated & ~absorbing[table.target], table.states, table.target)
    pair, probability = table.pair, table.probability
    if ended:
        own = table.states * table.actions + np.arange(table.actions)
        pair = np.concatenate([pair, own])
        target = np.concatenate([target, np.full(table.actions, table.states)])
        probability = np.concatenate([probability, np.ones(table.actions)])
    entries, place = np.unique(pair * states + target, return_inverse=True)
    data = np.zeros(len(entries))
    np.add.at(data, place, probability)
    entries, data = entries[data > 0], data[data > 0]
    offsets = np.searchsorted(entries // states, np.arange(states * table.actions + 1))
    return data, entries % states, offsets.astype(np.int64)


def problem_from_gym(
    sources: Iterable[GymSource],
    horizon: int,
    *,
    name: str | None = None,
    start: npt.ArrayLike | int | None = None,
    **options: Any,
) -> Problem:
    """A problem whose base models are the tables of environments.

    ``start`` is the law of the first state, or a state; by default that of the first environment. ``options`` go to
    :class:`alidade.Problem` (``homogeneous``, ``misspecification``, names, rewards...).

    >>> import gymnasium
    >>> from alidade.gym import problem_from_gym
    >>> lakes = [gymnasium.make("FrozenLake-v1", success_rate=rate) for rate in (0.3, 0.9)]
    >>> problem = problem_from_gym(lakes, horizon=20, homogeneous=True)
    >>> problem.shape
    Shape(states=16, actions=4, horizon=20)
    """
    from alidade.model import FeatureMap
    from alidade.problem import Problem

    tables = tables_of(sources)
    kernels, ended = kernels_of(tables)
    states = tables[0].states + ended
    if start is None:
        start = tables[0].start
        if start is None:
            raise ValueError(f"{tables[0].name} does not say where it starts; pass start=")
    law = np.asarray(start, dtype=np.float64)
    law = np.eye(states)[int(law)] if law.ndim == 0 else np.concatenate([law, np.zeros(states - len(law))])
    names = [table.name for table in tables]
    if len(set(names)) < len(names):
        names = [f"{each} {i}" for i, each in enumerate(names)]
    features = FeatureMap.from_base_kernels(kernels, names=names, states=states)
    return Problem(features, horizon=horizon, name=name or tables[0].name, start=law, **options)
