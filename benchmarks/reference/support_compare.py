#!/usr/bin/env python3
"""Support functions of ellipsoids cut with the simplex: ours against Clarabel through cvxpy.

    support_compare.py --tool PATH [--instances N] [--condition C]

PATH is the program built from kernels/support.cpp. Needs numpy and cvxpy. Ellipsoids are centred near a
random point of the simplex, so that they and the simplex both bind. Ours is both ends of a bracket; Clarabel's
optimum must lie between them up to its own accuracy. Its time is the one it reports, without cvxpy.
"""

import argparse
import json
import statistics
import subprocess

import cvxpy
import numpy as np

from qp_compare import helmert, metric_factor, plain


def instance(random, d, count, condition):
    basis, middle = helmert(d), random.dirichlet(np.full(d, 0.5))
    ellipsoids = []
    for _ in range(count):
        factor = metric_factor(random, d - 1, condition)
        step = random.normal(size=d - 1)
        step *= 0.9 * random.uniform() / np.linalg.norm(step)
        # |factor' (middle - centre)| = 0.9 radius at most: the middle is a member of all.
        radius = np.exp(random.uniform(-2, 2))
        centre = basis.T @ (middle - 1 / d) + np.linalg.solve(factor.T, radius * step)
        ellipsoids.append(plain({"centre": centre, "factor": factor, "radius": radius}))
    return {"features": d, "ellipsoids": ellipsoids, "direction": random.normal(size=d).tolist()}


def by_clarabel(question):
    d = question["features"]
    weights = cvxpy.Variable(d)
    constraints = [weights >= 0, cvxpy.sum(weights) == 1]
    for given in question["ellipsoids"]:
        zeta = helmert(d).T @ (weights - 1 / d)
        constraints.append(cvxpy.norm(np.array(given["factor"]).T @ (zeta - np.array(given["centre"])))
                           <= given["radius"])
    problem = cvxpy.Problem(cvxpy.Maximize(np.array(question["direction"]) @ weights), constraints)
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value, 1e6 * problem.solver_stats.solve_time, problem.status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, help="the program built from kernels/support.cpp")
    parser.add_argument("--instances", type=int, default=60)
    parser.add_argument("--condition", type=float, default=1e4)
    options = parser.parse_args()

    random = np.random.default_rng(1)
    print(f"{'':24}{'ours us':>10}{'Clarabel us':>13}{'widest bracket':>16}{'farthest outside':>18}{'closed form':>13}")
    for d in (3, 5, 10, 20):
        for count in (1, 2, 4):
            questions = [instance(random, d, count, options.condition) for _ in range(options.instances)]
            lines = "".join(json.dumps(question) + "\n" for question in questions)
            done = subprocess.run([options.tool], input=lines, stdout=subprocess.PIPE, text=True, check=True)
            answers = [json.loads(line) for line in done.stdout.splitlines()]
            times, outside, width = [], 0.0, 0.0
            for question, answer in zip(questions, answers):
                value, time, status = by_clarabel(question)
                assert status in ("optimal", "optimal_inaccurate"), status
                times.append(time)
                outside = max(outside, value - answer["upper"], answer["lower"] - value)
                width = max(width, answer["upper"] - answer["lower"])
            ours = statistics.median(answer["microseconds"] for answer in answers)
            closed = sum(answer["exact"] for answer in answers) / len(answers)
            print(f"d = {d:2}, {count} ellipsoids{'':4}{ours:10.3g}{statistics.median(times):13.4g}"
                  f"{width:16.1e}{outside:18.1e}{closed:12.0%}", flush=True)


if __name__ == "__main__":
    main()
