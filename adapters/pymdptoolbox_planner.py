#!/usr/bin/env python3
"""Plans with pymdptoolbox: FiniteHorizon, one step at a time, because a step may have its own law.

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/pymdptoolbox_planner.py {model} {policy}'

Exact up to rounding, which is what it claims. It checks that rows sum to one and makes sparse laws dense in
places, so it suits small models. Needs pymdptoolbox 4.0b3.
"""

import contextlib
import io
import sys

import mdptoolbox.mdp
import numpy as np

import alidade_model


def solve(model):
    """The optimal policy, H rows of S actions, and the values of the states at step 0."""
    policy, values = np.empty((model.horizon, model.states), dtype=int), np.zeros(model.states)
    for h in reversed(range(model.horizon)):
        laws = np.stack([law.toarray() for law in model.by_action(h)])
        with contextlib.redirect_stdout(io.StringIO()):  # it warns about a discount of 1
            problem = mdptoolbox.mdp.FiniteHorizon(laws, np.array(model.rewards[h]), 1.0, 1, values)
            problem.run()
        policy[h], values = problem.policy[:, 0], problem.V[:, 0]
    return policy, values


def main(model_file, policy_file):
    model = alidade_model.read(model_file)
    policy, values = solve(model)
    alidade_model.write_policy(policy_file, policy, model.value(values), 0.0, "pymdptoolbox 4.0b3")


if __name__ == "__main__":
    main(*sys.argv[1:])
