#!/usr/bin/env python3
"""A thousand rewards planned and certified by one worker and by two: how much two are faster.

    PYTHONPATH=build/dev/python python3 benchmarks/python/fleet_rewards.py [--rewards N]

Workers are started, and have loaded the run, before the clock is.
"""

import argparse
import tempfile
import time

import numpy as np

import alidade
from alidade import fleet


def seconds(run, rewards, workers):
    with fleet.process_pool(workers) as pool:
        list(fleet.plan_rewards(run, rewards[: 20 * workers], pool, batch=1))  # each worker loads the run
        began = time.perf_counter()
        rows = list(fleet.plan_rewards(run, rewards, pool, batch=20))
        return time.perf_counter() - began, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rewards", type=int, default=1000)
    count = parser.parse_args().rewards
    problem = alidade.make_builtin("builtin:garnet?states=60&actions=4&features=5&horizon=8&successors=8&seed=11")
    run = alidade.Run.create(tempfile.mkdtemp(), problem, seed=1)
    run.explore(episodes=100_000)
    rewards = np.random.default_rng(0).random((count, 60, 4)) ** 8
    one, alone = seconds(run, rewards, 1)
    two, together = seconds(run, rewards, 2)
    assert alone == together, "rows depend on the number of workers"
    print(f"{count} rewards: {one:.1f} s by one worker, {two:.1f} s by two: {one / two:.2f} times as fast")


if __name__ == "__main__":
    main()
