#!/usr/bin/env python3
"""How tight reward-free certificates are: what is reported over the largest loss that a search finds.

    tightness.py [--tool PATH] [--quick]

The search is `alidade audit --members`: over members of the confidence sets and all rewards, the exact plan of the model
against the best policy. It finds a lower end, so that reported / attained is an upper end of the slack. One run; two
searches of it from starts of their own.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from runs import arguments, explore_in, garnet, print_table

# Steps of a search: some two minutes; on the last problem a step takes a second.
PROBLEMS = [
    ("garnet 10,3,3,5,5", garnet(10, 3, 3, 5, 5, 1.0, 1), 10**4, 40000),
    ("garnet 20,4,5,5,8 (.3)", garnet(20, 4, 5, 5, 8, 0.3, 1), 10**4, 40000),
    ("chain", "builtin:chain", 10**4, 40000),
    ("riverswim halves", "builtin:riverswim?variant=halves&length=10&horizon=12", 10**4, 40000),
    ("lock deep", "builtin:lock?variant=deep&length=7&actions=3&horizon=9", 10**4, 40000),
    ("lock", "builtin:lock", 10**4, 40000),
    ("inventory", "builtin:inventory", 10**4, 40000),
    ("garnet 50,4,5,10,10", garnet(50, 4, 5, 10, 10, 1.0, 1), 10**4, 1000),
]


def largest_loss(options, run, reward, seed, steps):
    asked = [options.tool, "audit", run, "--members", reward, "--rewards", 1, "--seed", seed, "--climb",
             400 if options.quick else steps, "--json", "--quiet"]
    output = subprocess.run([str(part) for part in asked], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(output)["members"]["loss"]


def main():
    options = arguments(__doc__).parse_args()
    rows = []
    for name, problem, episodes, steps in PROBLEMS[:2] if options.quick else PROBLEMS:
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "run"
            certificate = explore_in(options.tool, problem, run, "--episodes", episodes, "--seed", 1)["certificate"]
            attained = max(largest_loss(options, run, Path(scratch) / "worst.npz", seed, steps) for seed in (1, 2))
        rows.append([name, certificate["method"], f"{certificate['reward_free']:.3g}", f"{attained:.3g}",
                     f"{certificate['reward_free'] / attained:.2f}"])
        print(rows[-1], flush=True)
    print_table(["run", "method", "reported", "attained", "reported / attained"], rows)


if __name__ == "__main__":
    main()
