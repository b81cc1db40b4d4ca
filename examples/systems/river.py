#!/usr/bin/env python3
"""A system in plain Python: the river of builtin:riverswim?variant=halves, with weights that only this file knows.

    alidade problem make 'builtin:riverswim?variant=halves' -o river
    alidade explore river --system 'cmd:python3 examples/systems/river.py' --workers 2 --episodes 5000 -o swims

It answers whole batches as well, which is much faster; docs/own-system.md has the protocol.
"""

import json
import random
import sys

PLACES, STEPS = 10, 12
CURRENTS = [(.70, .25, .05), (.40, .50, .10), (.20, .30, .50)]  # right, stay, left: slack, moderate, strong
WEIGHTS = [.2, .5, .3]


def swim(place, action, chance):
    """The place after one stroke: action 1 is to the right, against the current in the right half."""
    if action == 0:
        law = (.05, .15, .80)
    elif place < PLACES // 2:
        law = CURRENTS[0]
    else:
        law = chance.choices(CURRENTS, WEIGHTS)[0]
    return min(PLACES - 1, max(0, place + chance.choices((1, 0, -1), law)[0]))


def whole_episode(policy, seed):
    chance, states = random.Random(seed), [0]
    for step in range(STEPS - 1):
        states.append(swim(states[-1], policy[step][states[-1]], chance))
    return {"states": states}


def main():
    place, chance = 0, None
    for line in sys.stdin:
        ask = json.loads(line)
        if ask["op"] == "info":
            answer = {"protocol": 1, "states": PLACES, "actions": 2, "horizon": STEPS, "seeded": True, "batches": True}
        elif ask["op"] == "reset":
            place, chance = 0, random.Random(ask["seed"])  # all that is random comes from the seed
            answer = {"episode": ask["episode"], "state": place}
        elif ask["op"] == "step":
            place = swim(place, ask["action"], chance)
            answer = {"step": ask["step"], "state": place}
        else:
            answer = {"first_episode": ask["first_episode"],
                      "episodes": [whole_episode(ask["policy"], seed) for seed in ask["seeds"]]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
