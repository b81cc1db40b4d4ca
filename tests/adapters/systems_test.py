#!/usr/bin/env python3
"""Gymnasium's FrozenLake, explored through examples/systems/gymnasium_server.py by alidade, which is not told how slippery
the ice is: the certificate is reached, holds against the lake's own P, and what was counted has the law of a simulation.

    systems_test.py --tool PATH

The interpreter that runs this runs the server.
"""

import argparse
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy
import scipy.stats

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "systems"
HORIZON, TRUTH, RATES = 20, 0.55, (0.3, 0.9)
SERVER = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES / 'gymnasium_server.py'))} FrozenLake-v1 success_rate={TRUTH}"
# Smallest probability of a chi-square statistic that passes; 19 of them are looked at, with fixed seeds.
LEVEL = 1e-6


def run(tool, *words, code=0):
    done = subprocess.run([str(tool), *map(str, words)], capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"exit code {done.returncode}: {shlex.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def lake_laws(rate):
    """P as an array (state, action, next)."""
    table = gymnasium.make("FrozenLake-v1", success_rate=rate).unwrapped.P
    laws = numpy.zeros((len(table), 4, len(table)))
    for state in table:
        for action in table[state]:
            for probability, target, _, _ in table[state][action]:
                laws[state, action, target] += probability
    return laws


def counts_of(folder):
    """Counts by step and entry; entries are the pairs' possible successors, in order."""
    with sqlite3.connect(folder / "run.sqlite") as database:
        rows = list(database.execute("SELECT step, data FROM counts ORDER BY step, part"))
    steps = [b"".join(data for step, data in rows if step == h) for h in range(HORIZON - 1)]
    return numpy.array([numpy.frombuffer(data, dtype=numpy.int64) for data in steps])


def check_law(tool, scratch, lake):
    """Uniform actions: at every step each episode falls into one entry, independently of the others."""
    log = scratch / "log.jsonl"
    flags = ["--algorithm", "uniform", "--replan", "growth=10", "--seed", 3, "--quiet", "--json"]
    run(tool, "explore", lake, "-o", scratch / "child", "--episodes", 4000, "--workers", 2,
        "--system", f"{SERVER} --log {shlex.quote(str(log))}", *flags)
    run(tool, "explore", lake, "-o", scratch / "simulated", "--episodes", 40000, *flags)
    child, simulated = counts_of(scratch / "child"), counts_of(scratch / "simulated")
    assert (child.sum(axis=1) == 4000).all() and (simulated.sum(axis=1) == 40000).all()
    least = 1.0
    for seen, drawn in zip(child, simulated):
        common = (seen + drawn) >= 55  # at least five expected of the 4,000
        table = numpy.array([[*seen[common], seen[~common].sum()], [*drawn[common], drawn[~common].sum()]])
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] > 1:
            least = min(least, scipy.stats.chi2_contingency(table, correction=False).pvalue)
    assert least > LEVEL, f"the counts have another law than the simulation's: p = {least}"

    # And they are those of the episodes that the server says it ran; what follows an end is ours.
    laws = lake_laws(RATES[0]) + lake_laws(RATES[1])
    entries = [(s, a, t) for s in range(16) for a in range(4) for t in numpy.flatnonzero(laws[s, a])]
    place = {entry: i for i, entry in enumerate(entries)}
    logged, episodes = numpy.zeros_like(child), set()
    for line in log.read_text().splitlines():
        episode = json.loads(line)
        if episode["id"] in episodes:  # the first of a session is run twice, and counted once
            continue
        episodes.add(episode["id"])
        for h, (s, a, t) in enumerate(zip(episode["states"], episode["actions"], episode["states"][1:])):
            if h < HORIZON - 1:
                logged[h, place[s, a, int(t)]] += 1
    assert len(episodes) == 4000
    alive = numpy.array([not (laws[s, a, s] == 2) for s, a, _ in entries])
    assert (logged[:, alive] == child[:, alive]).all(), "what was counted is not what the server did"
    return least


def best_and_value(laws, policy):
    """Values from the start, by hand, of the best policy and of this one, for being at the goal at the end."""
    best = value = numpy.eye(16)[15]
    for h in range(HORIZON - 2, -1, -1):
        best = (laws @ best).max(axis=1)
        value = numpy.array([(laws @ value)[s, policy[h][s]] for s in range(16)])
    return best[0], value[0]


