#!/usr/bin/env python3
"""Experiments that others run, with the real tool: nothing told is lost, nothing is counted twice.

    asking_test.py --tool PATH [--kills N] [--seed S]

explore with child processes, learn, ask and tell are killed (SIGKILL) at N random moments in all (50, and 1000 where
ALIDADE_TEST_EFFORT is long); the finished runs equal, byte for byte, runs that nobody disturbed. Then many workers at
once, two that write, a folder that may only be read, and a disk that is full.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import plant

PLANT = Path(plant.__file__).resolve()
PATIENCE = 120  # seconds, for anything that must happen at all


class Bench:
    def __init__(self, tool, folder, seed):
        self.tool, self.folder, self.chance = tool, folder, random.Random(seed)
        self.killed = 0
        plant.write_problem(folder / "plant")

    def start(self, *words, limit=None):
        bound = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.Popen([str(self.tool), *map(str, words), "--json"], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True, preexec_fn=bound, restore_signals=False)

    def run(self, *words, codes=(0,), limit=None):
        process = self.start(*words, limit=limit)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode in codes, f"{words}: exit {process.returncode}\n{err.decode()}"
        return json.loads(out) if out else None

    def survive(self, seconds, *words, codes=(0,), kills=1):
        """Runs a command to its end after it was killed at random moments of its first `seconds`, `kills` times at most."""
        for _ in range(kills):
            process = self.start(*words)
            try:
                out, err = process.communicate(timeout=self.chance.uniform(0, seconds))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                self.killed += 1
                continue
            assert process.returncode in codes, f"{words}: exit {process.returncode}\n{err.decode()}"
            return json.loads(out)
        return self.run(*words, codes=codes)

    def tables(self, run, names=("run", "counts", "memory", "result", "knowledge", "certificate", "progress")):
        """What the same run must have stored again."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / run, copy)
        store = sqlite3.connect(copy / "run.sqlite")
        found = {name: sorted(map(repr, store.execute(f"SELECT * FROM {name}"))) for name in names}
        store.close()
        return found

    def episodes(self, run):
        """Every episode that was kept, without who told it and when."""
        file = self.folder / "exported.jsonl"
        file.unlink(missing_ok=True)
        self.run("export", run, "--as", "episodes", "-o", file)
        kept = [json.loads(line) for line in file.read_text().splitlines()]
        for episode in kept:
            for key in ("told", "worker", "source"):
                del episode[key]
        return kept

    def replayed(self, run):
        assert self.run("replay", run)["equal"], run

    def answer(self, experiment, name="answer.jsonl"):
        """Runs an experiment on the plant and writes what it showed to a file."""
        seeds = experiment.get("seeds") or [self.chance.random() for _ in range(experiment["episodes"])]
        file = self.folder / name
        file.write_text("".join(json.dumps(plant.episode(experiment["policy"], seed)) + "\n" for seed in seeds))
        return file


# --- killed anywhere ---------------------------------------------------------------------------------

def explored(bench, run, kills):
    words = ["explore", "plant", "-o", run, "--system", f"cmd:{sys.executable} {PLANT} serve", "--episodes", 150,
             "--workers", 2, "--threads", 1]
    bench.survive(0.7, *words, kills=kills)


def killed_explore(bench, kills):
    explored(bench, "straight", 0)
    explored(bench, "killed", kills)
    assert bench.tables("killed") == bench.tables("straight")
    assert bench.episodes("killed") == bench.episodes("straight")
    bench.replayed("killed")


def write_logs(bench):
    policy = [[0, 1, 1]] * plant.HORIZON
    for name, seeds in (("monday.jsonl", range(30)), ("tuesday.jsonl", range(100, 140))):
        lines = [json.dumps(plant.episode(policy, seed)) for seed in seeds]
        (bench.folder / name).write_text("\n".join(lines) + "\n")


def asked(bench, run, budget, kills):
    """Learns two logs, then asks and tells until the budget is spent, and is killed `kills` times on the way."""
    left = lambda: max(0, kills - bench.killed)
    once = lambda *words: bench.survive(0.03, *words, kills=min(left(), bench.chance.randrange(3)))
    for log in ("monday.jsonl", "tuesday.jsonl"):
        once("learn", "plant", "--episodes", log, "-o", run)
    once("explore", "plant", "-o", run, "--system", "ask?seeded=true", "--same-system", "--episodes", budget)
    acknowledged = {}
    while True:
        given = once("ask", run, "-n", 3, "--worker", "w", "--again", "--same-system", "--threads", 1)
        if "ended" in given:
            return acknowledged
        order = given["experiments"]
        bench.chance.shuffle(order)
        for experiment in order:
            file = bench.answer(experiment)
            told = once("tell", run, experiment["id"], "--episodes", file, "--worker", "w")
            assert told["episodes"] == experiment["episodes"]
            acknowledged[experiment["id"]] = file.read_text().splitlines()
            if bench.chance.random() < 0.2:  # told again, for good measure
                assert once("tell", run, experiment["id"], "--episodes", file)["repeated"]


