#!/usr/bin/env python3
"""What Python costs: exploring a built-in problem against the command line, steps of a system in Python, importing.

    PYTHONPATH=build/dev/python build/venv/bin/python benchmarks/python/overhead.py --tool build/dev/apps/alidade/alidade

Processor time of whole processes, the least of several, since others may share the machine.
"""

import argparse
import resource
import subprocess
import sys
import tempfile

PROBLEM = "builtin:garnet?states=100&actions=4&features=5&horizon=10&successors=8&seed=11"
EPISODES = 3_000_000_000_000
EXPLORE = """
import sys, alidade
run = alidade.Run.create(sys.argv[1], sys.argv[2], seed=1)
run.explore(episodes=int(sys.argv[3]), threads=1)
"""
STEP = """
import time, alidade, numpy as np
class Trivial:
    seeded = True
    def reset(self, seed):
        return 0
    def step(self, action):
        return action
problem = alidade.Problem([np.full((2, 2, 2), 0.5), np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2)], horizon=51)
began = time.process_time()
alidade.Exploration(problem, algorithm="uniform", threads=1).run(Trivial(), episodes=20_000, despite_contradiction=True)
print(20_000 * 50 / (time.process_time() - began))
"""


def seconds(command: list[str]) -> float:
    """Processor time of a child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tool", required=True)
    arguments.add_argument("--repeats", type=int, default=5)
    given = arguments.parse_args()
    line, python = [], []
    for _ in range(given.repeats):
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--seed", "1", "--threads", "1", "--json", "--episodes", str(EPISODES)]
            line.append(seconds([given.tool, "explore", PROBLEM, "-o", f"{folder}/line", *flags]))
            python.append(seconds([sys.executable, "-c", EXPLORE, f"{folder}/python", PROBLEM, str(EPISODES)]))
    started = min(seconds([sys.executable, "-c", "import alidade"]) for _ in range(given.repeats))
    print(f"explore  {min(line):.3f} s by the command line, {min(python):.3f} s by Python, of which {started:.3f} s to start it")
    print(f"         {100 * ((min(python) - started) / min(line) - 1):+.1f} % once it is started")
    steps = max(float(subprocess.run([sys.executable, "-c", STEP], capture_output=True, text=True, check=True).stdout) for _ in range(3))
    print(f"step     {steps:.3g} steps a second of a system that does nothing")
    imports = "import time; t = time.perf_counter(); import alidade; print(time.perf_counter() - t)"
    took = min(float(subprocess.run([sys.executable, "-c", imports], capture_output=True, text=True).stdout) for _ in range(5))
    print(f"import   {took:.3f} s")


if __name__ == "__main__":
    main()
