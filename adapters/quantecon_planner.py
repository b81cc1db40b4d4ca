#!/usr/bin/env python3
"""Plans with QuantEcon: DiscreteDP and backward_induction, one step at a time, because a step may have its own law.

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/quantecon_planner.py {model} {policy}'

Exact up to rounding, which is what it claims. Needs quantecon 0.11.
"""

import sys

import numpy as np
import quantecon
from quantecon.markov.ddp import DiscreteDP, backward_induction

import alidade_model


def solve(model):
    """The optimal policy, H rows of S actions, and the values of the states at step 0."""
    S, A = model.states, model.actions
    states, actions = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    policy, values = np.empty((model.horizon, S), dtype=int), np.zeros(S)
    for h in reversed(range(model.horizon)):
        # A discount of 1 is refused by methods for infinite horizons only; the warning is about those.
        problem = DiscreteDP(model.rewards[h].ravel(), model.transitions[h], 1.0, states, actions)
        found, choices = backward_induction(problem, 1, values)
        policy[h], values = choices[0], found[0]
    return policy, values


def main(model_file, policy_file):
    model = alidade_model.read(model_file)
    policy, values = solve(model)
    alidade_model.write_policy(policy_file, policy, model.value(values), 0.0, f"quantecon {quantecon.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
