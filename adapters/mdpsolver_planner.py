#!/usr/bin/env python3
"""Plans with MDPSolver, which knows discounted problems without end only: the unrolled model, discounted by D.

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/mdpsolver_planner.py {model} {policy}'

Rewards of step h are multiplied by D^-h, so that the discounted value is the value over H steps. It stops when
its values change by less than TOLERANCE, so the accuracy claimed is TOLERANCE / (1 - D). Needs mdpsolver 0.10.
"""

import sys

import mdpsolver
import numpy as np

import alidade_model

LARGEST = 100.0  # D is chosen such that no reward is multiplied by more
TOLERANCE = 1e-9


def solve(model):
    """One choice for each state of the unrolled model, the value at the start, and its accuracy."""
    transitions, rewards, first, end = model.unrolled()
    n, A = rewards.shape
    discount = min(0.95, LARGEST ** (-1 / max(1, model.horizon)))
    steps = np.minimum(np.arange(n) // model.states, model.horizon)
    scaled = rewards * (discount ** -steps)[:, None]
    law = [[(transitions.indptr[row], transitions.indptr[row + 1]) for row in range(s * A, s * A + A)]
           for s in range(n)]
    problem = mdpsolver.model()
    problem.mdp(discount=discount, rewards=scaled.tolist(),
                tranMatProbs=[[transitions.data[i:j].tolist() for i, j in rows] for rows in law],
                tranMatColumns=[[transitions.indices[i:j].tolist() for i, j in rows] for rows in law])
    problem.solve(algorithm="mpi", tolerance=TOLERANCE, update="standard", verbose=False)
    # A start state comes one step before step 0.
    value = problem.getValue(first) / (discount if first > end else 1)
    return [problem.getAction(s) for s in range(n)], value, TOLERANCE / (1 - discount)


def main(model_file, policy_file):
    model = alidade_model.read(model_file)
    choices, value, accuracy = solve(model)
    alidade_model.write_choices(policy_file, choices, value, accuracy, "mdpsolver 0.10")


if __name__ == "__main__":
    main(*sys.argv[1:])
