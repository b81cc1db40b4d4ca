#!/usr/bin/env python3
"""Alidade's backward induction against QuantEcon, pymdptoolbox and Storm: the same learned model, one run.

    planners.py [--tool PATH] [--quick]

Run it with the interpreter that has adapters/requirements.txt (./dev test adapters makes build/venv). Two times
are shown apart, medians over repetitions:

solve   the solver alone: the model is in memory, checked and in the tool's own form (sparse everywhere), compiled
        code is warm, one thread where the tool lets one choose. Alidade: what `alidade plan` reports for its planner
        when the same reward is planned for again and again in one process. QuantEcon and pymdptoolbox: one call of theirs for each step. Storm:
        model_checking with scheduler extraction on the unrolled model.
whole   as a user of `alidade plan --planner cmd:...` meets it: the model written to a file, the interpreter
        started, the file read, the model built, solved, and the policy read back. Alidade needs no file, so its
        solve time stands there too.

All values are checked to agree to 1e-8.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "adapters"))

import alidade_model  # noqa: E402
import pymdptoolbox_planner  # noqa: E402
import quantecon_planner  # noqa: E402
import storm_planner  # noqa: E402
import stormpy  # noqa: E402

# states, actions, horizon, successors
SIZES = [(50, 4, 10, 10), (200, 4, 20, 10), (1000, 4, 20, 10)]


def run(tool, *words):
    done = subprocess.run([str(tool), *map(str, words)], stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}: {shlex.join(map(str, words))}")
    return done.stdout


def plan(tool, folder, reward, *flags):
    return json.loads(run(tool, "plan", folder, "--reward", reward, "--json", "--quiet", *flags))


def timed(action, repetitions):
    """The last result, and the median of the seconds; one call more to warm up."""
    action()
    seconds = []
    for _ in range(repetitions):
        began = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - began)
    return result, statistics.median(seconds)


def storm_solver(model, scratch):
    """A function that checks the built model, and the value with it."""
    drn = scratch / "model.drn"
    storm_planner.write_drn(drn, model)
    built = stormpy.build_model_from_drn(str(drn))
    goal = stormpy.parse_properties('R{"r"}max=? [F "end"]')[0]

    def solve():
        result = stormpy.model_checking(built, goal, extract_scheduler=True)
        return result.get_value(built.initial_states[0])
    return solve


def compare(tool, sizes, repetitions, scratch):
    S, A, H, successors = sizes
    problem = f"builtin:garnet?states={S}&actions={A}&features=4&horizon={H}&successors={successors}"
    folder, reward = scratch / f"run{S}", scratch / "reward.json"
    reward.write_text(json.dumps({"entries": [{"state": s, "reward": (s * 37 % 11) / 10} for s in range(S)]}))
    run(tool, "explore", problem, "-o", folder, "--episodes", 200, "--quiet")

    # The first one warms up, as for the others.
    ours = json.loads(run(tool, "plan", folder, "--json", "--quiet", "--threads", 1,
                          *["--reward", reward] * (repetitions + 1)))["plans"][1:]
    value, base = ours[0]["measured"]["value"], statistics.median(p["seconds"] for p in ours)
    rows = [("Alidade, backward induction", base, base)]
    command = lambda name: f"cmd:{shlex.quote(sys.executable)} {ROOT}/adapters/{name}_planner.py {{model}} {{policy}}"
    kept = scratch / f"files{S}"
    for name, solver in [("QuantEcon", "quantecon"), ("pymdptoolbox", "pymdptoolbox"), ("Storm", "storm")]:
        found = [plan(tool, folder, reward, "--planner", command(solver), "--planner-format", "npz",
                      "--planner-folder", kept) for _ in range(3)]
        whole = statistics.median(p["seconds"] for p in found)
        model = alidade_model.read(kept / "model.npz")
        if solver == "storm":
            theirs, seconds = timed(storm_solver(model, scratch), repetitions)
        else:
            adapter = {"quantecon": quantecon_planner, "pymdptoolbox": pymdptoolbox_planner}[solver]
            problems = adapter.problems_of(model)
            (_, values), seconds = timed(lambda: adapter.solve(problems), repetitions)
            theirs = model.value(values)
        if abs(theirs - value) > 1e-8 or found[0]["measured"]["epsilon_opt"] > 1e-8:
            raise SystemExit(f"{name} finds {theirs}, backward induction {value}")
        rows.append((name, seconds, whole))
    print(f"S = {S}, A = {A}, H = {H}, {successors} successors: {S * A * H * successors:,} transitions, "
          f"value {value:.9f}\n")
    print("| planner | solve, ms | / Alidade | whole, ms | / Alidade |\n|---|---:|---:|---:|---:|")
    for name, seconds, whole in rows:
        print(f"| {name} | {1e3 * seconds:.3g} | {seconds / base:.3g} | {1e3 * whole:.3g} | {whole / base:.3g} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, default=Path("build/dev/apps/alidade/alidade"))
    parser.add_argument("--quick", action="store_true", help="the smallest model only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for sizes in SIZES[:1] if options.quick else SIZES:
            compare(options.tool.resolve(), sizes, 7, Path(scratch))


if __name__ == "__main__":
    main()
