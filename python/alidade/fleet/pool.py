"""Where the workers of a fleet come from."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any, Union

ExecutorSource = Union[Executor, Callable[[], Executor], None]


def process_pool(workers: int) -> ProcessPoolExecutor:
    """A pool of processes that are started afresh: the library has threads, which a fork would tear apart."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


class executors_of:
    """The executor in use, and how another one is made when it breaks. Those made here are shut down here."""

    def __init__(self, source: ExecutorSource, workers: int):
        self._make: Callable[[], Executor] | None = None
        if source is None:
            self._make = lambda: process_pool(workers)
        elif not isinstance(source, Executor) and callable(source):
            self._make = source
        elif not hasattr(source, "submit"):
            raise TypeError(f"executor is a {type(source).__name__}; must be a concurrent.futures.Executor, or a function that makes one")
        self._own: list[Executor] = []
        self.generation = 0
        """How many executors were in use before."""
        self.current: Any = source if self._make is None else self._new()

    def _new(self) -> Executor:
        assert self._make is not None
        made = self._make()
        self._own.append(made)
        return made

    def rebuild(self) -> bool:
        """Another executor in place of the one in use, which broke; False if it came from outside."""
        if self._make is None:
            return False
        dead = self._own.pop()
        if isinstance(dead, ProcessPoolExecutor):
            dead.shutdown(wait=False, cancel_futures=True)  # others may wait for ever for a scheduler that is gone
        self.current = self._new()
        self.generation += 1
        return True

    def __enter__(self) -> executors_of:
        return self

    def __exit__(self, *failure: object) -> None:
        for each in self._own:
            each.shutdown(wait=failure[0] is None)
