"""Plans with a planner of your own, and with one of QuantEcon's; each is certified, and none is trusted."""

from typing import Any

import numpy as np

import alidade


def greedy(P: Any, R: Any, H: int) -> Any:
    """Takes what earns most now: (P, R, H) -> (H, S)."""
    return np.argmax(R, axis=2)


def main() -> None:
    problem = alidade.make_builtin("builtin:inventory")
    exploration = alidade.Exploration(problem, seed=1)
    exploration.run(episodes=100_000)
    reward = problem.rewards["balanced"]
    for planner in ("backward-induction", "robust", greedy, alidade.plan.quantecon):
        try:
            print(exploration.knowledge.plan(reward, planner))
        except ModuleNotFoundError as missing:
            print(f"not installed: {missing.name}")


if __name__ == "__main__":
    main()
