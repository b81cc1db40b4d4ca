#!/usr/bin/env python3
"""How often honest-looking reports are wrong: the numbers of docs/fooling-oneself.md.

    fooling_oneself.py [--tool PATH] [--quick]

The system is one coin: an episode goes from state 0 to state 1 with probability 0.5, which is the half and half
mixture of two base models, 0.1 and 0.9. A log is then a number k of heads out of n, and alidade gives one interval
for each k. With all of them tabled, every probability below is a sum over the binomial law: nothing is simulated.
"""

import json
import math
import pathlib
import subprocess
import tempfile

from runs import arguments

P = 0.5


def write_problem(folder, low, high):
    folder.mkdir(exist_ok=True)
    for name, p in (("low", low), ("high", high)):
        model = {"P": {"0": {"0": [[1 - p, 0, 0, False], [p, 1, 0, False]]}, "1": {"0": [[1, 1, 0, False]]}}}
        (folder / f"{name}.json").write_text(json.dumps(model))
    (folder / "problem.toml").write_text(
        '[problem]\nname = "coin"\nhorizon = 2\ninitial_state = 0\n'
        '[[base]]\nfile = "low.json"\n[[base]]\nfile = "high.json"\n')
    (folder / "heads.json").write_text('{"entries": [{"state": 1, "step": 1, "reward": 1}]}')


def interval(tool, folder, heads, tails, delta):
    """What alidade claims of the coin's probability after such a log."""
    lines = [{"states": [0, state], "actions": [0], "count": count}
             for state, count in ((1, heads), (0, tails)) if count > 0]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = str(folder / "run")
    subprocess.run([tool, "learn", str(folder), "--episodes", str(folder / "log.jsonl"), "-o", run, "--overwrite",
                    "--delta", str(delta), "--fit-level", "0", "--quiet", "--json"],
                   check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run([tool, "plan", run, "--reward", str(folder / "heads.json"), "--json", "--quiet"],
                          check=True, capture_output=True, text=True).stdout
    said = json.loads(said)
    return said["value_lower"], said["value_upper"]


def binomial(n, k, p):
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                    + k * math.log(p) + (n - k) * math.log1p(-p))


def report(tool, folder, n):
    law = [binomial(n, k, P) for k in range(n + 1)]

    def claims(delta, copies=1, weights=law):
        return {k: interval(tool, folder, copies * k, copies * (n - k), delta)
                for k in range(n + 1) if weights[k] > 1e-9}

    def wrong(said, weights=law):
        return sum(weights[k] for k, (low, high) in said.items() if not low <= P <= high)

    honest = claims(0.1)
    too_good = sum(law[k] for k, (low, _) in honest.items() if low > P)
    print(f"n = {n}, delta = 0.1\none run, wrong: {wrong(honest):.4f}; lower end too high: {too_good:.4f}")
    for runs in (5, 20, 100):
        print(f"best lower end of {runs}, wrong: {1 - (1 - too_good) ** runs:.4f}")
    for copies in (2, 5, 10):
        print(f"every episode counted {copies} times, wrong: {wrong(claims(0.1, copies)):.4f}")
    for kept in (0.8, 0.5):
        biased = [binomial(n, k, P / (P + (1 - P) * kept)) for k in range(n + 1)]
        print(f"{kept:.0%} of the failures kept, wrong: {wrong(claims(0.1, weights=biased), biased):.4f}")
    for half in (0.05, 0.02):
        missed = sum(p for k, p in enumerate(law) if abs(k / n - P) > half)
        print(f"base models {half} beside the frequency seen, truth is no mixture: {missed:.4f}")


def main():
    options = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_problem(folder, 0.1, 0.9)
        for n in (100,) if options.quick else (100, 1000):
            report(options.tool.resolve(), folder, n)


if __name__ == "__main__":
    main()
