#!/usr/bin/env python3
"""One learned model, planned by every built-in planner and by every tool that has an adapter.

    planners.py [--tool PATH] [--quick]

Run it with the interpreter that has adapters/requirements.txt (./dev test adapters makes build/venv). The problem
is the demo's warehouse after 10^5 episodes, the reward `balanced`. "short by" is measured in the learned model;
the certified loss bounds how far the plan may be from optimal in the true system, with probability 0.9, and needs
no word of the planner's. Seconds are those of planning; for another program that includes writing the model,
starting the interpreter and reading the policy back.
"""

import json
import math
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from runs import arguments, number, print_table

BUILT_IN = ["backward-induction", "linear-program", "policy-iteration", "uct?simulations=100",
            "uct?simulations=1000", "uct?simulations=10000", "rollout?depth=1", "rollout?depth=2", "lookahead?depth=1",
            "lookahead?depth=2"]
ADAPTERS = ["storm", "quantecon", "pymdptoolbox", "mdpsolver", "gymnasium"]


def run(tool, *words):
    done = subprocess.run([str(tool), *map(str, words)], stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}: {shlex.join(map(str, words))}")
    return done.stdout


def row_of(tool, folder, name, planner):
    plan = json.loads(run(tool, "plan", folder, "--reward", "balanced", "--planner", planner, "--json", "--quiet"))
    measured = plan["measured"]
    accuracy = measured["claimed_accuracy"]
    return [name, f"{measured['value']:.9f}", number(measured["epsilon_opt"]),
            "nothing" if accuracy is None else number(accuracy), "yes" if measured["claims_true"] else "NO",
            f"{math.ceil(1e5 * plan['loss_bound']) / 1e5:.5f}", number(plan["seconds"])]


def main():
    options = arguments(__doc__).parse_args()
    tool = options.tool.resolve()
    adapters = Path(__file__).resolve().parents[1] / "adapters"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        run(tool, "explore", "builtin:inventory", "-o", folder, "--episodes", 2000 if options.quick else 10**5,
            "--quiet")
        planners = [planner for planner in BUILT_IN if not (options.quick and planner.endswith("=10000"))]
        rows = [row_of(tool, folder, f"`{planner}`", planner) for planner in planners]
        for adapter in ADAPTERS:
            command = shlex.join([sys.executable, str(adapters / f"{adapter}_planner.py")])
            rows.append(row_of(tool, folder, f"`{adapter}_planner.py`", f"cmd:{command} {{model}} {{policy}}"))
    print_table(["planner", "value", "short by", "claims to be within", "claims true", "certified loss", "seconds"],
                rows)


if __name__ == "__main__":
    main()
