#!/usr/bin/env python3
"""Plans with pymdptoolbox: FiniteHorizon, one step at a time, because a step may have its own law.

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/pymdptoolbox_planner.py {model} {policy}'

Exact up to rounding, which is what it claims. Laws are given sparse, which it checks slowly but solves fast. Needs
pymdptoolbox 4.0b3.
"""

import contextlib
import io
import sys
import warnings

import mdptoolbox.mdp
import numpy as np

import alidade_model


def problems_of(model):
    """A problem of one step for each step; what follows it is put in when it is solved."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        # It warns on stdout about a discount of 1, and on stderr about its own way of checking laws.
        warnings.simplefilter("ignore")
        return [mdptoolbox.mdp.FiniteHorizon(model.by_action(h), np.array(model.rewards[h]), 1.0, 1)
                for h in range(model.horizon)]


def solve(problems):
    """The optimal policy, H rows of S actions, and the values of the states at step 0."""
    policy, values = [], np.zeros(len(problems[0].V))
    for problem in reversed(problems):
        problem.V[:, 1] = values  # the terminal reward, as its argument `h` would set it
        problem.run()
        policy.append(problem.policy[:, 0])
        values = problem.V[:, 0].copy()
    return policy[::-1], values


def main(model_file, policy_file):
    model = alidade_model.read(model_file)
    policy, values = solve(problems_of(model))
    alidade_model.write_policy(policy_file, policy, model.value(values), 0.0, "pymdptoolbox 4.0b3")


if __name__ == "__main__":
    main(*sys.argv[1:])
