#!/usr/bin/env python3
"""Stable-Baselines3 as a planner: PPO, trained on the learned model alone, certified for the real system.

    pip install stable-baselines3          # brings torch, so this is not part of ./dev experiments
    PYTHONPATH=build/dev/python python3 experiments/stable_baselines.py [--steps N] [--quick]

FrozenLake with a success rate that nobody was told is explored; then PPO learns on LearnedEnv, which never touches the lake,
and what came out is certified and, at last, compared with the lake's own table.
"""

import argparse
import tempfile
import time

import gymnasium
import numpy as np
import stable_baselines3
import torch

import alidade
from alidade.gym import LearnedEnv, from_gym, gym_system, problem_from_gym

HORIZON = 12


class OneHot(gymnasium.ObservationWrapper):
    """Step and state apart, one-hot each: networks learn faster from that than from one of H*S."""

    def __init__(self, env):
        super().__init__(env)
        self.sizes = env.horizon, env.states
        self.observation_space = gymnasium.spaces.Box(0, 1, (sum(self.sizes),), np.float32)

    def observation(self, seen):
        return self.rows(np.array([seen]))[0]

    def rows(self, seen):
        """One row for each observation."""
        step, state = np.divmod(np.asarray(seen), self.sizes[1])
        return np.concatenate([np.eye(self.sizes[0])[step], np.eye(self.sizes[1])[state]], axis=1).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60_000, help="steps of training")
    parser.add_argument("--quick", action="store_true", help="2,000 steps: to see that it runs")
    options = parser.parse_args()
    torch.set_num_threads(1)

    tables = [from_gym("FrozenLake-v1", success_rate=rate) for rate in (0.3, 0.95)]
    problem = problem_from_gym(tables, horizon=HORIZON, homogeneous=True)
    run = alidade.Run.create(tempfile.mkdtemp(), problem, seed=1)
    lake = gymnasium.make("FrozenLake-v1", success_rate=0.8)
    run.explore(gym_system(lake, problem), episodes=5_000)
    knowledge = run.knowledge()
    print(knowledge)

    goal = np.zeros((HORIZON, 16, 4))
    goal[-1, 15] = 1
    env = OneHot(LearnedEnv(knowledge.model, goal))
    began = time.perf_counter()
    trained = stable_baselines3.PPO("MlpPolicy", env, seed=1, device="cpu", gamma=1.0, ent_coef=0.01, n_steps=1024, batch_size=128)
    trained.learn(2_000 if options.quick else options.steps)
    print(f"PPO trained for {time.perf_counter() - began:.0f} s on the model")
    policy = env.unwrapped.policy_of(lambda seen: trained.predict(env.rows(seen), deterministic=True)[0])

    exact = knowledge.plan(goal)
    claim = knowledge.certify(goal, policy)
    truth = problem_from_gym([from_gym(lake)], horizon=HORIZON, truth=[1.0]).true_model()
    best = alidade.backward_induction(truth, goal).value
    print("planner             true value in        loss at most   true loss")
    for name, each, certificate in (("backward induction", exact.policy, exact.certificate), ("PPO", policy, claim)):
        loss = best - alidade.evaluate(truth, each, goal).value
        assert loss <= certificate.loss_bound + 1e-9
        print(f"{name:18}  [{certificate.value.lower:.4f}, {certificate.value.upper:.4f}]  {certificate.loss_bound:12.4f}  {loss:9.4f}")


if __name__ == "__main__":
    main()
