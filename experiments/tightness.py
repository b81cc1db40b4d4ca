#!/usr/bin/env python3
"""How tight reward-free certificates are: what is reported over the largest loss that a search finds.

    tightness.py [--tool PATH] [--quick]

The search is `alidade audit --members`: over members of the confidence sets and all rewards, the exact plan of the model
against the best policy. It finds a lower end, so that reported / attained is an upper end of the slack. One seed.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from runs import arguments, explore_in, garnet, print_table

PROBLEMS = [
    ("garnet 10,3,3,5,5", garnet(10, 3, 3, 5, 5, 1.0, 1), 10**4),
    ("garnet 20,4,5,5,8 (.3)", garnet(20, 4, 5, 5, 8, 0.3, 1), 10**4),
    ("chain", "builtin:chain", 10**4),
    ("riverswim halves", "builtin:riverswim?variant=halves&length=10&horizon=12", 10**4),
    ("lock deep", "builtin:lock?variant=deep&length=7&actions=3&horizon=9", 10**4),
    ("lock", "builtin:lock", 10**4),
    ("inventory", "builtin:inventory", 10**4),
    ("garnet 50,4,5,10,10", garnet(50, 4, 5, 10, 10, 1.0, 1), 10**4),
]


def main():
    options = arguments(__doc__).parse_args()
    rows = []
    for name, problem, episodes in PROBLEMS[:2] if options.quick else PROBLEMS:
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "run"
            certificate = explore_in(options.tool, problem, run, "--episodes", episodes, "--seed", 1)["certificate"]
            asked = [options.tool, "audit", run, "--members", Path(scratch) / "worst.npz", "--rewards", "1", "--climb",
                     "400" if options.quick else "4000", "--json", "--quiet"]
            found = json.loads(subprocess.run([str(part) for part in asked], stdout=subprocess.PIPE, check=True).stdout)
        attained = found["members"]["loss"]
        rows.append([name, certificate["method"], f"{certificate['reward_free']:.3g}", f"{attained:.3g}",
                     f"{certificate['reward_free'] / attained:.2f}"])
        print(rows[-1], flush=True)
    print_table(["run", "method", "reported", "attained", "reported / attained"], rows)


if __name__ == "__main__":
    main()
