#!/usr/bin/env python3
"""Which confidence sets are smallest when: certificates of the same data by the sets of each kind.

    sets.py [--tool PATH] [--quick]

Uniform actions and one seed a column, so that all kinds see the same episodes. The first table has the candidate
`model`, which follows the widths of the sets alone; the second what hands-on users get, the least candidate, on pooled
garnets with long horizons, where certificates by divergences decide.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from pooling import write_problem
from runs import arguments, garnet, print_table

KINDS = ["regression", "weighted", "likelihood", "weighted,likelihood"]
PROBLEMS = {
    "garnet 10,3,3,5,5": (garnet(10, 3, 3, 5, 5, 1.0, 1), 1e6),
    "garnet 20,4,5,5,8": (garnet(20, 4, 5, 5, 8, 0.3, 1), 1e6),
    "riverswim 12, H = 20": ("builtin:riverswim", 1e6),
    "gridworld 4 x 4, H = 16": ("builtin:gridworld?width=4&height=4&horizon=16", 1e6),
    "hard, H = 10": ("builtin:hard?features=5&horizon=10", 1e6),
    "hard, H = 50": ("builtin:hard?features=5&horizon=50", 1e6),
    "hard, H = 200": ("builtin:hard?features=5&horizon=200", 1e6),
}


def certificate(tool, problem, kind, episodes, algorithm, seed):
    """The certificate of a run, or nothing where there are no such sets."""
    if "likelihood" in kind and "hard" in str(problem):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([tool, "explore", problem, "-o", Path(scratch) / "run", "--algorithm", algorithm,
                               "--confidence", kind, "--episodes", str(int(episodes)), "--replan", "growth=1",
                               "--seed", str(seed), "--json", "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout)["certificate"]


def shown(value):
    return "-" if value is None else f"{value:.4g}"


def main():
    options = arguments(__doc__).parse_args()
    rows = []
    for name, (problem, episodes) in PROBLEMS.items():
        if options.quick and "200" in name:
            continue
        found = [certificate(options.tool, problem, kind, episodes, "uniform", 1) for kind in KINDS]
        values = [None if each is None else each["candidates"]["model"] for each in found]
        rows.append([name, *map(shown, values), shown(values[1] / values[0])])
    print("candidate `model` after 1e6 episodes of uniform actions\n")
    print_table(["problem", *KINDS, "weighted / regression"], rows)
    rows = []
    for horizon in (10, 50, 200):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "problem"
            write_problem(options.tool, garnet(10, 3, 3, horizon, 5, 1.0, 1), folder, True)
            found = [certificate(options.tool, folder, kind, 1e4, "hoeffding", 1) for kind in KINDS]
        rows.append([horizon, *(f"{min(each['candidates'].values()):.4g} ({each['method']})" for each in found),
                     shown(found[0]["candidates"]["coupling"])])
    print("\nleast candidate after 1e4 episodes of hoeffding on the pooled garnet 10,3,3,H,5\n")
    print_table(["H", *KINDS, "regression, coupling"], rows)


if __name__ == "__main__":
    main()
