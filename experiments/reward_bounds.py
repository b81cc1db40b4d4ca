#!/usr/bin/env python3
"""How tight bounds for single rewards are after 10^4 episodes, against the study's figures and against the truth.

    reward_bounds.py [--tool PATH] [--quick]

Mean loss bound of each method over the rewards of a run, for several seeds of problem and run. The study's rewards
are not known in detail; here they are the kinds of `alidade reward list`, in turn, with seeds 1, 2, .... Every bound
is compared with the exact loss of the plan in the true model, computed here from the problem's files.
"""

import ast
import json
import struct
import subprocess
import tempfile
import zipfile
from pathlib import Path

from runs import arguments, garnet, print_table, side_by_side

EPISODES = 10**4
SIZES = [(20, 4, 5, 5, 8), (50, 4, 5, 10, 10)]
TOLERANCE = 1e-9


def call(tool, *words):
    command = [str(word) for word in (tool, *words)]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit(f"exit code {done.returncode}: {' '.join(command)}")
    return done.stdout


def read_npz(path):
    """{name: (shape, flat values)}, without NumPy."""
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for member in file.namelist():
            data = file.read(member)
            start = 10 + struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10:start].decode())
            code = {"<f8": "d", "<i8": "q", "<i4": "i"}.get(header["descr"])
            if code:
                size = struct.calcsize(code)
                values = struct.unpack(f"<{(len(data) - start) // size}{code}", data[start:])
                arrays[member.removesuffix(".npy")] = header["shape"], values
    return arrays


class Truth:
    """The true model of a problem folder: rows[h][pair] is a list of (next state, probability)."""

    def __init__(self, folder, states, actions, horizon):
        self.states, self.actions, self.horizon = states, actions, horizon
        kernels = [read_npz(path) for path in sorted((folder / "base").glob("*.npz"))]
        weights = json.loads((folder / "truth.json").read_text())["weights"]
        self.rows = []
        for theta in weights:
            rows = [{} for _ in range(states * actions)]
            for weight, kernel in zip(theta, kernels):
                offsets, targets, chances = (kernel[name][1] for name in ("indptr", "indices", "data"))
                for pair, row in enumerate(rows):
                    for e in range(offsets[pair], offsets[pair + 1]):
                        row[targets[e]] = row.get(targets[e], 0) + weight * chances[e]
            self.rows.append([list(row.items()) for row in rows])

    def values(self, reward, policy=None):
        """V*, or V^pi, at state 0 of step 0."""
        value = [0.0] * self.states
        for h in reversed(range(self.horizon)):
            now = []
            for s in range(self.states):
                options = range(self.actions) if policy is None else [policy[h][s]]
                now.append(max(reward[h][s * self.actions + a]
                               + sum(p * value[t] for t, p in self.rows[h][s * self.actions + a]) for a in options))
            value = now
        return value[0]


def read_reward(path, horizon):
    shape, values = read_npz(path)["reward"]
    pairs = shape[-1] * shape[-2]
    return [values[h * pairs:(h + 1) * pairs] if len(shape) == 3 else values for h in range(horizon)]


def measure(tool, algorithm, sizes, concentration, seed, kinds, count):
    """The plans of one run for `count` rewards, each with `true_loss` and whether a bound failed."""
    problem = garnet(*sizes, concentration, seed)
    names = [f"{kinds[i % len(kinds)]}?seed={i // len(kinds) + 1}" for i in range(count)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        call(tool, "problem", "make", problem, "-o", folder / "problem")
        call(tool, "explore", problem, "-o", folder / "run", "--episodes", EPISODES, "--algorithm", algorithm,
             "--seed", seed, "--threads", 1, "--quiet")
        flags = [word for name in names for word in ("--reward", name)]
        plans = json.loads(call(tool, "plan", folder / "run", "--json", "--threads", 1, *flags))["plans"]
        states, actions, _, horizon, _ = sizes
        truth = Truth(folder / "problem", states, actions, horizon)
        for plan in plans:
            call(tool, "reward", "make", problem, plan["reward"], "-o", folder / "r.npz", "--overwrite")
            reward = read_reward(folder / "r.npz", horizon)
            value, best = truth.values(reward, plan["policy"]), truth.values(reward)
            plan["true_loss"] = best - value
            plan["violated"] = (best - value > min(plan["methods"].values()) + TOLERANCE
                                or best > plan["optimal_upper"] + TOLERANCE
                                or not plan["value_lower"] - TOLERANCE <= value <= plan["value_upper"] + TOLERANCE)
    return plans


def mean(numbers):
    return sum(numbers) / len(numbers)


def table(title, tool, seeds, algorithm, concentration, kinds, count, bound, study, allowed):
    cases = [(sizes, seed) for sizes in SIZES for seed in seeds]
    results = side_by_side(
        lambda sizes, seed: measure(tool, algorithm, sizes, concentration, seed, kinds, count), cases)
    rows = []
    for (sizes, seed), plans in zip(cases, results):
        methods = [mean([plan["methods"][name] for plan in plans]) for name in ("plain", "gap", "advantage")]
        ours = mean([bound(plan["methods"]) for plan in plans])
        by_kind = [mean([bound(plan["methods"]) for plan in plans[k::len(kinds)]]) for k in range(len(kinds))]
        bar = allowed * study[SIZES.index(sizes)]
        rows.append([",".join(map(str, sizes)), seed, *(f"{value:.4f}" for value in methods), f"{ours:.4f}",
                     " / ".join(f"{value:.4f}" for value in by_kind), f"{bar:.4f}",
                     sum(min(plan["methods"].values()) <= 0 for plan in plans),
                     f"{mean([plan['true_loss'] for plan in plans]):.1e}", sum(plan["violated"] for plan in plans)])
    print(f"{title}: {count} rewards ({', '.join(kinds)}), K = {EPISODES}\n")
    print_table(["garnet", "seed", "plain", "gap", "advantage", "compared", "by kind", f"{allowed} x study",
                 "exactly 0", "true loss", "violations"], rows)


def population(tool, seeds, count):
    """The bar is about 20 rewards of one run; the same of more rewards and runs says how far that was luck."""
    kinds, sizes = ["dense", "sparse", "single-state"], SIZES[0]
    results = side_by_side(lambda seed: measure(tool, "likelihood", sizes, 1.0, seed, kinds, count),
                           [(seed,) for seed in seeds])
    means = [mean([plan["methods"]["advantage"] for plan in plans]) for plans in results]
    print(f"\nLikelihood sets, concentration 1, garnet {sizes}, {count} rewards each for seeds {seeds[0]} to {seeds[-1]}: "
          f"advantage {mean(means):.4f} ({min(means):.4f} to {max(means):.4f}), "
          f"{sum(plan['violated'] for plans in results for plan in plans)} violations")


def main():
    options = arguments(__doc__).parse_args()
    table("Regression sets, concentration 0.3, min(plain, gap)", options.tool, [11] if options.quick else [11, 1, 2],
          "hoeffding", 0.3, ["binary", "dense", "reach"], 40, lambda m: min(m["plain"], m["gap"]), (.184, .298), 1.1)
    table("Likelihood sets, concentration 1, advantage", options.tool, [1] if options.quick else [1, 2, 3],
          "likelihood", 1.0, ["dense", "sparse", "single-state"], 20, lambda m: m["advantage"], (.0042, .042), 1.3)
    population(options.tool, range(1, 3) if options.quick else range(1, 11), 30 if options.quick else 120)


if __name__ == "__main__":
    main()
