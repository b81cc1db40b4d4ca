# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # A Gymnasium environment as the real system
#
# FrozenLake on the large map. How slippery the ice is, nobody has measured: between a success rate of 0.3 and one of 0.9.
# Two environments with these rates are the base models; their transition tables are read. The third is the real lake,
# and it is only stepped.

# %%
import tempfile

import gymnasium
import numpy as np

import alidade
from alidade.gym import LearnedEnv, from_gym, gym_system, problem_from_gym

HORIZON = 30
bases = [from_gym("FrozenLake-v1", map_name="8x8", success_rate=rate, name=f"rate {rate}") for rate in (0.3, 0.9)]
problem = problem_from_gym(bases, horizon=HORIZON, homogeneous=True)
problem

# %% [markdown]
# 64 lakes are stepped at once. An episode that falls into a hole stays there, as the tables say.

# %%
lakes = gymnasium.make_vec("FrozenLake-v1", num_envs=64, map_name="8x8", success_rate=0.6, max_episode_steps=HORIZON - 1)
run = alidade.Run.create(tempfile.mkdtemp(), problem, seed=1, delta=0.05)
run.explore(gym_system(lakes, problem), episodes=2_000)

# %% [markdown]
# The weights that would make a rate of 0.6 are a half each. Any reward may be planned for; here: being at the goal at the end,
# which earns what Gymnasium pays for reaching it.

# %%
knowledge = run.knowledge()
print("weights", np.round(knowledge.weights[0], 3))
goal = np.zeros((HORIZON, 64, 4))
goal[-1, 63] = 1
plan = knowledge.plan(goal)
print(plan.certificate)

# %% [markdown]
# The real lake has a table, too. It was never shown; now it tells what the plan really loses.

# %%
real = from_gym("FrozenLake-v1", map_name="8x8", success_rate=0.6)
truth = problem_from_gym([real], horizon=HORIZON, truth=[1.0]).true_model()
loss = alidade.backward_induction(truth, goal).value - alidade.evaluate(truth, plan.policy, goal).value
print(f"true loss {loss:.6f}, certified {plan.certificate.loss_bound:.6f}")
assert loss <= plan.certificate.loss_bound + 1e-9

# %% [markdown]
# The learned model is an environment itself. Whatever is trained on it is certified like any other policy; here, a random one.

# %%
env = LearnedEnv(knowledge.model, goal)
random_policy = env.policy_of(lambda seen: np.random.default_rng(0).integers(0, 4, len(seen)))
knowledge.certify(goal, random_policy)