def killed_asking(bench, kills):
    write_logs(bench)
    asked(bench, "undisturbed", 160, 0)
    bench.killed = 0
    budget, acknowledged = 160, {}
    acknowledged = asked(bench, "disturbed", budget, kills)
    assert bench.tables("disturbed") == bench.tables("undisturbed")
    kept = bench.episodes("disturbed")
    assert kept == bench.episodes("undisturbed")
    bench.replayed("disturbed")
    told = [episode for episode in kept if episode["experiment"] in acknowledged]
    expected = [json.loads(line) for id in sorted(acknowledged) for line in acknowledged[id]]
    assert [{key: episode[key] for key in ("states", "actions")} for episode in told] == expected
    assert len(kept) == budget == 70 + len(expected)
    return bench.killed


def killed_anywhere(bench, kills):
    of_explore = kills // 5
    killed_explore(bench, of_explore)
    total = bench.killed
    # One run takes some 60 kills at most; as many runs as it needs.
    while total < kills:
        bench.killed = 0
        total += killed_asking(bench, min(60, kills - total))
        for run in ("undisturbed", "disturbed"):
            shutil.rmtree(bench.folder / run)
    print(f"killed {total} times")


# --- several at once ---------------------------------------------------------------------------------

def many_workers(bench):
    """Eight workers on one run without seeds: everything that is told counts once."""
    bench.run("explore", "plant", "-o", "many", "--system", "ask", "--episodes", 120)

    def work(number):
        told, worker = [], f"worker-{number}"
        while True:
            given = bench.run("ask", "many", "-n", 2, "--chunk", 1, "--worker", worker, "--threads", 1)
            if "ended" in given:
                return told
            for experiment in given["experiments"]:
                file = bench.answer(experiment, f"{worker}.jsonl")
                bench.run("tell", "many", experiment["id"], "--episodes", file, "--worker", worker)
                told += [experiment["id"]] * experiment["episodes"]
            if not given["experiments"]:
                time.sleep(0.01)

    with ThreadPoolExecutor(8) as together:
        told = sorted(sum(together.map(work, range(8)), []))
    assert told == sorted(episode["experiment"] for episode in bench.episodes("many"))
    status = bench.run("status", "many")
    assert len(told) == 120 == status["episodes"]["told"] == status["episodes"]["taken_up"], status
    assert len({record["worker"] for record in bench.run("log", "many")["experiments"]}) > 1
    bench.replayed("many")


def one_who_writes_alone(bench):
    """Who tells waits for an exploration that has the run for itself, and is told so if that takes too long."""
    words = ["explore", "plant", "-o", "alone", "--system", f"cmd:{sys.executable} {PLANT} serve", "--seed", 4]
    bench.run(*words, "--episodes", 20)
    long = bench.start(*words, "--episodes", 100000)
    time.sleep(0.5)
    beside = bench.start("tell", "alone", "--unasked", "--same-system", "--episodes", "monday.jsonl")
    time.sleep(0.5)
    assert beside.poll() is None, "who tells did not wait"
    second = bench.run(*words, "--episodes", 100000, codes=(2,))
    assert "another process" in second["error"]["what"]
    long.send_signal(signal.SIGINT)
    assert long.wait(PATIENCE) == 130
    long.communicate()
    out, err = beside.communicate(timeout=PATIENCE)
    assert beside.returncode == 0, err
    assert json.loads(out)["episodes"] == 30
    bench.replayed("alone")


# --- disks -------------------------------------------------------------------------------------------

def a_full_disk(bench):
    """As large as a file may become, while something is told: it is refused, nothing else is lost, and it goes on."""
    bench.run("explore", "plant", "-o", "full", "--system", "ask", "--replan", "growth=10")
    for _ in range(3):
        given = bench.run("ask", "full", "-n", 16)
        for experiment in given["experiments"]:
            bench.run("tell", "full", experiment["id"], "--episodes", bench.answer(experiment))
    before = bench.episodes("full")
    experiment = bench.run("ask", "full", "-n", 1)["experiments"][0]
    file = bench.answer(experiment)
    refused = bench.run("tell", "full", experiment["id"], "--episodes", file, codes=(1,), limit=4096)
    assert re.search("large|limit|space|full", refused["error"]["what"]), refused
    assert bench.episodes("full") == before
    bench.run("tell", "full", experiment["id"], "--episodes", file)
    assert len(bench.episodes("full")) == len(before) + experiment["episodes"]


def a_folder_to_be_read(bench):
    run = bench.folder / "read-only"
    shutil.copytree(bench.folder / "full", run)
    (run / "run.sqlite").chmod(0o444)
    run.chmod(0o555)
    try:
        assert bench.run("status", "read-only")["episodes"]["told"] > 0
        bench.replayed("read-only")
        if os.geteuid() != 0:  # root may write it all the same
            bench.run("tell", "read-only", 1, "--failed", "never", codes=(1, 2))
            bench.run("ask", "read-only", codes=(1, 2))
    finally:
        run.chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=1000 if os.environ.get("ALIDADE_TEST_EFFORT") == "long" else 50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.tool.resolve(), Path(folder), options.seed)
        for step in (lambda: killed_anywhere(bench, options.kills), lambda: many_workers(bench),
                     lambda: one_who_writes_alone(bench), lambda: a_full_disk(bench), lambda: a_folder_to_be_read(bench)):
            begun = time.monotonic()
            step()
            print(f"{time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
