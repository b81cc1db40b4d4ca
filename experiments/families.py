#!/usr/bin/env python3
"""Draws the families that have a story: what their rival base models say, and what each would have one do.

    families.py [--tool PATH] [--out FOLDER]

One figure a family: the mean of what comes next under one action; its law from one state; and the best first action,
for the reward `balanced`, if one model were the truth. Printed is what it costs to plan with the wrong one.
"""

import json
import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

from runs import arguments, print_table

COLOURS, MARKERS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"], "os^D"
# What a figure shows: which number in a state's name lies on the axis and which is drawn, which states, the action and
# the state whose consequences are drawn, and what the numbers are called.
VIEWS = {
    "queue": {"axis": 0, "drawn": 0, "shown": lambda numbers: True, "action": "4 agents", "state": "12 callers",
              "before": "callers on the line", "after": "callers on the line next"},
    "epidemic": {"axis": 1, "drawn": 0, "shown": lambda numbers: sum(numbers) == 9 and numbers[1] > 0,
                 "action": "nothing", "state": "6 susceptible and 3 ill",
                 "before": "people ill, of 9 (the others susceptible)", "after": "people susceptible next"},
    "fishery": {"axis": 0, "drawn": 0, "shown": lambda numbers: True, "action": "catch 2", "state": "stock 5",
                "before": "stock before the season", "after": "stock after the season"},
}


class Story:
    """A built-in problem as arrays, by way of the folder that `alidade problem make` writes."""

    def __init__(self, tool, family):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / family
            subprocess.run([tool, "problem", "make", f"builtin:{family}", "-o", folder], check=True, capture_output=True)
            parts = tomllib.loads((folder / "problem.toml").read_text())
            problem = parts["problem"]
            self.family, self.horizon, self.start = family, problem["horizon"], problem["initial_state"]
            self.states, self.actions = problem["state_names"], problem["action_names"]
            self.rivals = {base["name"]: self.kernel(folder / base["file"]) for base in parts["base"]}
            self.reward = self.rewards(folder / "rewards/balanced.json")
        view = VIEWS[family]
        numbers = [[int(word) for word in re.findall(r"\d+", name)] for name in self.states]
        self.drawn = [each[view["drawn"]] for each in numbers]
        self.shown = [s for s, each in enumerate(numbers) if view["shown"](each)]
        self.axis = [numbers[s][view["axis"]] for s in self.shown]
        self.action, self.state = self.actions.index(view["action"]), self.states.index(view["state"])

    def kernel(self, path):
        import numpy
        kernel = numpy.zeros((len(self.states) * len(self.actions), len(self.states)))
        with numpy.load(path) as file:
            for row, (begin, end) in enumerate(zip(file["indptr"], file["indptr"][1:])):
                kernel[row, file["indices"][begin:end]] = file["data"][begin:end]
        return kernel.reshape(len(self.states), len(self.actions), len(self.states))

    def rewards(self, path):
        import numpy
        stored = json.loads(path.read_text())
        reward = numpy.full((len(self.states), len(self.actions)), float(stored["default"]))
        for entry in stored["entries"]:
            reward[entry["state"], entry["action"]] = entry["reward"]
        return reward

    def plan(self, rival):
        """The best actions of every step, if one model were the truth."""
        value, plan = 0 * self.reward[:, 0], []
        for _ in range(self.horizon):
            worth = self.reward + self.rivals[rival] @ value
            plan.insert(0, worth.argmax(axis=1))
            value = worth.max(axis=1)
        return plan

    def worth(self, plan, rival):
        """What a plan earns from the start if one model is the truth."""
        value, every = 0 * self.reward[:, 0], range(len(self.states))
        for actions in reversed(plan):
            value = (self.reward + self.rivals[rival] @ value)[every, actions]
        return value[self.start]

    def law(self, rival, state, action):
        """Chances of each number that is drawn, other parts of the state summed over."""
        chances = [0.0] * (max(self.drawn) + 1)
        for s, chance in enumerate(self.rivals[rival][state, action]):
            chances[self.drawn[s]] += chance
        return chances


def draw(path, story):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "alidade", "font.size": 9})  # the same bytes for the same numbers

    figure, (means, law, plans) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for i, (rival, colour, marker) in enumerate(zip(story.rivals, COLOURS, MARKERS)):
        style = {"color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1.2, "label": rival}
        means.plot(story.axis, [sum(k * chance for k, chance in enumerate(story.law(rival, s, story.action)))
                                for s in story.shown], **style)
        law.plot(story.law(rival, story.state, story.action), **style)
        # Shifted a little, so that equal choices can be seen.
        plans.plot(story.axis, [story.plan(rival)[0][s] + 0.08 * (i - 1.5) for s in story.shown],
                   drawstyle="steps-mid", **style)
    view = VIEWS[story.family]
    means.set(title=f"means, action: {view['action']}", xlabel=view["before"], ylabel=view["after"])
    law.set(title=f"law from: {view['state']}", xlabel=view["after"], ylabel="probability")
    plans.set(title="best first action if one were true", xlabel=view["before"])
    plans.set_yticks(range(len(story.actions)), story.actions)
    for panel in (means, law, plans):
        panel.grid(alpha=0.3)
    means.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/experiments"), help="folder of the figures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    for family in VIEWS:
        story = Story(options.tool, family)
        draw(options.out / f"{family}.svg", story)
        print(f"{family}, reward `balanced`: what is lost by planning with the model of the row if that of the column is true\n")
        plans = {rival: story.plan(rival) for rival in story.rivals}
        print_table(["", *story.rivals],
                    [[planned, *(f"{story.worth(plans[true], true) - story.worth(plans[planned], true):.3f}"
                                 for true in story.rivals)] for planned in story.rivals])


if __name__ == "__main__":
    main()
