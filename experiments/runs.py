"""Runs of the tool, and tables of what they gave; what all experiments share."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SPENT = 3  # exit code of `alidade explore` when the budget is spent before the target
SHARPENINGS = ["projection", "log-det", "ranges", "bias", "hull", "delta", "best-iterate", "coupling", "span", "divergences", "chains"]


# Algorithm 1 with our constants, and the three certificates that the study of its rates had.
SHARP = ["--algorithm", "hoeffding", "--confidence", "regression?without=divergences+chains"]
SHARP_WITHOUT_SPAN = ["--algorithm", "hoeffding", "--confidence", "regression?without=span+divergences+chains"]


def arguments(description):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--tool", type=Path, default=Path("build/dev/apps/alidade/alidade"),
                        help="the alidade program")
    parser.add_argument("--quick", action="store_true", help="one seed, and the smaller problems only")
    return parser


def garnet(states, actions, features, horizon, successors, concentration, seed):
    return (f"builtin:garnet?states={states}&actions={actions}&features={features}&horizon={horizon}"
            f"&successors={successors}&concentration={concentration}&seed={seed}")


def explore_in(tool, problem, run, *flags):
    """The result of one `alidade explore` in the folder `run`, which is resumed if it is there. One thread: runs go
    side by side."""
    command = [tool, "explore", problem, "-o", run, "--threads", 1, "--quiet", "--json", *flags]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE)
    if done.returncode not in (0, SPENT):
        raise SystemExit(f"exit code {done.returncode}: {' '.join(str(part) for part in command)}")
    return json.loads(done.stdout)


def explore(tool, problem, *flags):
    """The same, and the run is thrown away."""
    with tempfile.TemporaryDirectory() as scratch:
        return explore_in(tool, problem, Path(scratch) / "run", *flags)


def episodes_to(tool, problem, target, *flags, budget=10**12):
    """K: the episodes at the first certificate of at most the target."""
    result = explore(tool, problem, "--target", target, "--episodes", budget, *flags)
    if result["stopped"] != "target":
        raise SystemExit(f"{problem}: {result['certificate']['reward_free']:.4g} after {budget:.3g} episodes, "
                         f"and the target was {target}")
    return result["episodes"]


def certificate_at(tool, problem, episodes, *flags):
    return explore(tool, problem, "--episodes", episodes, *flags)["certificate"]["reward_free"]


def side_by_side(measure, cases):
    """[measure(*case) for case in cases], as many at once as there are cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda case: measure(*case), cases))


def over_seeds(measure, seeds):
    """The values of measure(seed), sorted: their median is what tables show."""
    return sorted(side_by_side(measure, [(seed,) for seed in seeds]))


def number(value):
    """Up to three digits, in the manner 1.2e5."""
    if value < 1e3:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def median_and_range(values):
    if min(values) == max(values):
        return number(values[0])
    return f"{number(statistics.median(values))} ({number(min(values))} to {number(max(values))})"


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * (len(heads) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)
