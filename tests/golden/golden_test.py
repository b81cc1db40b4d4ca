#!/usr/bin/env python3
"""Golden runs: what the tool said and stored for every kind of run must not change by accident.

    golden_test.py --tool PATH            compare with runs.json beside this file
    golden_test.py --tool PATH --write    write runs.json anew, after a change of bytes that was meant

A run is: explore (or learn), a plan for two rewards, and the model with intervals. Compared are the JSON of each without
times, and digests of what is long: weights, policies, the exported file, and the counts and the evidence in the run.
Every run's certificate is confirmed by `check-certificate` as well, whatever its bytes.
The bytes are those of one compiler and one C library; with others the last digits may differ, and the message says
which numbers do.
"""

import argparse
import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from problems import write_problems

stored = Path(__file__).with_name("runs.json")

GARNET = "builtin:garnet?states=8&actions=3&features=4&horizon=4&successors=4&seed=11"
FAMILIES = {
    "needle": "builtin:needle?states=10&horizon=5", "riverswim": "builtin:riverswim", "lock": "builtin:lock",
    "chain": "builtin:chain", "inventory": "builtin:inventory?capacity=6", "gridworld": "builtin:gridworld?width=3&height=3",
    "reservoir": "builtin:reservoir",
    "hard": "builtin:hard?features=3&horizon=4",
}
ONCE = {  # by one explorer each
    "queue": ("builtin:queue?lines=8", "likelihood"), "epidemic": ("builtin:epidemic?people=5", "likelihood"),
    "fishery": ("builtin:fishery?capacity=10", "likelihood"),
    "hard-simplex": ("builtin:hard-simplex?features=3&horizon=4", "likelihood"),
    "hard-short": ("builtin:hard-short?features=3&horizon=4", "hoeffding"),
}

LINEAR = {"linear-random": "builtin:linear-random", "linear-lock": "builtin:linear-lock", "linear-grid": "builtin:linear-grid",
          "linear-homogeneous": "linear-homogeneous"}


def linear_cases():
    for name, problem in LINEAR.items():
        for bonus in ("", "?bonus=wang", "?bonus=none"):
            yield f"{name}, lsvi{bonus}", (problem, ["--algorithm", f"lsvi{bonus}"])
        yield f"{name}, lsvi, paper", (problem, ["--constants", "paper"])
        for replan, episodes in (("every", "40"), ("doubling", "2000")):
            yield f"{name}, lsvi, replan {replan}", (problem, ["--replan", replan, "--episodes", episodes])


def cases():
    """name: (problem, flags of explore)"""
    found = {}
    for algorithm in ("likelihood", "hoeffding", "uniform"):
        chosen = ["--algorithm", algorithm]
        found[f"garnet, {algorithm}"] = GARNET, chosen
        for sets in ("regression", "likelihood", "regression,likelihood", "weighted", "weighted,likelihood"):
            found[f"garnet, {algorithm}, sets {sets}"] = GARNET, [*chosen, "--confidence", sets]
        for replan, episodes in (("every", "40"), ("doubling", "2000"), ("growth=0.5", "2000")):
            found[f"garnet, {algorithm}, replan {replan}"] = GARNET, [*chosen, "--replan", replan, "--episodes", episodes]
        for family, problem in FAMILIES.items():
            if family in ("reservoir", "hard") and algorithm == "likelihood":  # misspecified, signed: refused
                continue
            found[f"{family}, {algorithm}"] = problem, [*chosen, "--seed", "5"]
        for folder in ("start-law", "homogeneous"):
            found[f"{folder}, {algorithm}"] = folder, chosen
    for family, (problem, algorithm) in ONCE.items():
        found[f"{family}, {algorithm}"] = problem, ["--algorithm", algorithm, "--seed", "5"]
    for algorithm in ("hoeffding", "uniform"):
        for folder in ("misspecified", "signed"):
            found[f"{folder}, {algorithm}"] = folder, ["--algorithm", algorithm]
            if folder == "signed":
                found[f"{folder}, {algorithm}, sets likelihood"] = folder, ["--algorithm", algorithm, "--confidence",
                                                                           "weighted,likelihood"]
            found[f"{folder}, {algorithm}, sets weighted"] = folder, ["--algorithm", algorithm, "--confidence", "weighted"]
    search = ["--algorithm", "bernstein", "--replan", "growth=0.5"]
    for constants in ("sharp", "paper", "safe"):
        found[f"garnet, bernstein, {constants}"] = GARNET, [*search, "--constants", constants]
    for sets in ("bernstein?argmax=joint&starts=2", "bernstein?constants=safe&episodes=2000&output=argmax", "likelihood",
                 "bernstein,likelihood"):
        found[f"garnet, bernstein, sets {sets}"] = GARNET, [*search, "--confidence", sets]
    for folder in ("start-law", "homogeneous", "misspecified", "signed"):
        found[f"{folder}, bernstein"] = folder, search
        found[f"{folder}, bernstein, safe"] = folder, [*search, "--constants", "safe"]
    for bonus in ("gain", "leverage", "none"):
        found[f"garnet, likelihood, bonus {bonus}"] = GARNET, ["--algorithm", f"likelihood?bonus={bonus}"]
    found["garnet, likelihood, prequential"] = GARNET, ["--confidence", "likelihood?prequential=true"]
    found["garnet, likelihood, target"] = GARNET, ["--target", "1.5", "--episodes", "1e6"]
    found["garnet, paper"] = GARNET, ["--algorithm", "hoeffding", "--constants", "paper"]
    found["garnet, paper, uniform"] = GARNET, ["--algorithm", "uniform", "--constants", "paper"]
    found["garnet, hoeffding, ties first"] = GARNET, ["--algorithm", "hoeffding?ties=first"]
    for sets in ("width=l1", "width=sdp", "without=projection+ranges+delta",
                 "without=log-det+bias+hull+coupling+span+best-iterate"):
        name = "garnet, hoeffding, " + sets.replace("=", " ").replace("+", ",")
        found[name] = GARNET, ["--algorithm", "hoeffding", "--confidence", f"regression?{sets}"]
    found.update(linear_cases())
    return found


