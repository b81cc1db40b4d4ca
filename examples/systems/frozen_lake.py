#!/usr/bin/env python3
"""Writes a problem folder about Gymnasium's FrozenLake whose ice is slippery to a degree that nobody knows.

    frozen_lake.py FOLDER [--rates 0.3 0.9] [--horizon 20] [--map 4x4] [--truth 0.55]

The base models are the lake's own P at two rates of success. P is linear in the rate, so that a lake at any rate between
is their mixture. With --truth the folder also says which one it is: for audits, never for exploring. The reward `goal` is
1 for being at the goal at the last step, which is Gymnasium's return of an episode of that length.
"""

import argparse
import json
from pathlib import Path

import gymnasium


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rates", type=float, nargs=2, default=[0.3, 0.9])
    parser.add_argument("--horizon", type=int, default=20)
    parser.add_argument("--map", default="4x4")
    parser.add_argument("--truth", type=float)
    given = parser.parse_args()
    for part in ("base", "rewards"):
        (given.folder / part).mkdir(parents=True, exist_ok=True)
    text = f'[problem]\nname = "frozen lake"\nhorizon = {given.horizon}\ninitial_state = 0\nhomogeneous = true\n'
    text += 'action_names = ["left", "down", "right", "up"]\n'
    goal = None
    for rate in given.rates:
        lake = gymnasium.make("FrozenLake-v1", map_name=given.map, success_rate=rate).unwrapped
        goal = lake.observation_space.n - 1
        table = {int(s): {int(a): [[float(p), int(t), 0.0, bool(end)] for p, t, _, end in lake.P[s][a]]
                          for a in lake.P[s]} for s in lake.P}
        (given.folder / "base" / f"rate-{rate}.json").write_text(json.dumps(table))
        text += f'[[base]]\nname = "rate {rate}"\nfile = "base/rate-{rate}.json"\n'
    if given.truth is not None:
        low, high = given.rates
        weight = (given.truth - high) / (low - high)
        (given.folder / "truth.json").write_text(json.dumps({"weights": [[weight, 1 - weight]]}))
        text += '[environment]\nweights = "truth.json"\n'
    (given.folder / "rewards" / "goal.json").write_text(json.dumps(
        {"default": 0, "entries": [{"state": int(goal), "step": given.horizon - 1, "reward": 1}]}))
    text += '[[reward]]\nname = "goal"\nmeaning = "1 for being at the goal at the end"\nfile = "rewards/goal.json"\n'
    (given.folder / "problem.toml").write_text(text)


if __name__ == "__main__":
    main()
