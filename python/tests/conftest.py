"""What the tests share: the command line beside which the package is tested, and small problems."""

from __future__ import annotations

import os
import pathlib
import random

import numpy as np
import pytest

import alidade

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("ALIDADE_TOOL", ROOT / "build/dev/apps/alidade/alidade"))
RIVER = "builtin:riverswim?length=5&horizon=8"


@pytest.fixture
def tool() -> pathlib.Path:
    """The command line of the same build."""
    if not TOOL.exists():
        pytest.fail(f"{TOOL}: build it, or name it by ALIDADE_TOOL")
    return TOOL


@pytest.fixture
def two_laws() -> list[np.ndarray]:
    """Two base models over three states and two actions."""
    draws = np.random.default_rng(3)
    return [draws.dirichlet(np.ones(3), size=(3, 2)) for _ in range(2)]


@pytest.fixture
def problem(two_laws: list[np.ndarray]) -> alidade.Problem:
    return alidade.Problem(two_laws, horizon=4, truth=[0.3, 0.7], name="three")


class Sampled:
    """A known model played in Python, as a user's system is."""

    seeded = True

    def __init__(self, model: alidade.TransitionModel) -> None:
        self.laws = [np.cumsum(model.to_arrays(step=h), axis=2) for h in range(model.shape.horizon)]
        self.start = model.start.atoms[0][0]
        self.calls = 0

    def reset(self, seed: int) -> int:
        self.random, self.state, self.step_now = random.Random(seed), self.start, 0
        return self.state

    def step(self, action: int) -> int:
        self.calls += 1
        row = self.laws[self.step_now][self.state, action]
        self.state = int(np.searchsorted(row, self.random.random() * row[-1], side="right"))
        self.step_now += 1
        return self.state


@pytest.fixture
def sampled(problem: alidade.Problem) -> Sampled:
    return Sampled(problem.true_model())
