#!/usr/bin/env python3
"""How much of a vector environment's speed is left when alidade explores it: 64 FrozenLakes.

    PYTHONPATH=build/dev/python python3 benchmarks/python/gymnasium_throughput.py [--episodes N]

The environment's speed without us is that of its own step(), in the very same run: with the same actions and ends. What is
left is the share of the time, of CPU and by the clock, that is spent in it.
"""

import argparse
import tempfile
import time

import gymnasium

import alidade
from alidade.gym import VectorGymSystem, from_gym, problem_from_gym

HORIZON, LANES = 50, 64


class Timed:
    """A vector environment that measures its own step and reset."""

    def __init__(self, env):
        self.env, self.steps, self.seconds, self.cpu = env, 0, 0.0, 0.0

    def __getattr__(self, name):
        return getattr(self.env, name)

    def _measured(self, call, *arguments, **named):
        began, cpu = time.perf_counter(), time.thread_time()
        answer = call(*arguments, **named)
        self.seconds += time.perf_counter() - began
        self.cpu += time.thread_time() - cpu
        return answer

    def step(self, actions):
        self.steps += LANES
        return self._measured(self.env.step, actions)

    def reset(self, **named):
        return self._measured(self.env.reset, **named)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=20_000)
    episodes = parser.parse_args().episodes
    problem = problem_from_gym([from_gym("FrozenLake-v1", success_rate=rate) for rate in (0.3, 0.9)], horizon=HORIZON, homogeneous=True)
    lakes = gymnasium.make_vec("FrozenLake-v1", num_envs=LANES, vectorization_mode="sync", success_rate=0.6, max_episode_steps=HORIZON - 1)
    for kind in ("in memory", "on disk"):
        timed = Timed(lakes)
        system = VectorGymSystem(timed, problem, seed=1)
        began, cpu = time.perf_counter(), time.process_time()
        if kind == "in memory":
            alidade.Exploration(problem, seed=1).run(system, episodes=episodes)
        else:
            alidade.Run.create(tempfile.mkdtemp(), problem, seed=1).explore(system, episodes=episodes)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(
            f"{kind}: {timed.steps / timed.seconds:,.0f} steps/s by itself, {timed.steps / seconds:,.0f} explored: "
            f"{100 * timed.seconds / seconds:.1f} % by the clock, {100 * timed.cpu / cpu:.1f} % of CPU time"
        )


if __name__ == "__main__":
    main()
