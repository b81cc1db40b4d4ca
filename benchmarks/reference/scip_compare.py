#!/usr/bin/env python3
"""Time to a certified optimum of the width problem: ours against SCIP, on the same instances.

    scip_compare.py PROGRAM     PROGRAM is bench_signs; needs pyscipopt

SCIP is given the natural model: maximise |G s|^2 over binary s, as a nonconvex quadratic constraint.
"""

import json
import statistics
import subprocess
import sys

import numpy as np
from pyscipopt import Model, quicksum


def scip_optimum(generators):
    """max |G s| over signs s, with x_j = (1 + s_j) / 2, and the seconds that SCIP reports."""
    p, n = generators.shape
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-6)
    model.setParam("limits/time", 600)
    model.setParam("parallel/maxnthreads", 1)
    x = [model.addVar(vtype="B") for _ in range(n)]
    sums = [model.addVar(vtype="C", lb=None, ub=None) for _ in range(p)]
    for i in range(p):
        model.addCons(sums[i] == quicksum(float(generators[i, j]) * (2 * x[j] - 1) for j in range(n)))
    bound = model.addVar(vtype="C", lb=0, ub=None)
    model.addCons(bound <= quicksum(s * s for s in sums))
    model.setObjective(bound, "maximize")
    model.optimize()
    return float(np.sqrt(model.getObjVal())), model.getSolvingTime(), model.getStatus()


def main():
    lines = subprocess.run([sys.argv[1], "--json"], stdout=subprocess.PIPE, check=True, text=True).stdout
    ours, theirs = [], []
    for line in lines.splitlines():
        instance = json.loads(line)
        generators = np.array(instance["generators"]).reshape(instance["count"], instance["dimension"]).T
        # SCIP's tolerances are absolute, so it gets a problem of size ten.
        scale = 10 / instance["lower"]
        value, seconds, status = scip_optimum(scale * generators)
        value /= scale
        assert status in ("optimal", "gaplimit"), status
        assert instance["lower"] * (1 - 1e-5) <= value <= instance["upper"] * (1 + 1e-5), (value, instance)
        ours.append(instance["seconds"])
        theirs.append(seconds)
    print(f"{len(ours)} width problems, d = 8, m = 16, to 1e-6: SCIP {statistics.median(theirs):.3g} s, "
          f"ours {statistics.median(ours):.3g} s (medians), {statistics.median(theirs) / statistics.median(ours):.3g} "
          "times faster; optima agree")


if __name__ == "__main__":
    main()
