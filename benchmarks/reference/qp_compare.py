#!/usr/bin/env python3
"""Alidade's projection against general QP solvers from PyPI on the same random instances, one thread each.

    qp_compare.py --tool PATH [--instances N] [--condition C]

PATH is the program built from kernels/projection.cpp. Needs numpy, scipy, osqp, piqp and quadprog. Times are
medians over the instances, in microseconds, and leave the interpreter out: OSQP and PIQP report their own
set-up and solving time; quadprog reports none, so the time of a call on one variable is subtracted. All
solvers get min |x - estimate|^2 in the metric subject to normals x + constants >= 0 in tangent coordinates,
matrices prepared beforehand; Alidade's time includes whitening. PIQP and OSQP are asked for 1e-9, OSQP also
for its default of 1e-3, which is what it is made for. "!n" counts instances that a solver gave up on.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import osqp  # noqa: E402
import piqp  # noqa: E402
import quadprog  # noqa: E402
import scipy.sparse as sparse  # noqa: E402


def helmert(d):
    basis = np.zeros((d, d - 1))
    for k in range(1, d):
        basis[:k, k - 1] = 1 / np.sqrt(k * (k + 1))
        basis[k, k - 1] = -k / np.sqrt(k * (k + 1))
    return basis


def metric_factor(random, p, condition):
    turn, _ = np.linalg.qr(random.normal(size=(p, p)))
    values = condition ** random.uniform(size=p)
    values[0], values[-1] = 1, condition
    return np.linalg.cholesky((turn * values) @ turn.T)


def simplex_instance(random, d, condition):
    """Estimates scattered about the simplex as in tests/convex/projection_test.cpp."""
    question = {"simplex": True, "factor": metric_factor(random, d - 1, condition),
                "estimate": 0.8 * random.normal(size=d - 1), "repeats": 101}
    return question, helmert(d), np.full(d, 1 / d)


def polytope_instance(random, d, constraints, condition):
    """Pairs of successors: the probability of the second is one less that of the first."""
    normals = random.normal(size=(constraints // 2, d - 1)) / np.sqrt(d)
    constants = random.uniform(0.2, 0.8, size=constraints // 2)
    question = {"factor": metric_factor(random, d - 1, condition), "estimate": 0.8 * random.normal(size=d - 1),
                "normals": normals, "constants": constants, "repeats": 21}
    return question, np.vstack([normals, -normals]), np.concatenate([constants, 1 - constants])


def by_osqp(metric, linear, normals, constants, **settings):
    solver = osqp.OSQP()
    solver.setup(P=sparse.triu(metric, format="csc"), q=-linear, A=sparse.csc_matrix(normals), l=-constants,
                 u=np.full(len(constants), np.inf), verbose=False, **settings)
    result = solver.solve()
    if result.info.status_val != osqp.SolverStatus.OSQP_SOLVED:
        return None
    return result.x, 1e6 * result.info.run_time


def by_osqp_tightly(*problem):
    return by_osqp(*problem, eps_abs=1e-9, eps_rel=1e-9, max_iter=100_000, polishing=True)


def by_piqp(metric, linear, normals, constants):
    solver = piqp.DenseSolver()
    solver.settings.compute_timings = True
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.setup(metric, -linear, G=normals, h_l=-constants)
    if solver.solve() != piqp.PIQP_SOLVED:
        return None
    return np.array(solver.result.x), 1e6 * solver.result.info.run_time


def median_call(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def by_quadprog(metric, linear, normals, constants):
    # The solver overwrites its matrices, so it copies them first: part of its time.
    transposed = np.asfortranarray(normals.T)
    one = np.ones((1, 1))
    bare = median_call(lambda: quadprog.solve_qp(one, one[0], one, one[0]), 101)
    try:
        point = quadprog.solve_qp(metric, linear, transposed, -constants)[0]
    except ValueError:  # "constraints are inconsistent", "matrix G is not positive definite"
        return None
    call = median_call(lambda: quadprog.solve_qp(metric, linear, transposed, -constants), 11)
    return point, max(call - bare, 0.0)


SOLVERS = {"quadprog": by_quadprog, "PIQP": by_piqp, "OSQP 1e-9": by_osqp_tightly, "OSQP 1e-3": by_osqp}


def plain(question):
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in question.items()}


def shown(results):
    """Median time, the most that the point is away from Alidade's, and how many have no answer."""
    answers = [result for result in results if result]
    failures = f"!{len(results) - len(answers)}" if len(answers) < len(results) else ""
    if not answers:
        return f"{failures:>24}"
    times, distances = zip(*answers)
    return f"{statistics.median(times):11.4g} ({max(distances):7.1e}){failures:4}"


def compare(tool, instances):
    """Alidade's median time and largest KKT residual, and what each solver made of the same instances."""
    lines = "".join(json.dumps(plain(question)) + "\n" for question, _, _ in instances)
    done = subprocess.run([tool], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    others = []
    for solve in SOLVERS.values():
        results = []
        for (question, normals, constants), answer in zip(instances, answers):
            metric = question["factor"] @ question["factor"].T
            result = solve(metric, metric @ question["estimate"], normals, constants)
            results.append(result and (result[1], np.linalg.norm(result[0] - np.array(answer["point"]))))
        others.append(shown(results))
    return (statistics.median(answer["microseconds"] for answer in answers),
            max(answer["kkt_residual"] for answer in answers), others)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, help="the program built from kernels/projection.cpp")
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--condition", type=float, default=100.0)
    options = parser.parse_args()

    random = np.random.default_rng(1)
    cases = [(f"simplex d={d}", [simplex_instance(random, d, options.condition)
                                 for _ in range(options.instances)]) for d in (5, 10, 20, 32)]
    cases += [(f"{count} constraints d=10", [polytope_instance(random, 10, count, options.condition)
                                             for _ in range(few)]) for count, few in ((400, 20), (10_000, 5))]
    print("median us (largest distance from Alidade's point)")
    print(f"{'':26}{'alidade':>10}{'KKT':>9}" + "".join(f"{name:>15}{'':10}" for name in SOLVERS))
    for title, instances in cases:
        own, worst, others = compare(options.tool, instances)
        print(f"{title:26}{own:10.4g}{worst:9.1e}" + "".join(others), flush=True)


if __name__ == "__main__":
    main()
