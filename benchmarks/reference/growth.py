#!/usr/bin/env python3
"""Growth: what a model of S states costs, from S = 1e3 to 1e5, beside what one would take instead.

    growth.py --tool PATH [--largest 1e5] [--threads 1,2] [--sizes A,m,d,H] [--episodes 20] [--without NAME,...]

One table. For each S, pieces of one run of the tool: a policy, the certificate of all candidates at the end, and the whole run,
in nanoseconds a (step, state, action), bytes a pair at the peak, and threads. Then packages that do the planning of a
model that is known (the tool's plan also learns: it is optimistic over a set of models), on a random model of the same
sizes, each in a process of its own: SciPy's CSR product (one backup without the maximum), QuantEcon's backward induction,
Storm's value iteration (rewards up to step H), pymdptoolbox's finite horizon. Their time is the solver's alone, warm, on
one thread; their bytes are those of their process at its peak, so that models are given to Storm as a file that another
process has written. All values are checked against SciPy's. A package that is not installed, or is too slow for the
size (--patience), is left out and named. Run it with the interpreter that has adapters/requirements.txt; ./dev bench does.

S = 1e6 with ten of everything takes 9 GB and more: --largest 1e6, or ./dev bench --largest 1e6.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")


# --- in processes of their own -------------------------------------------------------------------------------
# This one imports nothing large: Linux counts the memory of whoever starts a process into the peak of that process.

def finish(command, errors=None):
    """What it printed, its peak in bytes, and its seconds; None if it failed."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        out.seek(0)
        answer = out.read()
    if process.returncode not in (0, 3):
        return None
    return json.loads(answer), usage.ru_maxrss * 1024, seconds


def run_tool(given, states, threads):
    actions, successors, features, horizon = given.sizes
    problem = (f"builtin:garnet?states={states}&actions={actions}&features={features}"
               f"&successors={successors}&horizon={horizon}")
    with tempfile.TemporaryDirectory() as folder:
        done = finish([given.tool, "explore", problem, "-o", folder + "/run", "--replan", "growth=0.5", "--episodes",
                       str(given.episodes), "--threads", str(threads), "--json", "--quiet"])
    if done is None:
        raise SystemExit("the tool failed")
    return done


def run_peer(given, name, states, scratch):
    return finish([sys.executable, __file__, "--tool", given.tool, "--sizes", ",".join(map(str, given.sizes)),
                   "--peer", name, "--states", str(states), "--scratch", scratch], subprocess.DEVNULL)


# --- what one would take instead -----------------------------------------------------------------------------

def timed(action, least=0.3):
    """Seconds of a call, once it is warm."""
    action()
    count, began = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - began < least:
        action()
        count += 1
    return (time.perf_counter() - began) / count


def random_model(states, actions, successors):
    """A kernel (S*A, S) in SciPy's CSR, its columns ascending, and rewards (S, A)."""
    import numpy
    import scipy.sparse
    random = numpy.random.default_rng(1)
    rows = states * actions
    targets = random.integers(0, states, size=rows * successors, dtype=numpy.int32)
    values = random.standard_exponential(rows * successors).reshape(rows, successors)
    values /= values.sum(axis=1, keepdims=True)
    kernel = scipy.sparse.csr_matrix((values.ravel(), targets, numpy.arange(0, rows * successors + 1, successors)),
                                     (rows, states))
    kernel.sum_duplicates()
    return kernel, random.random((states, actions))


def by_scipy(kernel, reward, horizon):
    import numpy
    value = numpy.zeros(reward.shape[0])
    for _ in range(horizon):
        value = (reward + (kernel @ value).reshape(reward.shape)).max(axis=1)
    return value


def scipy_peer(given, kernel, reward):
    import numpy
    value = numpy.random.default_rng(2).random(reward.shape[0])
    return timed(lambda: kernel @ value), 1, by_scipy(kernel, reward, given.sizes[3])


