"""Systems under study.

What ``Run.explore`` and ``Exploration.run`` take for the system, besides the simulated truth, is any object of one of
two kinds; nothing has to be inherited. Python code only ever runs on the thread that called.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Union

from ._core import CommandSystem, Episode, Policy, SimulatedSystem, run_episodes, seed_of_episode, simulate

__all__ = ["CommandSystem", "Environment", "Episode", "SimulatedSystem", "System", "run_episodes", "seed_of_episode", "simulate"]


class Environment(Protocol):
    """A system that can only be stepped.

    An attribute ``seeded = True`` says that an episode is fixed by its seed: run again, it is the same. Without it each
    attempt is an experiment of its own, and one that breaks off counts as far as it came.

    >>> import alidade, random
    >>> class Walk:
    ...     seeded = True
    ...     def reset(self, seed):
    ...         self.random, self.state = random.Random(seed), 0
    ...         return 0
    ...     def step(self, action):
    ...         slips = self.random.random() < 0.35
    ...         self.state = min(self.state + 1, 4) if action == 1 and not slips else 0
    ...         return self.state
    """

    def reset(self, seed: int) -> int:
        """Starts an episode; returns the first state. ``seed`` is the episode's own, below 2**53."""

    def step(self, action: int) -> Union[int, tuple[int, Union[str, None]]]:
        """Takes an action; returns the next state, or (state, end).

        The end is None; "terminated": the system stays in that state for the steps that are left, and every base model
        must say so too; or "truncated": what would follow is missing, and the episode counts as far as it came.
        """


class System(Protocol):
    """A system that runs whole experiments: many episodes at once, on other machines, in vector environments.

    An attribute ``seeded = True`` says that an episode is fixed by its number.
    """

    def run(self, policy: Policy, first: int, count: int) -> Iterable[Any]:
        """Runs episodes first .. first+count-1 of the policy and yields them in the order of their numbers.

        Each item is a batch: a list of ``Episode`` or of (states, actions), or a pair of arrays (states, actions) of
        shape (episodes, steps), where -1 stands for "the episode was over", and perhaps a third array that says which
        are complete. What was yielded is kept; the iteration may be ended after any item.
        """