def digest(data):
    data = data if isinstance(data, bytes) else json.dumps(data, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def comparable(value):
    """Without what may differ between equal runs, and with digests of what is long."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()
                if key not in ("seconds", "run", "threads", "usage", "files", "source")}
    return digest(value) if isinstance(value, list) else value


class Bench:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        write_problems(tool, folder)

    def ask(self, *words, codes=(0, 3)):
        result = subprocess.run([self.tool, *words], cwd=self.folder, capture_output=True, text=True)
        if result.returncode not in codes:
            sys.exit(f"{' '.join(words)}: exit {result.returncode}\n{result.stdout}{result.stderr}")
        return json.loads(result.stdout)

    def evidence(self, run):
        """Digests of what the certificate rests on. The tables' names are in docs/formats.md."""
        store = sqlite3.connect(f"file:{self.folder / run / 'run.sqlite'}?immutable=1", uri=True)
        counts = store.execute("SELECT step, part, data FROM counts ORDER BY step, part").fetchall()
        known = store.execute("SELECT name, kind, part, data FROM knowledge ORDER BY name, kind, part").fetchall()
        store.close()
        return {"counts": digest(repr(counts)), "knowledge": digest(repr(known))}

    def answers(self, run):
        drn = f"{run}.drn"
        exported = comparable(self.ask("export", run, "-o", drn, "--view", "interval", "--json", "--quiet"))
        return {**self.evidence(run), "export": digest(exported), "model": digest((self.folder / drn).read_bytes()),
                "certify": comparable(self.ask("certify", run, "--json", "--quiet")),
                **{f"plan {reward}": comparable(self.ask("plan", run, "--reward", reward, "--json", "--quiet"))
                   for reward in ("dense?seed=1", "sparse?seed=2")}}

    def confirm(self, run):
        """The independent checker agrees with every number of the certificate."""
        self.ask("check-certificate", run, "--json", "--quiet", codes=(0,))

    def explored(self, case):
        name, (problem, flags) = case
        run = "run-" + digest(name)
        flags = flags if "--episodes" in flags else [*flags, "--episodes", "2000"]
        said = self.ask("explore", problem, "-o", run, *flags, "--threads", "1", "--json", "--quiet")
        self.confirm(run)
        return name, {"explore": comparable(said), **self.answers(run)}

    def learned(self, logged):
        run = f"run-{logged}"
        said = self.ask("learn", logged, "--episodes", f"{logged}/log.jsonl", "-o", run, "--json", "--quiet")
        self.confirm(run)
        return {"learn": comparable(said), **self.answers(run)}


def differences(old, new, place):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{place} / {key}")
    elif old != new:
        yield f"{place}: was {str(old)[:100]}, is {str(new)[:100]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as both:
        bench = Bench(options.tool.resolve(), Path(folder))
        found = dict(both.map(bench.explored, cases().items()))
        for logged in ("logged", "linear-logged"):
            found[logged] = bench.learned(logged)
    if options.write:
        stored.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return print(f"{len(found)} golden runs written to {stored}")
    wrong = list(differences(json.loads(stored.read_text()), found, "golden"))
    if wrong:
        sys.exit("\n".join(wrong[:40]) + f"\n{len(wrong)} numbers differ. If that is meant: golden_test.py --write, "
                 "and the commit says why.")
    print(f"{len(found)} golden runs: every byte as before.")


if __name__ == "__main__":
    main()
