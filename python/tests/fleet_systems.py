"""Systems that the workers of the fleet tests make; they must be importable where the workers are."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

import alidade


class Swimmer:
    """The river of builtin:riverswim, stepped in Python: seeded, or not."""

    def __init__(self, uri: str, seeded: bool = True, pause: float = 0.0, problem: Any = None):
        problem = problem or alidade.make_builtin(uri)
        model = problem.true_model()
        self.seeded, self.pause = seeded, pause
        self.actions = problem.shape.actions
        self.start = int(np.argmax(model.start.to_array(problem.shape.states)))
        self.offsets, self.targets = model.successors.offsets, model.successors.targets
        self.laws = [np.array(model.probabilities(h)) for h in range(problem.shape.horizon)]
        self.random = np.random.default_rng(None)

    def reset(self, seed: int) -> int:
        if self.seeded:
            self.random = np.random.default_rng(seed)
        if self.pause:
            time.sleep(self.pause)
        self.state, self.at = self.start, 0
        return self.state

    def step(self, action: int) -> int:
        pair = self.state * self.actions + action
        first, last = int(self.offsets[pair]), int(self.offsets[pair + 1])
        place = np.searchsorted(np.cumsum(self.laws[self.at][first:last]), self.random.random(), side="right")
        self.state = int(self.targets[first + min(int(place), last - first - 1)])
        self.at += 1
        return self.state


class Maker:
    """Makes a swimmer; picklable."""

    def __init__(self, uri: str, **options: Any):
        self.uri, self.options = uri, options

    def __call__(self) -> Swimmer:
        return Swimmer(self.uri, **self.options)


class Fickle(Swimmer):
    """Says that it has seeds, and has none."""

    def reset(self, seed: int) -> int:
        return super().reset(seed + os.getpid() + time.monotonic_ns())


class FickleMaker(Maker):
    def __call__(self) -> Fickle:
        return Fickle(self.uri, **self.options)


class Failing(Swimmer):
    """Cannot get past its twentieth episode in one process."""

    episodes = 0

    def reset(self, seed: int) -> int:
        self.episodes += 1
        if self.episodes > 20:
            raise OSError("the valve is stuck")
        return super().reset(seed)


class FailingMaker(Maker):
    def __call__(self) -> Failing:
        return Failing(self.uri, **self.options)


class Slow(Swimmer):
    """Not seeded, and an episode that gets upstream takes long: quick answers are not like the others."""

    delay = 2.2

    def step(self, action: int) -> int:
        state = super().step(action)
        if self.at == 1 and state > self.start:
            time.sleep(self.delay)
        return state


class SlowMaker(Maker):
    def __call__(self) -> Slow:
        return Slow(self.uri, seeded=False, **self.options)
