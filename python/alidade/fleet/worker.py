"""What runs on the workers of a fleet. Everything here must be importable there, and nothing here writes to a run."""

from __future__ import annotations

import os
import pickle
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Episodes = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_]]

class _Systems(threading.local):
    """Systems that this thread has made, by the bytes they were made of: a simulator may take long to start."""

    def __init__(self) -> None:
        self.made: dict[bytes, Any] = {}


_systems = _Systems()


@dataclass(frozen=True)
class Order:
    """One experiment on its way to a worker."""

    experiment: int
    first_episode: int
    episodes: int
    seed: int
    policy: npt.NDArray[Any]
    """Actions (H, S), or probabilities (H, S, A)."""
    shape: tuple[int, int, int]
    system: bytes
    """A pickled function that makes the system."""
    ticket: int
    """Another one for each order, so that no engine takes two of them for one."""


@dataclass(frozen=True)
class Answer:
    """What came of an order."""

    episodes: Episodes
    seconds: float
    worker: str
    error: str = ""
    """Why it did not get to the end; what was seen before is in ``episodes``."""
    cause: Any = field(default=None, repr=False)
    """The exception, where it can be sent."""


def pack(make: Any) -> bytes:
    """A function as bytes; by cloudpickle where it is there, which also takes those that were defined on the spot."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(make)
    return bytes(cloudpickle.dumps(make))


def _system_of(packed: bytes) -> Any:
    if packed not in _systems.made:
        _systems.made[packed] = pickle.loads(packed)()
    return _systems.made[packed]


def who() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def run_order(order: Order) -> Answer:
    """Runs the episodes of an order. What the system raises comes back with the episodes before it."""
    from alidade.environment import run_episodes
    from alidade.model import Policy, Shape

    began = time.perf_counter()
    parts: list[Episodes] = []
    error, cause = "", None
    try:
        shape = Shape(*order.shape)
        system = _system_of(order.system)
        run_episodes(
            system,
            Policy(order.policy, shape),
            first=order.first_episode,
            count=order.episodes,
            seed=order.seed,
            accept=lambda *batch: parts.append(batch),
        )
    except Exception as failure:  # whatever it is, it is the driver's to decide
        _systems.made.pop(order.system, None)
        error = f"{type(failure).__name__}: {failure}"
        cause = _sendable(failure)
    return Answer(_joined(parts, order.shape[2]), time.perf_counter() - began, who(), error, cause)


def _joined(parts: list[Episodes], horizon: int) -> Episodes:
    if not parts:
        empty = np.empty((0, horizon), dtype=np.int32)
        return empty, empty, np.empty(0, dtype=bool)
    states, actions, complete = (np.concatenate(each) for each in zip(*parts))
    return states, actions, complete


def _sendable(failure: Exception) -> Exception | None:
    try:
        pickle.loads(pickle.dumps(failure))
    except Exception:
        return None
    return failure
