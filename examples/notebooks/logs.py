# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # From logs to a certified plan
#
# Nobody lets you experiment, but a table of past weeks lies around: one row a day, in a CSV or Parquet file. Here a warehouse
# ordered whatever came to mind for 5,000 weeks. (The file is made up first, by simulating them.)

# %%
import tempfile
from pathlib import Path

import pandas as pd

import alidade
from alidade.logs import episodes_from

folder = Path(tempfile.mkdtemp())
warehouse = alidade.make_builtin("builtin:inventory")
weeks = alidade.simulate(warehouse.true_model(), alidade.Policy.uniform(warehouse.shape), 5_000, seed=3)
rows = [
    (week, day, seen.states[day], warehouse.action_name(seen.actions[day]), seen.states[day + 1])
    for week, seen in enumerate(weeks)
    for day in range(warehouse.shape.horizon - 1)
]
table = pd.DataFrame(rows, columns=["week", "day", "stock", "order", "next stock"])
table.to_csv(folder / "weeks.csv", index=False)
print(table.head(3))

# %% [markdown]
# Columns may have any name; states and actions are numbers, or the problem's names. Of the warehouse the candidates are known,
# four demand laws, and not their weights.

# %%
problem = alidade.Problem(
    warehouse.features,
    horizon=warehouse.shape.horizon,
    start=warehouse.start,
    action_names=[warehouse.action_name(a) for a in range(warehouse.shape.actions)],
)
columns = {"episode": "week", "step": "day", "state": "stock", "action": "order", "next_state": "next stock"}
episodes = episodes_from(folder / "weeks.csv", problem, columns=columns)
print(episodes.states[:2])

# %% [markdown]
# Learn. The certificate holds if the decision to write a week down did not depend on how it went.

# %%
run, knowledge = alidade.Run.learn(folder / "run", problem, episodes, delta=0.1)
print(knowledge)
assert isinstance(knowledge.learned, alidade.confidence.LearnedMixture)
for step, each in enumerate(knowledge.learned.sets):
    print(f"day {step}: weights in", "  ".join(f"[{low:.2f}, {high:.2f}]" for low, high in each.intervals()))

# %% [markdown]
# Any reward that somebody comes up with is planned for and certified from the log alone.

# %%
plans = {name: knowledge.plan(reward) for name, reward in warehouse.rewards.items()}
for name, plan in plans.items():
    print(f"{name:14} {plan.certificate}")

# %% [markdown]
# The true losses, which only the simulation knows, are within their bounds.

# %%
truth = warehouse.true_model()
for name, reward in warehouse.rewards.items():
    loss = alidade.backward_induction(truth, reward).value - alidade.evaluate(truth, plans[name].policy, reward).value
    assert loss <= plans[name].certificate.loss_bound + 1e-9
    print(f"{name:14} {loss:.6f}")
