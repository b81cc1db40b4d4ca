#!/usr/bin/env python3
"""Growth: what a model of S states costs, from S = 1e3 to 1e5 (--largest 1e6 for a million).

    growth.py --tool PATH [--largest 1e5] [--threads 2] [--sizes A,m,d,H]

For each S one run of the tool (a few episodes, one certificate of all candidates at the end), with nanoseconds a
(step, state, action) of planning one policy and of the certificate, bytes a pair at the peak, and the whole run's
seconds. Beside it, in the same run, what a user would take instead for the piece that it can do: the backup of one
step, P V for all pairs, by SciPy's CSR product; optimal values of a known model by QuantEcon's backward induction and by
pymdptoolbox; each on the same random model, where the package is installed (pip install scipy quantecon pymdptoolbox)."""

import argparse
import json
import os
import subprocess
import tempfile
import time


def run_tool(tool, states, sizes, threads, episodes):
    actions, successors, features, horizon = sizes
    problem = (f"builtin:garnet?states={states}&actions={actions}&features={features}"
               f"&successors={successors}&horizon={horizon}")
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        process = subprocess.Popen([tool, "explore", problem, "-o", folder + "/run", "--replan", "growth=0.5", "--episodes",
                                    str(episodes), "--threads", str(threads), "--json", "--quiet"], stdout=subprocess.PIPE)
        answer = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        assert status == 0, answer
    result = json.loads(answer)
    return seconds, usage.ru_maxrss * 1024, result


def timed(action, least=0.2):
    action()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < least:
        action()
        count += 1
    return (time.perf_counter() - began) / count


def random_csr(states, actions, successors, seed=1):
    import numpy
    import scipy.sparse
    random = numpy.random.default_rng(seed)
    rows = states * actions
    targets = random.integers(0, states, size=rows * successors)
    values = random.dirichlet(numpy.ones(successors), size=rows).ravel()
    return scipy.sparse.csr_matrix((values, targets, numpy.arange(0, rows * successors + 1, successors)), (rows, states))


def peers(states, sizes):
    """Nanoseconds a (step, state, action) of one backup with a known model."""
    actions, successors, _, horizon = sizes
    rows = {}
    try:
        import numpy
        kernel = random_csr(states, actions, successors)
        value = numpy.random.default_rng(2).random(states)
        rows["SciPy CSR, P V"] = timed(lambda: kernel @ value) / (states * actions) * 1e9
    except ImportError:
        return {"SciPy": None}
    reward = numpy.random.default_rng(3).random((states, actions))
    places = states * actions * horizon
    try:
        import quantecon.markov as markov
        pairs = numpy.arange(states * actions)
        ddp = markov.DiscreteDP(reward.ravel(), kernel, 0.999999, pairs // actions, pairs % actions)
        rows["QuantEcon, backward induction"] = timed(lambda: markov.backward_induction(ddp, horizon)) / places * 1e9
    except ImportError:
        rows["QuantEcon"] = None
    try:
        import mdptoolbox.mdp
        import scipy.sparse
        if states <= 10000:
            by_action = [scipy.sparse.csr_matrix(kernel[a::actions]) for a in range(actions)]
            solver = mdptoolbox.mdp.FiniteHorizon(by_action, reward, 1, horizon, skip_check=True)
            rows["pymdptoolbox, finite horizon"] = timed(solver.run) / places * 1e9
    except (ImportError, TypeError):
        rows["pymdptoolbox"] = None
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--largest", type=float, default=1e5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--sizes", default="4,8,5,5", help="actions, successors, base models, horizon")
    given = parser.parse_args()
    sizes = [int(x) for x in given.sizes.split(",")]
    actions, successors, features, horizon = sizes
    print(f"A = {actions}, m = {successors}, d = {features}, H = {horizon}, {given.threads} threads")
    print(f"{'S':>8} {'plan ns':>9} {'cert. ns':>9} {'ratio':>6} {'bytes/pair':>11} {'whole s':>8}   a policy and a certificate, a (h,s,a)")
    states = 1000
    while states <= given.largest:
        seconds, peak, result = run_tool(given.tool, states, sizes, given.threads, given.episodes)
        places = states * actions * (horizon - 1)
        spent = result["seconds"]
        plan = spent["plan"] / result["replans"] / places * 1e9
        certify = spent["certify"] / places * 1e9
        print(f"{states:8} {plan:9.0f} {certify:9.0f} {certify / plan:6.1f} {peak / (states * actions):11.0f} {seconds:8.2f}", flush=True)
        for name, cost in peers(states, sizes).items():
            print(f"{'':8} {name}: " + ("not installed" if cost is None else f"{cost:.1f} ns a (h,s,a), one thread"), flush=True)
        states *= 10


if __name__ == "__main__":
    main()
