#!/usr/bin/env python3
"""What it saves to know that all steps share their weights: the same system, declared homogeneous and not.

    pooling.py [--tool PATH] [--quick]

Garnets with concentration 1 whose true weights are those of step 0 at every step. K is the number of episodes
to a certificate of H/10, replanning at 3 % growth; the median over seeds, which change problem and run.
"""

import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from runs import SHARP, arguments, episodes_to, garnet, median_and_range, over_seeds, print_table

# (S, A, d, H, m), and by what K fell in the study: other sets (likelihood) and uniform actions.
SIZES = [((10, 3, 3, 5, 5), "4.7 to 5.3"), ((20, 4, 5, 5, 8), "4.4 to 5.0"), ((50, 4, 5, 10, 10), "9 to 11")]


def write_problem(tool, problem, folder, homogeneous):
    """The problem as a folder, with the weights of step 0 at all steps."""
    subprocess.run([tool, "problem", "make", problem, "-o", folder, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    truth, description = folder / "truth.json", folder / "problem.toml"
    weights = json.loads(truth.read_text())["weights"]
    truth.write_text(json.dumps({"weights": weights[:1] if homogeneous else weights[:1] * len(weights)}))
    text, changed = re.subn(r"(?m)^homogeneous = \w+$", f"homogeneous = {str(homogeneous).lower()}",
                            description.read_text())
    if changed != 1:
        raise SystemExit(f"{description}: one line 'homogeneous = ...' expected, {changed} found")
    description.write_text(text)


def episodes(tool, size, seed, homogeneous):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "problem"
        write_problem(tool, garnet(*size, 1.0, seed), folder, homogeneous)
        return episodes_to(tool, folder, size[3] / 10, "--replan", "growth=0.03", "--seed", seed, *SHARP)


def main():
    options = arguments(__doc__).parse_args()
    seeds = [1] if options.quick else [1, 2, 3]
    rows = []
    for size, study in SIZES[:2] if options.quick else SIZES:
        apart, pooled = (over_seeds(lambda seed: episodes(options.tool, size, seed, homogeneous), seeds)
                         for homogeneous in (False, True))
        ratio = statistics.median(apart) / statistics.median(pooled)
        rows.append([",".join(map(str, size)), size[3] - 1, median_and_range(apart), median_and_range(pooled),
                     f"{ratio:.1f}", study])
    print("K to a certificate of H/10\n")
    print_table(["S,A,d,H,m", "learned steps", "not declared", "homogeneous", "ratio", "study's ratio"], rows)


if __name__ == "__main__":
    main()
