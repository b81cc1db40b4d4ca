#!/usr/bin/env python3
"""Alidade against the numpy reference on one garnet, one thread each: time an episode and certificate.
The reference comes in two styles: as the algorithm is printed, and with all pairs of a step batched.

    compare.py [--tool PATH] [--episodes N]

The random draws differ, so certificates agree within a few per cent, not to the digit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEM = "builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8&seed=11"
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def output_of(command):
    done = subprocess.run([str(part) for part in command], env=ONE_THREAD, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def numpy_run(style, episodes):
    script = Path(__file__).with_name("algorithm1.py")
    result = output_of([sys.executable, script, "--style", style, "--episodes", episodes, "--json"])
    return result["seconds"] / episodes, result["certificate"]


def alidade_run(tool, episodes, replan):
    with tempfile.TemporaryDirectory() as scratch:
        result = output_of([tool, "explore", PROBLEM, "-o", Path(scratch) / "run", "--algorithm", "hoeffding",
                            "--constants", "sharp", "--replan", replan, "--episodes", episodes, "--seed", 1,
                            "--threads", 1, "--json"])
    return result["seconds"]["total"] / episodes, result["certificate"]["reward_free"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, help="the alidade program")
    parser.add_argument("--episodes", type=int, default=2000)
    options = parser.parse_args()

    rows = [("numpy as printed, every", options.episodes, *numpy_run("loops", options.episodes)),
            ("numpy batched, every", options.episodes, *numpy_run("batched", options.episodes))]
    if options.tool and options.tool.exists():
        rows += [(f"alidade, {replan}", episodes, *alidade_run(options.tool, episodes, replan))
                 for replan, episodes in (("every", options.episodes), ("every", 100_000),
                                          ("doubling", 100_000), ("doubling", 1_000_000),
                                          ("growth=0.1", 100_000_000))]
    print(PROBLEM)
    print(f"{'':26}{'episodes':>13}{'us/episode':>12}{'x printed':>11}{'x batched':>11}{'certificate':>13}")
    for name, episodes, seconds, certificate in rows:
        print(f"{name:26}{episodes:13,}{1e6 * seconds:12.4g}{rows[0][2] / seconds:11.4g}"
              f"{rows[1][2] / seconds:11.4g}{certificate:13.4f}")


if __name__ == "__main__":
    main()
