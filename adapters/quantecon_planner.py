#!/usr/bin/env python3
"""Plans with QuantEcon: DiscreteDP and backward_induction, one step at a time, because a step may have its own law.

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/quantecon_planner.py {model} {policy}'

Exact up to rounding, which is what it claims. Needs quantecon 0.11.
"""

import sys
import warnings

import numpy as np
import quantecon
from quantecon.markov.ddp import DiscreteDP, backward_induction

import alidade_model


def problems_of(model):
    """A decision problem for each step."""
    S, A = model.states, model.actions
    states, actions = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a discount of 1 is only bad without a horizon
        return [DiscreteDP(model.rewards[h].ravel(), model.transitions[h], 1.0, states, actions)
                for h in range(model.horizon)]


def solve(problems):
    """The optimal policy, H rows of S actions, and the values of the states at step 0."""
    policy, values = [], np.zeros(problems[0].num_states)
    for problem in reversed(problems):
        found, choices = backward_induction(problem, 1, values)
        policy.append(choices[0])
        values = found[0]
    return policy[::-1], values


def main(model_file, policy_file):
    model = alidade_model.read(model_file)
    policy, values = solve(problems_of(model))
    alidade_model.write_policy(policy_file, policy, model.value(values), 0.0, f"quantecon {quantecon.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
