#!/usr/bin/env python3
"""Any Gymnasium environment with discrete spaces as a system:

    alidade explore PROBLEM -o RUN --system 'cmd:python3 gymnasium_server.py FrozenLake-v1 success_rate=0.55'

    gymnasium_server.py ENVIRONMENT [KEY=VALUE ...] [--log FILE]

KEY=VALUE go to gymnasium.make, values as Python writes them. --log appends every episode to FILE, one JSON object a line,
in Gymnasium's own numbering (a space Discrete(n, start=k) counts from k; alidade counts from 0).

An alidade episode has a fixed number of steps, a Gymnasium episode ends when it ends:
- terminated: the environment is over for good. The answer says so, and alidade stays in that state for the steps that are
  left. The base models must agree: that state's rows must lead back to it with probability 1.
- truncated: the environment was cut off, by a time limit say. The episode ends there; what would follow is missing.
Rewards are not passed on: alidade explores without one.
"""

import argparse
import ast
import json
import sys

import gymnasium


def value_of(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


class Server:
    def __init__(self, name, options, log):
        self.env = gymnasium.make(name, **options)
        for what, space in (("observation", self.env.observation_space), ("action", self.env.action_space)):
            if not isinstance(space, gymnasium.spaces.Discrete):
                raise SystemExit(f"{name}: its {what} space is {space}; must be Discrete (wrap it, or use a grid)")
        self.states, self.actions = self.env.observation_space, self.env.action_space
        self.log, self.episode = log, None

    def info(self, ask):
        limit = self.env.spec.max_episode_steps if self.env.spec else None
        # The last action is taken as well, but what follows it is not recorded.
        if limit is not None and limit < ask.get("horizon", 1) - 1:
            print(f"the environment is truncated after {limit} steps, the problem has {ask['horizon']}: "
                  "the later ones will never be seen", file=sys.stderr)
        return {"protocol": 1, "states": int(self.states.n), "actions": int(self.actions.n), "seeded": True}

    def reset(self, ask):
        self.write()
        state, _ = self.env.reset(seed=ask["seed"])
        self.episode = {"id": ask["episode"], "seed": ask["seed"], "states": [int(state)], "actions": []}
        self.over = False
        return {"episode": ask["episode"], "state": int(state - self.states.start)}

    def step(self, ask):
        # Stepping on after the end would be a transition that never was.
        if self.over:
            return {"error": f"step {ask['step']} after the end of the episode"}
        action = ask["action"] + int(self.actions.start)
        state, _, terminated, truncated, _ = self.env.step(action)
        self.over = bool(terminated or truncated)
        self.episode["states"].append(int(state))
        self.episode["actions"].append(action)
        answer = {"step": ask["step"], "state": int(state - self.states.start)}
        if self.over:
            answer["end"] = "terminated" if terminated else "truncated"
        return answer

    def write(self):
        if self.log and self.episode:
            self.log.write(json.dumps(self.episode) + "\n")
            self.log.flush()

    def serve(self):
        for line in sys.stdin:
            ask = json.loads(line)
            answer = {"info": self.info, "reset": self.reset, "step": self.step}[ask["op"]](ask)
            print(json.dumps(answer), flush=True)
        self.write()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environment")
    parser.add_argument("options", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--log", type=argparse.FileType("a"))
    given = parser.parse_args()
    options = {key: value_of(value) for key, _, value in (text.partition("=") for text in given.options)}
    Server(given.environment, options, given.log).serve()


if __name__ == "__main__":
    main()
