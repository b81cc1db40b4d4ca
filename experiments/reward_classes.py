#!/usr/bin/env python3
"""What it saves to know a class that the reward will be of: a total of at most 1, or the last steps only.

    reward_classes.py [--tool PATH] [--quick]

Garnets with concentration 1, K episodes. Of the total: pooled, the weights of step 0 at all steps, by H; seeds change
problem and run. Of the steps: the candidate `coupling`, seed 1, by K.
"""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from pooling import write_problem
from runs import arguments, explore_in, garnet, print_table


def explored(tool, problem, run, episodes, seed):
    explore_in(tool, problem, run, "--episodes", episodes, "--seed", seed)
    return run


def certified(tool, run, rewards):
    return json.loads(subprocess.run([tool, "certify", run, "--class", rewards, "--json"], check=True,
                                     capture_output=True, text=True).stdout)


def of_total(tool, horizon, episodes, seed):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "problem"
        write_problem(tool, garnet(10, 3, 3, horizon, 5, 1.0, seed), folder, True)
        return certified(tool, explored(tool, folder, Path(scratch) / "run", episodes, seed), "total")


def of_steps(tool, episodes):
    with tempfile.TemporaryDirectory() as scratch:
        run = explored(tool, garnet(10, 3, 3, 5, 5, 1.0, 1), Path(scratch) / "run", episodes, 1)
        classes = {name: certified(tool, run, name) for name in ("steps=0..", "steps=3..", "total")}
        return {name: found["candidates"] for name, found in classes.items()}


def main():
    options = arguments(__doc__).parse_args()
    rows = []
    for horizon in [10, 50] if options.quick else [10, 50, 200]:
        found = [of_total(options.tool, horizon, 10_000, seed) for seed in ([1] if options.quick else range(1, 6))]
        bounds = sorted(each["bound"] for each in found)
        free = statistics.median(each["reward_free"] for each in found)
        rows.append([horizon, " ".join(f"{bound:.4f}" for bound in bounds), f"{statistics.median(bounds):.4f}",
                     f"{free:.3f}", f"{free / horizon:.4f}", " ".join(sorted({each["method"] for each in found}))])
    print("A total of at most 1, pooled garnet 10,3,3,H,5, K = 1e4\n")
    print_table(["H", "bound of every seed", "median", "any reward, of H", "over H", "by"], rows)
    rows = []
    for episodes in [1_000, 10_000] if options.quick else [1_000, 10_000, 100_000]:
        found = of_steps(options.tool, episodes)
        rows.append([f"{episodes:,}"] + [f"{found[name][method]:.4f}" for method in ("coupling", "trajectory-kl")
                                         for name in ("steps=0..", "steps=3..", "total")])
    print("\nGarnet 10,3,3,5,5\n")
    print_table(["K", "coupling, any reward", "last two steps", "total", "trajectory-kl, any reward",
                 "last two steps", "total"], rows)


if __name__ == "__main__":
    main()
