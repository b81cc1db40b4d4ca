"""Explores a system of your own, which can only be stepped; every episode is kept in a run on disk."""

import random
import tempfile

import numpy as np
import numpy.typing as npt

import alidade


class Walk:
    """A chain of states: action 1 tries to go right and sometimes slips. Nobody but this class knows how often."""

    seeded = True  # an episode is fixed by its seed

    def reset(self, seed: int) -> int:
        self.random, self.state = random.Random(seed), 0
        return self.state

    def step(self, action: int) -> int:
        slips = self.random.random() < 0.35
        self.state = min(self.state + 1, 4) if action == 1 and not slips else 0
        return self.state


def candidate(states: int, slips: float) -> npt.NDArray[np.float64]:
    """What somebody thinks it may be like: P[s, a, s']."""
    kernel = np.zeros((states, 2, states))
    kernel[:, 0, 0] = 1
    for s in range(states):
        kernel[s, 1, 0] += slips
        kernel[s, 1, min(s + 1, states - 1)] += 1 - slips
    return kernel


def main() -> None:
    problem = alidade.Problem([candidate(5, 0.1), candidate(5, 0.8)], horizon=8, homogeneous=True)
    with tempfile.TemporaryDirectory() as folder, alidade.Run.create(folder, problem, seed=1) as run:
        run.explore(Walk(), episodes=5_000)
        knowledge = run.knowledge()
    slips = float(knowledge.weights[0] @ [0.1, 0.8])
    print(f"slips {slips:.3f} of the time; any reward: loss at most {knowledge.certificate.bound:.4f} of 8")
    far_right = knowledge.plan([0, 0, 0, 0, 1.0])
    print(f"to be at the end: {far_right}")


if __name__ == "__main__":
    main()
