#!/usr/bin/env python3
"""Runs of earlier formats: they are read as they are, and go on as if they had been begun today.

    earlier_formats_test.py --tool PATH

format_1.zip holds five runs of 300 episodes that the last program of format 1 made, each with options that were stored
in its own language. Reading leaves every byte alone; exploring further gives what a new run gives that stops at the same
places, but for the certificates on the way, which that program computed more often.

format_2.zip holds runs of the last program that kept no episodes: two explorations of 300 episodes and a log of 30, all of
the plant in tests/app. They are read as they are. Where episodes are added they become runs of format 3: what they knew
stays, and what is known then follows from it and from the episodes.
"""

import argparse
import hashlib
import json
import math
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "app"))
import plant  # noqa: E402

PROBLEM = "builtin:garnet?states=3&actions=2&features=2&horizon=3&successors=2"
# The same runs as they are asked for today, and whether more episodes go on with them.
RUNS = {
    "hoeffding": (["--algorithm", "hoeffding?ties=first", "--confidence", "regression?without=hull+span", "--replan", "every"], True),
    "likelihood": (["--algorithm", "likelihood?bonus=gain", "--confidence", "likelihood?prequential=true&radius=plain"], True),
    "both": (["--algorithm", "hoeffding", "--confidence", "regression,likelihood?radius=plain", "--replan", "doubling"], True),
    "other": (["--algorithm", "likelihood", "--confidence", "regression?width=l1"], True),
    "uniform": (["--algorithm", "uniform", "--constants", "paper", "--replan", "growth=0.5"], False),
}


def on_the_way(row):
    """Whether a row is of certificates on the way: which they were depends on the program's schedule."""
    return any(isinstance(cell, str) and (cell.startswith(("trace.", "best.")) or cell in ("best_bound", "certified_at")) for cell in row) \
        or row[0] == "memory"  # its digest


def contents(run):
    """All that the same run must write again: the tables without times, and which format they have."""
    store = sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)
    tables = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'meta'")]
    found = {table: sorted(repr(row) for row in store.execute(f"SELECT * FROM {table}") if not on_the_way(row))
             for table in tables}
    found["format"] = store.execute("PRAGMA user_version").fetchone()
    store.close()
    return found


def alike(one, other):
    """Equal, but for the last digits of numbers: certificates are added in another order than by the program of then."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0, abs_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other


class Trial:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def ask(self, *words):
        result = subprocess.run([self.tool, *words, "--json", "--quiet"], cwd=self.folder, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit {result.returncode}\n{result.stderr}")
        return json.loads(result.stdout)

    def explore(self, run, flags, episodes):
        return self.ask("explore", PROBLEM, "-o", run, *flags, "--seed", "3", "--threads", "1", "--episodes", str(episodes))

    def certify(self, run):
        """What is certified today. The program of then had fewer arguments, and stored a bound that is no less."""
        found = self.ask("certify", run)
        assert found["agrees"] and found.pop("stored") >= found["reward_free"] - 1e-12, run
        return found

    def examine(self, name, flags, goes_on):
        old = self.folder / name
        before = hashlib.sha256((old / "run.sqlite").read_bytes()).digest()
        read = self.certify(name), self.ask("plan", name, "--reward", "dense?seed=1")["loss_bound"]
        assert hashlib.sha256((old / "run.sqlite").read_bytes()).digest() == before, f"{name}: reading changed the run"
        self.explore("new", flags, 300)
        again = self.certify("new"), self.ask("plan", "new", "--reward", "dense?seed=1")["loss_bound"]
        assert alike(read, again), name
        budget = 900 if goes_on else 300
        self.explore(name, flags, budget)
        self.explore("new", flags, budget)
        was, now = contents(old), contents(self.folder / "new")
        for table in now:
            assert was[table] == now[table], f"{name}, table {table}: not as a new run has it"
        shutil.rmtree(self.folder / "new")


def write_plant(folder):
    plant.write_problem(folder / "plant")
    (folder / "plant/truth.json").write_text(json.dumps({"weights": [plant.WEIGHTS] * plant.HORIZON}))
    with (folder / "plant/problem.toml").open("a") as problem:
        problem.write('[environment]\nweights = "truth.json"\n')
    for name, seeds in (("monday.jsonl", range(30)), ("tuesday.jsonl", range(100, 140))):
        lines = (json.dumps(plant.episode([[0, 1, 1]] * plant.HORIZON, seed)) for seed in seeds)
        (folder / name).write_text("\n".join(lines) + "\n")


def examine_format_2(trial):
    folder = trial.folder
    write_plant(folder)
    for name in ("explored", "learned", "regression"):
        before = hashlib.sha256((folder / name / "run.sqlite").read_bytes()).digest()
        trial.ask("certify", name)
        assert hashlib.sha256((folder / name / "run.sqlite").read_bytes()).digest() == before, f"{name}: reading changed it"
    # Simulated further they stay what they are, and equal new ones.
    for name, algorithm, confidence in (("explored", "likelihood", "likelihood?radius=plain"),
                                        ("regression", "hoeffding", "regression")):
        shutil.copytree(folder / name, folder / "simulated")
        for run in ("simulated", "new"):
            for episodes in (300, 500):
                trial.ask("explore", "plant", "-o", run, "--algorithm", algorithm, "--confidence", confidence, "--seed", "3",
                          "--threads", "1", "--episodes", str(episodes))
        assert contents(folder / "simulated") == contents(folder / "new"), name
        shutil.rmtree(folder / "simulated")
        shutil.rmtree(folder / "new")
    # With episodes added they are of format 3.
    told = trial.ask("tell", "explored", "--unasked", "--same-system", "--episodes", "tuesday.jsonl")
    assert told["episodes"] == 40
    assert len(trial.ask("ask", "explored", "--same-system")["experiments"]) == 4
    assert trial.ask("certify", "explored")["episodes"] == 340
    assert trial.ask("replay", "explored")["equal"]
    trial.ask("learn", "plant", "-o", "learned", "--episodes", "tuesday.jsonl")
    trial.ask("learn", "plant", "-o", "at-once", "--episodes", "monday.jsonl", "--episodes", "tuesday.jsonl")
    # A new run has another radius; an earlier one goes on with its own.
    old, new = trial.ask("certify", "learned"), trial.ask("certify", "at-once")
    assert old["episodes"] == new["episodes"] and old["agrees"] and new["agrees"]
    assert trial.ask("replay", "learned")["equal"]
    for run in ("explored", "learned"):
        assert contents(folder / run)["format"] == (3,), run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(Path(__file__).with_name("format_1.zip")) as archive:
            archive.extractall(folder)
        with zipfile.ZipFile(Path(__file__).with_name("format_2.zip")) as archive:
            archive.extractall(folder)
        trial = Trial(options.tool.resolve(), Path(folder))
        examine_format_2(trial)
        for name, (flags, goes_on) in RUNS.items():
            trial.examine(name, flags, goes_on)
    print(f"{len(RUNS)} runs of format 1 and 3 of format 2: read, and gone on with.")


if __name__ == "__main__":
    main()
