"""Episodes that somebody else wrote down: tables (CSV, Parquet, data frames) and Minari datasets.

What comes out is three arrays, which ``Run.learn``, ``run.tell_unasked`` and ``Counts.add`` take.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from alidade.problem import Problem

COLUMNS = ("episode", "step", "state", "action", "next_state")


class Episodes(NamedTuple):
    """Episodes as arrays; -1 stands where nothing was seen."""

    states: npt.NDArray[np.int32]
    """A row an episode, a column a step."""
    actions: npt.NDArray[np.int32]
    """The same."""
    complete: npt.NDArray[np.bool_]
    """False for each episode that broke off."""


def episodes_from(
    source: Any,
    problem: Problem,
    *,
    columns: Mapping[str, str] | None = None,
    grid: Any = None,
) -> Episodes:
    """Reads logged episodes of a problem.

    ``source`` is

    - a table with one row a transition: a ``.csv`` or ``.parquet`` file, a pandas data frame, a pyarrow table, or a dictionary of
      columns. Its columns are ``episode``, ``step``, ``state``, ``action``, ``next_state``; ``columns`` says what they are called
      (``{"state": "level"}``). Episodes come in the order of their numbers, or, if they have names, of their first rows;
      the rows of one in the order of their steps, which run from 0 without a gap.
      States and actions are numbers, or the problem's names;
    - a Minari dataset, or the id of one (``"name/space-v0"``), with Discrete actions and Discrete observations, or with a ``grid``
      for others. What terminates stays where it ended, what is truncated before the last step broke off.

    Only the first H steps of a longer episode are of use, and kept. When conclusions from logs are valid, and when they are
    not, is what docs/offline.md is about: the decision to write an episode down must not have depended on how it went.

    >>> import alidade
    >>> from alidade.io import episodes_from
    >>> river = alidade.make_builtin("builtin:riverswim?length=4&horizon=3")
    >>> swum = {"episode": [7, 7, 9, 9], "step": [0, 1, 0, 1], "state": [0, 1, 0, 0], "action": [1, 0, 1, 1], "next_state": [1, 0, 0, 1]}
    >>> episodes_from(swum, river).states
    array([[0, 1, 0],
           [0, 0, 1]], dtype=int32)
    """
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__
    if hasattr(source, "iterate_episodes"):
        return _from_minari(source, problem, grid)
    if isinstance(source, (str, os.PathLike)) and not os.path.exists(source) and "." not in os.path.basename(name):
        import minari

        return _from_minari(minari.load_dataset(name), problem, grid)
    return _from_table(_table_of(source, name), problem, dict(columns or {}), name)


def _table_of(source: Any, name: str) -> Mapping[str, Sequence[Any]]:
    """Columns by name, whatever they came in."""
    if isinstance(source, (str, os.PathLike)):
        ending = os.path.splitext(name)[1]
        if ending == ".csv":
            import csv

            with open(source, newline="", encoding="utf-8-sig") as file:
                head, *rows = [row for row in csv.reader(file) if row] or [[]]
            short = next((i for i, row in enumerate(rows) if len(row) != len(head)), None)
            if short is not None:
                raise ValueError(f"{name}:{short + 2}: {len(rows[short])} cells, the head has {len(head)}; must be as many")
            return {column: [row[i] for row in rows] for i, column in enumerate(head)}
        if ending in (".parquet", ".pq"):
            from pyarrow import parquet

            source = parquet.read_table(source)
        else:
            raise ValueError(f"{name}: must end in .csv or .parquet, or be the id of a Minari dataset (.jsonl and .npz: alidade.io.read_episodes)")
    if hasattr(source, "column_names") and hasattr(source, "to_pydict"):  # of pyarrow
        return {column: source[column].to_numpy() for column in source.column_names}
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):  # of pandas
        return {str(column): source[column].to_numpy() for column in source.columns}
    if isinstance(source, Mapping):
        return source
    raise TypeError(f"episodes from a {name}; must be a file, a table, or a Minari dataset")


def _from_table(table: Mapping[str, Sequence[Any]], problem: Problem, columns: dict[str, str], name: str) -> Episodes:
    unknown = set(columns) - set(COLUMNS)
    if unknown:
        raise ValueError(f"columns says where {sorted(unknown)[0]!r} is; must be among {', '.join(COLUMNS)}")
    found: dict[str, npt.NDArray[Any]] = {}
    for column in COLUMNS:
        called = columns.get(column, column)
        if called not in table:
            raise ValueError(f"{name}: no column {called!r}; there are: {', '.join(map(str, table))}")
        found[column] = np.asarray(table[called])
    states, actions, horizon = problem.shape
    step = _numbers(found["step"], (), 2**31, name, "step")
    before = _numbers(found["state"], problem.state_names, states, name, "state")
    action = _numbers(found["action"], problem.action_names, actions, name, "action")
    after = _numbers(found["next_state"], problem.state_names, states, name, "next_state")
    episode = _ranks(found["episode"])
    order = np.lexsort((step, episode))
    step, before, action, after, episode = step[order], before[order], action[order], after[order], episode[order]
    first = np.concatenate([[True], episode[1:] != episode[:-1]]) if len(episode) else np.zeros(0, dtype=bool)
    expected = np.arange(len(step)) - np.maximum.accumulate(np.where(first, np.arange(len(step)), 0)) if len(step) else step
    _require(step == expected, order, found, name, "has a step that is missing or comes twice; steps run from 0")
    follows = first | (np.concatenate([[0], after[:-1]]) == before) if len(step) else first
    _require(follows, order, found, name, "is in another state than its last transition led to")
    count = int(episode[-1]) + 1 if len(episode) else 0
    seen = Episodes(
        np.full((count, horizon), -1, dtype=np.int32), np.full((count, horizon), -1, dtype=np.int32), np.zeros(count, dtype=bool)
    )
    kept = step < horizon
    seen.states[episode[kept], step[kept]] = before[kept]
    seen.actions[episode[kept], step[kept]] = action[kept]
    kept = step < horizon - 1
    seen.states[episode[kept], step[kept] + 1] = after[kept]
    return seen._replace(complete=seen.states[:, -1] >= 0)


def _ranks(names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Episodes counted from 0: by their numbers, or by where they appear first if they have names."""
    try:
        return np.unique(names.astype(np.int64), return_inverse=True)[1]
    except (TypeError, ValueError):
        _, first, place = np.unique(names.astype(str), return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[place]


def _require(holds: npt.NDArray[np.bool_], order: npt.NDArray[Any], found: dict[str, npt.NDArray[Any]], name: str, wrong: str) -> None:
    if not holds.all():
        row = int(order[np.flatnonzero(~holds)[0]])
        raise ValueError(f"{name}: episode {found['episode'][row]} {wrong} (row {row}, step {found['step'][row]})")


def _numbers(values: npt.NDArray[Any], names: Sequence[str], limit: int, name: str, column: str) -> npt.NDArray[np.int64]:
    """Numbers from a column of numbers or of names."""
    if values.dtype.kind in "iu":
        numbers = values.astype(np.int64)
    else:
        known = {each: i for i, each in enumerate(names)}
        converted: list[int] = []
        for row, value in enumerate(values.tolist()):
            try:
                converted.append(known[value] if value in known else int(value))
                fits = value in known or float(value) == converted[-1]
            except (TypeError, ValueError):
                fits = False
            if not fits:
                also = f", or one of the {len(names)} names of the problem" if names else ""
                raise ValueError(f"{name}: {column} is {value!r} in row {row}; must be 0 to {limit - 1}{also}")
        numbers = np.array(converted, dtype=np.int64)
    wrong = np.flatnonzero((numbers < 0) | (numbers >= limit))
    if len(wrong):
        raise ValueError(f"{name}: {column} is {numbers[wrong[0]]} in row {wrong[0]}; must be 0 to {limit - 1}")
    return numbers


def _from_minari(dataset: Any, problem: Problem, grid: Any) -> Episodes:
    from alidade.gym.system import Observer, _check_actions

    _check_actions(dataset.action_space, problem)
    observer = Observer.of(dataset.observation_space, problem, grid)
    first_action = int(dataset.action_space.start)
    rows = [_minari_row(episode, observer, first_action) for episode in dataset.iterate_episodes()]
    return _stacked(rows, problem.shape.horizon)


def _minari_row(episode: Any, observer: Any, first_action: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], bool]:
    horizon = observer.horizon
    states = observer.states_of(episode.observations)[:horizon]
    actions = np.asarray(episode.actions, dtype=np.int64)[: horizon - 1] - first_action
    terminated = bool(np.any(np.asarray(episode.terminations)[: horizon - 1]))
    if terminated and len(states) <= horizon:
        end = int(observer.states_at_end(states[-1:])[0])
        missing = horizon - len(states)
        states = np.concatenate([states[:-1], np.full(missing + 1, end)])
        # Whatever it would have done after the end: it stays, and says nothing.
        actions = np.concatenate([actions, np.zeros(missing, dtype=np.int64)])
    return states, actions, len(states) == horizon


def _stacked(rows: Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any], bool]], horizon: int) -> Episodes:
    all_rows = list(rows)
    seen = Episodes(
        np.full((len(all_rows), horizon), -1, dtype=np.int32),
        np.full((len(all_rows), horizon), -1, dtype=np.int32),
        np.array([complete for _, _, complete in all_rows], dtype=bool),
    )
    for i, (states, actions, _) in enumerate(all_rows):
        seen.states[i, : len(states)] = states
        seen.actions[i, : len(actions)] = actions
    return seen