def check_certificate(tool, scratch, lake, known):
    target = HORIZON / 10
    explored = {}
    for workers in (1, 8):
        explored[workers] = json.loads(run(
            tool, "explore", lake, "-o", scratch / f"run{workers}", "--system", SERVER, "--workers", workers,
            "--target", target, "--episodes", 20000, "--json", "--quiet"))
    same = [{key: value for key, value in one.items() if key not in ("seconds", "run", "threads")}
            for one in explored.values()]
    assert same[0] == same[1], "one worker and eight differ"
    assert explored[1]["stopped"] == "target" and explored[1]["certificate"]["reward_free"] <= target
    plan = json.loads(run(tool, "plan", scratch / "run1", "--reward", "goal", "--json", "--quiet", "-o",
                          scratch / "plan.json"))
    best, value = best_and_value(lake_laws(TRUTH), json.loads((scratch / "plan.json").read_text())["policy"])
    assert plan["loss_bound"] <= target
    assert best - value <= plan["loss_bound"] + 1e-9, f"the loss is {best - value}, its bound {plan['loss_bound']}"
    assert plan["value_lower"] - 1e-9 <= value <= plan["value_upper"] + 1e-9
    # The same system, where the folder says what it is.
    run(tool, "explore", known, "-o", scratch / "audited", "--system", SERVER, "--target", target, "--quiet", "--json")
    audit = json.loads(run(tool, "audit", scratch / "audited", "--json", "--quiet"))
    assert audit["truth_in_confidence_set"] and audit["violations"] == 0, audit
    run(tool, "audit", scratch / "run1", code=2)
    return explored[1], plan, best - value


def check_asking(tool, scratch, lake):
    """The same by a shell script that asks and tells: with seeds it is the run of the child, byte for byte."""
    flags = ["--replan", "growth=1", "--target", HORIZON / 10, "--episodes", 20000, "--threads", 1, "--quiet", "--json"]
    child, asked = scratch / "by-child", scratch / "by-asking"
    explored = json.loads(run(tool, "explore", lake, "-o", child, "--system", SERVER, *flags))
    run(tool, "explore", lake, "-o", asked, "--system", "ask?seeded=true", *flags)
    path = f"{tool.parent}:{os.environ['PATH']}"
    subprocess.run([str(EXAMPLES.parent / "asking" / "lake.sh"), str(asked), sys.executable,
                    str(EXAMPLES / "gymnasium_server.py"), "FrozenLake-v1", f"success_rate={TRUTH}"],
                   env={**os.environ, "PATH": path, "PYTHON": sys.executable}, check=True)
    assert explored["stopped"] == "target"
    assert json.loads(run(tool, "status", asked, "--json"))["ended"] == "target"
    for table in ("counts", "memory", "knowledge", "certificate", "result"):
        rows = [sorted(map(repr, sqlite3.connect(folder / "run.sqlite").execute(f"SELECT * FROM {table}")))
                for folder in (child, asked)]
        assert rows[0] == rows[1], f"asked and told, the run has another table {table}"
    assert json.loads(run(tool, "replay", asked, "--json"))["equal"]
    return explored["episodes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, required=True)
    tool = parser.parse_args().tool.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        make = [sys.executable, str(EXAMPLES / "frozen_lake.py")]
        sizes = ["--rates", *map(str, RATES), "--horizon", str(HORIZON)]
        subprocess.run([*make, scratch / "lake", *sizes], check=True)
        subprocess.run([*make, scratch / "known", *sizes, "--truth", str(TRUTH)], check=True)
        explored, plan, loss = check_certificate(tool, scratch, scratch / "lake", scratch / "known")
        least = check_law(tool, scratch, scratch / "known")
        by_asking = check_asking(tool, scratch, scratch / "lake")
    print(f"FrozenLake through its server: certified {explored['certificate']['reward_free']:.3f} of {HORIZON} after "
          f"{explored['episodes']} episodes, goal: loss at most {plan['loss_bound']:.4f}, really {loss:.4f}; "
          f"counts have the simulation's law (least p {least:.3f}); {by_asking} episodes asked and told give the same run")


if __name__ == "__main__":
    main()
