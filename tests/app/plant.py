#!/usr/bin/env python3
"""A small plant for tests: three states, two actions, three steps, and two ideas of how it works.

    plant.py serve             answer alidade's questions as a child process, one JSON object a line
    plant.py problem FOLDER    write its problem folder

An episode is fixed by its seed and the actions. The truth is a mixture of the two ideas, 0.3 and 0.7.
"""

import json
import random
import sys
from pathlib import Path

STATES, ACTIONS, HORIZON = 3, 2, 3
# For each base model, state and action: the law of the next state.
BASE = [[[[0.8, 0.2, 0.0], [0.1, 0.6, 0.3]], [[0.5, 0.5, 0.0], [0.0, 0.3, 0.7]], [[0.2, 0.4, 0.4], [0.4, 0.0, 0.6]]],
        [[[0.4, 0.6, 0.0], [0.3, 0.2, 0.5]], [[0.1, 0.9, 0.0], [0.0, 0.8, 0.2]], [[0.6, 0.2, 0.2], [0.9, 0.0, 0.1]]]]
WEIGHTS = [0.3, 0.7]


def write_problem(folder):
    folder = Path(folder)
    (folder / "base").mkdir(parents=True)
    for number, base in enumerate(BASE):
        rows = [f"{s} {a} {t} {p}" for s in range(STATES) for a in range(ACTIONS) for t, p in enumerate(base[s][a]) if p > 0]
        text = f"{STATES} {STATES * ACTIONS} {len(rows)}\n" + "\n".join(rows) + "\n"
        (folder / "base" / f"idea{number}.tra").write_text(text)
    (folder / "problem.toml").write_text(
        '[problem]\nname = "plant"\nhorizon = 3\ninitial_state = 0\nstate_names = ["low", "middle", "high"]\n'
        'action_names = ["wait", "push"]\n'
        + "".join(f'[[base]]\nname = "idea {n}"\nfile = "base/idea{n}.tra"\n' for n in range(len(BASE))))


class Plant:
    def reset(self, seed):
        self.chance, self.state = random.Random(seed), 0
        return self.state

    def step(self, action):
        base = self.chance.choices(BASE, WEIGHTS)[0]
        self.state = self.chance.choices(range(STATES), base[self.state][action])[0]
        return self.state


def episode(policy, seed):
    """One episode of a policy, [[action for each state] for each step], as a file of episodes has it."""
    plant, states, actions = Plant(), [], []
    state = plant.reset(seed)
    for step in range(HORIZON):
        states.append(state)
        actions.append(policy[step][state])
        state = plant.step(actions[-1])
    return {"states": states, "actions": actions}


def serve():
    plant = Plant()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["op"] == "info":
            answer = {"protocol": 1, "states": STATES, "actions": ACTIONS, "horizon": HORIZON, "seeded": True}
        elif asked["op"] == "reset":
            answer = {"episode": asked["episode"], "state": plant.reset(asked["seed"])}
        else:
            answer = {"step": asked["step"], "state": plant.step(asked["action"])}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else write_problem(sys.argv[2])
