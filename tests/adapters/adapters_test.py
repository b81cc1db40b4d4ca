#!/usr/bin/env python3
"""Every adapter finds the optimal value on learned models, and what it claims is true.

    adapters_test.py --tool PATH

The interpreter that runs this runs the adapters. The optimum comes from the tool's backward induction, which its
own tests compare with an enumeration of all policies.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ADAPTERS = Path(__file__).resolve().parents[2] / "adapters"
# How far below the optimum: rounding, or what a tool says of itself.
ACCURACY = {"storm": 1e-8, "quantecon": 1e-8, "pymdptoolbox": 1e-8, "mdpsolver": 1e-7, "gymnasium": 1e-8}

OWN_FORMS = {"storm": ["drn"], "gymnasium": ["gym"]}  # what they read besides alidade's own


def run(tool, *words):
    done = subprocess.run([str(tool), *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}: {shlex.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def edited(tool, folder, problem, old, new):
    """A problem folder with one line of problem.toml replaced."""
    run(tool, "problem", "make", problem, "-o", folder)
    text = (folder / "problem.toml").read_text()
    if old not in text:
        raise SystemExit(f"{folder}/problem.toml has no '{old}':\n{text}")
    (folder / "problem.toml").write_text(text.replace(old, new, 1))
    return folder


def homogeneous(folder):
    """The same problem with the weights of step 0 at all steps."""
    truth = json.loads((folder / "truth.json").read_text())
    truth["weights"] = truth["weights"][:1]
    (folder / "truth.json").write_text(json.dumps(truth))
    return folder


def problems(tool, scratch):
    """Name, problem and rewards."""
    garnet = "builtin:garnet?states=12&actions=3&features=3&horizon=6&successors=5&seed=2"
    swim = "builtin:riverswim?variant=halves&length=8&horizon=9"
    (scratch / "corner.json").write_text(json.dumps(
        {"default": 0, "entries": [{"state": 3, "reward": 1}, {"state": 7, "action": 1, "reward": 0.5},
                                   {"state": 1, "step": 2, "reward": 0.25}]}))
    yield "warehouse", "builtin:inventory", ["balanced"]
    yield "garnet", garnet, [scratch / "corner.json"]
    yield "riverswim, homogeneous", homogeneous(edited(
        tool, scratch / "swim", swim, "homogeneous = false", "homogeneous = true")), [scratch / "corner.json"]
    yield "garnet with a start law", edited(tool, scratch / "law", garnet, "initial_state = 0",
                                            "initial = [[0, 0.25], [3, 0.5], [11, 0.25]]"), [scratch / "corner.json"]


def check(tool, folder, reward, adapter, form):
    command = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(ADAPTERS / adapter))}_planner.py {{model}} {{policy}}"
    plan = json.loads(run(tool, "plan", folder, "--reward", reward, "--planner", command, "--planner-format", form,
                          "--json", "--quiet"))
    return plan["measured"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, required=True)
    options = parser.parse_args()
    tool, failures, checks = options.tool.resolve(), [], 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for number, (name, problem, rewards) in enumerate(problems(tool, scratch)):
            folder = scratch / f"run{number}"
            run(tool, "explore", problem, "-o", folder, "--episodes", 2000, "--quiet")
            for reward in rewards:
                exact = json.loads(run(tool, "plan", folder, "--reward", reward, "--json", "--quiet"))["measured"]
                for adapter, accuracy in ACCURACY.items():
                    began = time.monotonic()
                    # Each reads several forms of the model; take turns.
                    forms = ["json", "npz"] + OWN_FORMS.get(adapter, [])
                    measured = check(tool, folder, reward, adapter, forms[number % len(forms)])
                    checks += 1
                    wrong = [reason for reason, bad in [
                        ("not optimal", measured["epsilon_opt"] > accuracy),
                        ("claims another value", abs(measured["claimed_value"] - exact["value"]) > accuracy),
                        ("claims are false", not measured["claims_true"])] if bad]
                    print(f"{name:<26} {adapter:<13} value {measured['value']:.9f}  short by "
                          f"{measured['epsilon_opt']:.1e}  claims {measured['claimed_value']:.9f} within "
                          f"{measured['claimed_accuracy']:.1e}  {time.monotonic() - began:4.1f} s  "
                          f"{', '.join(wrong) or 'ok'}", flush=True)
                    failures += [f"{name}, {adapter}: {reason}" for reason in wrong]
    if failures:
        raise SystemExit("\n".join(["failed:"] + failures))
    print(f"{checks} plans by {len(ACCURACY)} tools, all optimal")


if __name__ == "__main__":
    main()
