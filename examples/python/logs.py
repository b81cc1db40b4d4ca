# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # From logs to a certified plan
#
# Nobody lets you experiment, but a table of past episodes lies around: one row a transition, in a CSV or Parquet file. Here a
# river swimmer wrote down 4,000 days, with strokes chosen at random. (The file is made up first, by simulating them.)

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import alidade
from alidade.logs import episodes_from

folder = Path(tempfile.mkdtemp())
river = alidade.make_builtin("builtin:riverswim?variant=halves&horizon=8")
swum = alidade.simulate(river.true_model(), alidade.Policy.uniform(river.shape), 4_000, seed=3)
rows = [
    (day, step, episode.states[step], ("left", "right")[episode.actions[step]], episode.states[step + 1])
    for day, episode in enumerate(swum)
    for step in range(river.shape.horizon - 1)
]
table = pd.DataFrame(rows, columns=["day", "step", "place", "stroke", "then"])
table.to_csv(folder / "river.csv", index=False)
table.head(3)

# %% [markdown]
# Columns may have any name; states and actions are numbers, or the problem's names.

# %%
problem = alidade.Problem(river.features, horizon=8, start=river.start, action_names=["left", "right"])
columns = {"episode": "day", "state": "place", "action": "stroke", "next_state": "then"}
episodes = episodes_from(folder / "river.csv", problem, columns=columns)
episodes.states.shape

# %% [markdown]
# Learn. The certificate holds if the decision to write a day down did not depend on how it went.

# %%
run, knowledge = alidade.Run.learn(folder / "run", problem, episodes, delta=0.1)
print(knowledge)
upstream = np.zeros((6, 2))
upstream[-1] = 1
plan = knowledge.plan(upstream)
print(plan.certificate)

# %% [markdown]
# Random strokes hardly ever get upstream, so much is left open there. What the sets leave of each weight says where:

# %%
for step, each in enumerate(knowledge.learned.sets):
    print(step, "  ".join(f"[{low:.2f}, {high:.2f}]" for low, high in each.intervals()))

# %% [markdown]
# The true loss, which only the simulation knows, is within its bound.

# %%
truth = river.true_model()
loss = alidade.backward_induction(truth, upstream).value - alidade.evaluate(truth, plan.policy, upstream).value
assert loss <= plan.certificate.loss_bound + 1e-9
print(f"true loss {loss:.4f}, certified {plan.certificate.loss_bound:.4f}")
