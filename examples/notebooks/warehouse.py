# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # A warehouse: explored once, planned for any reward
#
# A warehouse with room for 20 units orders stock on each of 7 days. Four demand laws are known; the real one is a mixture of
# them, with weights that nobody knows. Nothing is said about what is worth having until the experiments are over.

# %%
import tempfile

import numpy as np

import alidade

problem = alidade.make_builtin("builtin:inventory")
problem

# %% [markdown]
# Explore. The run is a folder: it can be stopped, and goes on where it was.

# %%
run = alidade.Run.create(tempfile.mkdtemp(), problem, delta=0.1, seed=7)
run.explore(episodes=100_000)

# %% [markdown]
# What is known is a model, the sets that contain the true weights with probability 0.9, and a certificate for **any** reward.

# %%
knowledge = run.knowledge()
print(knowledge)
print("weights of the first day:", np.round(knowledge.weights[0], 3))

# %% [markdown]
# Now somebody says what is worth having. Three rewards are natural here; a fourth is made up on the spot: full shelves are
# worth something on the last day only. None of them needs another experiment.

# %%
states, actions, horizon = problem.shape
last_day = np.zeros((horizon, states, actions))
last_day[-1] = np.linspace(0, 1, states)[:, None]
rewards = {name: reward.values for name, reward in problem.rewards.items()} | {"full at the end": last_day}
plans = {name: knowledge.plan(reward) for name, reward in rewards.items()}
for name, plan in plans.items():
    print(f"{name:16} true value in {plan.certificate.value}, loses at most {plan.certificate.loss_bound:.4f}")

# %% [markdown]
# This warehouse is simulated, so its true losses can be looked up: each is below its bound.

# %%
truth = problem.true_model()
for name, reward in rewards.items():
    best = alidade.backward_induction(truth, reward).value
    loss = best - alidade.evaluate(truth, plans[name].policy, reward).value
    assert loss <= plans[name].certificate.loss_bound + 1e-9
    print(f"{name:16} {loss:.6f}")

# %%
run.plot(plans={name: plan.certificate for name, plan in plans.items()})
