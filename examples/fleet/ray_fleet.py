"""A fleet on Ray: its futures are those of concurrent.futures, so three lines make an executor of it.

    pip install 'alidade[fleet]' ray
    python ray_fleet.py
"""

from __future__ import annotations

import random
import tempfile
from concurrent.futures import Executor
from typing import Any

import alidade
from alidade import fleet


class RayExecutor(Executor):
    """The three lines."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        import ray

        return ray.remote(function).remote(*arguments, **named).future()


class River:
    """A swimmer in a river, who gets one place upstream with 0.4 if they try, and never else."""

    seeded = True

    def reset(self, seed: int) -> int:
        self.random, self.state = random.Random(seed), 0
        return self.state

    def step(self, action: int) -> int:
        up = action == 1 and self.random.random() < 0.4
        self.state = min(3, self.state + 1) if up else max(0, self.state - 1)
        return self.state


def river_law(chance: float) -> list[list[list[float]]]:
    """A base model: upstream with this chance."""
    law = [[[0.0] * 4 for _ in range(2)] for _ in range(4)]
    for s in range(4):
        law[s][0][max(0, s - 1)] = 1.0
        law[s][1][min(3, s + 1)] += chance
        law[s][1][max(0, s - 1)] += 1 - chance
    return law


def main(executor: Executor, episodes: int = 300) -> alidade.Knowledge:
    problem = alidade.Problem([river_law(0.2), river_law(0.9)], horizon=6, homogeneous=True)
    with alidade.Run.create(tempfile.mkdtemp(), problem, system="ask", seed=1) as run:
        print(fleet.explore(run, River, executor, workers=2, episodes=episodes))
        return run.knowledge()


if __name__ == "__main__":
    import ray

    ray.init(num_cpus=2)
    print(main(RayExecutor()))
