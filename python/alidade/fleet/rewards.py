"""Many rewards at once: planned and certified by the workers of an executor."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alidade.fleet.pool import ExecutorSource, executors_of

if TYPE_CHECKING:
    from alidade.run import Run

_known: dict[str, Any] = {}
"""What this worker has loaded: one run at a time."""


@dataclass(frozen=True)
class RewardRow:
    """What was found for one reward."""

    value_lower: float
    value_upper: float
    """The plan's true value lies between them."""
    optimal_upper: float
    """No policy is worth more."""
    loss_bound: float
    """What the plan loses against the best policy, at most."""
    policy: npt.NDArray[np.int32] | None
    """(H, S), if policies were asked for."""


def _load(folder: str, stamp: str) -> Any:
    from alidade.run import Run

    key = folder + "\n" + stamp
    if key not in _known:
        _known.clear()
        with Run.open(folder, "read") as run:
            _known[key] = run.knowledge(threads=1)
    return _known[key]


def _certify_some(folder: str, stamp: str, rewards: Sequence[Any], planner: Any, policies: bool) -> list[RewardRow]:
    knowledge = _load(folder, stamp)
    rows = []
    for reward in rewards:
        plan = knowledge.plan(reward, planner, threads=1)
        claim = plan.certificate
        policy = np.array(plan.policy.actions) if policies and plan.policy.actions is not None else None
        rows.append(RewardRow(claim.value.lower, claim.value.upper, claim.optimal_upper, claim.loss_bound, policy))
    return rows


def plan_rewards(
    run: Run,
    rewards: Iterable[Any],
    executor: ExecutorSource = None,
    *,
    workers: int | None = None,
    planner: Any = "backward-induction",
    batch: int = 50,
    policies: bool = False,
) -> Iterator[RewardRow]:
    """Plans and certifies many rewards of one run on an executor; rows come in the order of the rewards.

    ``rewards`` are arrays (S, A) or (H, S, A). The workers open the run's folder, to read only, so they must see it: on one
    machine, or on a file system that they share. Every row holds on the same event as the run's certificate, all at once.

    On one machine ``alidade.certify_rewards`` with threads does the same without processes; this is for planners in Python, which
    hold the GIL, and for clusters.
    """
    result = run.result
    stamp = "" if result is None else f"{result.episodes}"
    folder = os.path.abspath(run.folder)
    count = workers or os.cpu_count() or 1
    with executors_of(executor, count) as executors:
        waiting = []
        some: list[Any] = []
        for reward in rewards:
            some.append(np.asarray(getattr(reward, "values", reward)))
            if len(some) == batch:
                waiting.append(_submit(executors.current, folder, stamp, some, planner, policies))
                some = []
        if some:
            waiting.append(_submit(executors.current, folder, stamp, some, planner, policies))
        for each in waiting:
            yield from each.result()


def _submit(executor: Executor, folder: str, stamp: str, some: list[Any], planner: Any, policies: bool) -> Any:
    return executor.submit(_certify_some, folder, stamp, some, planner, policies)