def quantecon_peer(given, kernel, reward):
    import numpy
    import quantecon.markov as markov
    states, actions = reward.shape
    pairs = numpy.arange(states * actions)
    # Discounting is not to be had away, but may be as little as it likes.
    ddp = markov.DiscreteDP(reward.ravel(), kernel, 1 - 1e-14, pairs // actions, pairs % actions)
    horizon = given.sizes[3]
    return timed(lambda: markov.backward_induction(ddp, horizon)), horizon, markov.backward_induction(ddp, horizon)[0][0]


def pymdptoolbox_peer(given, kernel, reward):
    import mdptoolbox.mdp
    import scipy.sparse
    actions, horizon = reward.shape[1], given.sizes[3]
    by_action = [scipy.sparse.csr_matrix(kernel[a::actions]) for a in range(actions)]
    solver = mdptoolbox.mdp.FiniteHorizon(by_action, reward, 1.0, horizon)
    return timed(solver.run), horizon, solver.V[:, 0]


def write_drn(path, kernel, reward):
    states, actions = reward.shape
    targets, first, numbers = kernel.indices.tolist(), kernel.indptr.tolist(), kernel.data.tolist()
    with open(path, "w", encoding="utf-8") as file:
        file.write("@type: MDP\n@value_type: double\n@parameters\n\n@reward_models\nr\n"
                   f"@nr_states\n{states}\n@nr_choices\n{states * actions}\n@model\n")
        for state in range(states):
            file.write(f"state {state} [0]{' init' * (state == 0)}\n")
            for action in range(actions):
                row = state * actions + action
                file.write(f"\taction {action} [{float(reward[state, action])!r}]\n")
                file.writelines(f"\t\t{targets[i]} : {numbers[i]!r}\n" for i in range(first[row], first[row + 1]))


def storm_peer(given):
    import stormpy
    horizon = given.sizes[3]
    model = stormpy.build_model_from_drn(given.scratch + "/model.drn")
    goal = stormpy.parse_properties(f'R{{"r"}}max=? [C<={horizon}]')[0]
    solve = lambda: stormpy.model_checking(model, goal, only_initial_states=False)  # noqa: E731
    return timed(solve), horizon, solve().get_value(0)


PEERS = {"SciPy CSR, P V": scipy_peer, "QuantEcon, backward induction": quantecon_peer, "Storm, value iteration": storm_peer,
         "pymdptoolbox, finite horizon": pymdptoolbox_peer}
MODULES = {"SciPy CSR, P V": "scipy", "QuantEcon, backward induction": "quantecon", "Storm, value iteration": "stormpy",
           "pymdptoolbox, finite horizon": "mdptoolbox"}


# Its check of a model fills a table of states by states: 2.7 GB at 1e4.
LARGEST = {"pymdptoolbox, finite horizon": 10_000}


def answer_as_peer(given):
    """Nanoseconds a (h,s,a), and whether the values are SciPy's."""
    import importlib.util
    actions, successors, _, _ = given.sizes
    if importlib.util.find_spec(MODULES.get(given.peer, "scipy")) is None:
        return {"why": "not installed"}
    if given.peer == "write":
        kernel, reward = random_model(given.states, actions, successors)
        write_drn(given.scratch + "/model.drn", kernel, reward)
        return {}
    if given.peer == "Storm, value iteration":
        seconds, steps, value = storm_peer(given)
    else:
        kernel, reward = random_model(given.states, actions, successors)
        seconds, steps, values = PEERS[given.peer](given, kernel, reward)
        value = float(values[0])
    return {"ns": seconds / (given.states * actions * steps) * 1e9, "value": value}


# --- the table -------------------------------------------------------------------------------------------------

def print_row(states, piece, cost, held, threads, note=""):
    print(f"{states:>9}  {piece:32} {cost:>12} {held:>13} {threads:>8}  {note}".rstrip(), flush=True)


def tool_rows(given, states, threads):
    actions, _, _, horizon = given.sizes
    result, peak, seconds = run_tool(given, states, threads)
    spent, places, held = result["seconds"], states * actions * (horizon - 1), f"{peak / (states * actions):.0f}"
    plan = spent["plan"] / result["replans"] / places * 1e9
    certify = spent["certify"] / places * 1e9
    print_row(f"{states:,}", "plan", f"{plan:.0f}", held, threads)
    print_row("", "certificate", f"{certify:.0f}", held, threads, f"{certify / plan:.1f} times the plan")
    print_row("", "whole run", f"{seconds / places * 1e9:.0f}", held, threads,
              f"{seconds:.2f} s, {result['episodes']} episodes, {result['replans']} policies")


def peer_rows(given, states, patience):
    with tempfile.TemporaryDirectory() as scratch:
        expected = None
        for name in PEERS:
            if name in given.without:
                continue
            if states > LARGEST.get(name, states):
                print_row("", name, "", "", "", "left out: it takes memory for states by states")
                continue
            if patience.get(name, 0) * 10 > given.patience:
                print_row("", name, "", "", "", f"left out: would take more than {given.patience:.0f} s")
                continue
            began = time.perf_counter()
            if name.startswith("Storm"):
                run_peer(given, "write", states, scratch)
            done = run_peer(given, name, states, scratch)
            patience[name] = time.perf_counter() - began
            if done is None:
                print_row("", name, "", "", "", "failed")
                continue
            answer, peak, _ = done
            if "ns" not in answer:
                print_row("", name, "", "", "", answer["why"])
                continue
            expected = answer["value"] if expected is None else expected
            if abs(answer["value"] - expected) > 1e-6:
                raise SystemExit(f"{name} has the value {answer['value']}, others {expected}")
            print_row("", name, f"{answer['ns']:.1f}", f"{peak / (states * given.sizes[0]):.0f}", 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--largest", type=float, default=1e5)
    parser.add_argument("--threads", type=lambda text: [int(x) for x in text.split(",")], default=[1, 2])
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--sizes", type=lambda text: [int(x) for x in text.split(",")], default=[10, 10, 10, 10],
                        help="actions, successors, base models, horizon")
    parser.add_argument("--patience", type=float, default=120, help="seconds that a package may take for one size")
    parser.add_argument("--without", type=lambda text: text.split(","), default=[], help="packages to leave out")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--states", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        with contextlib.redirect_stdout(sys.stderr):  # some talk
            answer = answer_as_peer(given)
        print(json.dumps(answer))
        return
    actions, successors, features, horizon = given.sizes
    print(f"Growth: A = {actions}, m = {successors}, d = {features}, H = {horizon}; times a (h,s,a), memory at the peak")
    print_row("S", "piece", "ns a (h,s,a)", "bytes a pair", "threads")
    states, patience = 1000, {}
    while states <= given.largest:
        for threads in given.threads:
            tool_rows(given, states, threads)
        peer_rows(given, states, patience)
        states *= 10


if __name__ == "__main__":
    main()
