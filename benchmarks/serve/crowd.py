#!/usr/bin/env python3
"""What a crowd that watches a run costs the run: `alidade serve` and its clients beside an exploration in one thread.

    crowd.py --tool ALIDADE [--clients 50] [--pairs 10] [--seconds 30] [--alone 30]

Windows with the crowd and without take turns, the first of each pair being with, without, without, with ..., so that what drifts
falls out. Where there is none, the server stands still (SIGSTOP) and no news arrive. The run has one core, everything else
another. Speed is policies a second of the clock, from what the run stores every second: how many by when. Needs two cores with
nothing else to do.
"""

import argparse
import contextlib
import importlib.util
import os
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

PROBLEM = "builtin:garnet?states=60&actions=4&features=5&horizon=8&successors=8&seed=3"
RUN_CORE, CROWD_CORE = 0, 1


def server_class():
    """The tests' own, who are strangers to the program as well."""
    place = Path(__file__).resolve().parents[2] / "tests/app/serve_test.py"
    found = importlib.util.spec_from_file_location("serve_test", place)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.Server


def start_run(tool, folder):
    """A run that plans again and again, for every episode at first, and ends by itself after a million policies."""
    command = [tool, "explore", PROBLEM, "--episodes", "1e15", "--replan", "growth=0.00003", "--seed", "1", "-o", str(folder),
               "--threads", "1", "--quiet"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {RUN_CORE}))
    while not (folder / "run.sqlite-wal").exists():
        time.sleep(0.01)
    return run


def stored_policies(folder, place):
    """Policies so far, by a copy of the run's files: a reader of the files themselves could make the writer wait."""
    for name in ("run.sqlite", "run.sqlite-shm", "run.sqlite-wal"):
        (place / name).unlink(missing_ok=True)
    for name in ("run.sqlite", "run.sqlite-wal"):
        shutil.copyfile(folder / name, place / name)
    with contextlib.closing(sqlite3.connect(place / "run.sqlite")) as database:
        (data,) = database.execute("SELECT data FROM memory WHERE name = 'behaviour.progress'").fetchone()
    return struct.unpack("<4q", data)[1]


def next_mark(folder, place):
    """When the run stores next, and how many policies it has had by then."""
    log = folder / "run.sqlite-wal"
    before = log.stat().st_mtime_ns
    while True:
        while log.stat().st_mtime_ns == before:
            time.sleep(0.002)
        time.sleep(0.1)  # it is written by then; the next is a second away
        stored = log.stat().st_mtime_ns
        try:
            policies = stored_policies(folder, place)
        except sqlite3.DatabaseError:  # the run has written meanwhile
            continue
        if log.stat().st_mtime_ns == stored:
            return stored * 1e-9, policies
        before = stored


def policies_a_second(folder, place, seconds):
    began, before = next_mark(folder, place)
    time.sleep(max(0.0, seconds - 1))
    ended, after = next_mark(folder, place)
    return (after - before) / (ended - began)


def client(server, over, seen):
    """A browser that follows the page as the page's script does."""
    connection, lines = server.listen()
    connection.settimeout(None)
    while not over.is_set():
        line = lines.readline()
        if line.startswith(b"data:"):
            try:
                seen.append(server.get(server.root + "page")[0])
            except TimeoutError:
                pass  # the server was made to stand still meanwhile
    connection.close()


def processor_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:13]) / os.sysconf("SC_CLK_TCK")


def measure(given, folder, server, seen, memory):
    place = folder.parent / "copy"
    place.mkdir()
    ratios, speeds = [], {True: [], False: []}
    for pair in range(given.pairs):
        found = {}
        for crowded in (True, False) if pair % 2 == 0 else (False, True):
            server.process.send_signal(signal.SIGCONT if crowded else signal.SIGSTOP)
            sent = len(seen)
            found[crowded] = policies_a_second(folder, place, given.seconds if crowded else given.alone)
            speeds[crowded].append(found[crowded])
            if crowded:
                memory.append(server.memory())
                print(f"   pair {pair + 1}: {found[True]:.1f} policies a second with the crowd, {len(seen) - sent} pages sent, server "
                      f"{memory[-1]} kB", flush=True)
        ratios.append(found[True] / found[False])
        print(f"   pair {pair + 1}: {found[False]:.1f} without; with the crowd {100 * (ratios[-1] - 1):+.2f} %", flush=True)
    server.process.send_signal(signal.SIGCONT)
    return ratios, speeds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30, help="of a window with the crowd")
    parser.add_argument("--alone", type=float, default=30, help="of a window without")
    given = parser.parse_args()
    tool = str(Path(given.tool).resolve())
    os.sched_setaffinity(0, {CROWD_CORE})  # those that it starts are there, too, but for the run
    with tempfile.TemporaryDirectory(prefix="alidade-crowd-") as name:
        folder = Path(name) / "run"
        run = start_run(tool, folder)
        over, seen, memory = threading.Event(), [], []
        try:
            server = server_class()(tool, folder)
            for _ in range(given.clients):
                threading.Thread(target=client, args=(server, over, seen), daemon=True).start()
            time.sleep(20)  # policies are cheaper while little was seen
            ratios, speeds = measure(given, folder, server, seen, memory)
            over.set()
            used = processor_seconds(server.process)
            server.process.kill()
        finally:
            run.kill()
            run.wait()
    slower = [100 * (ratio - 1) for ratio in ratios]
    # Two pairs in a row, of which each began with the other kind: what drifts steadily is gone.
    fours = [100 * ((one * other) ** 0.5 - 1) for one, other in zip(ratios[::2], ratios[1::2])]
    print(f"with {given.clients} clients for {given.pairs * given.seconds:.0f} s: median {statistics.median(slower):+.2f} % of the speed alone, "
          f"{min(slower):+.2f} to {max(slower):+.2f} over {given.pairs} pairs; all together {100 * (sum(speeds[True]) / sum(speeds[False]) - 1):+.2f} %")
    if fours:
        print(f"by two pairs at a time: median {statistics.median(fours):+.2f} %, {min(fours):+.2f} to {max(fours):+.2f}")
    print(f"{len(seen)} pages sent, {sum(status != 200 for status in seen)} failed; server {used:.1f} s of processor time, memory "
          f"{memory[len(memory) // 4]} kB after a quarter, {max(memory)} kB at most, {memory[-1]} kB at the end")


if __name__ == "__main__":
    main()
