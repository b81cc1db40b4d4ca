#!/usr/bin/env python3
"""What each sharpening buys: the certificate after 1e5 episodes without it, and its ratio to the one with all.

    ablation.py [--tool PATH] [--quick]

Medians over the seeds of the run; the problems stay the same. A certificate of H is vacuous.
"""

import statistics

from runs import SHARPENINGS, arguments, certificate_at, garnet, over_seeds, print_table

EPISODES = 100_000
PROBLEMS = {"garnet 20,4,5,5,8": garnet(20, 4, 5, 5, 8, 0.3, 11),
            "garnet 9,4,10,10,9": garnet(9, 4, 10, 10, 9, 0.5, 1),
            "riverswim 12, H = 20": "builtin:riverswim?length=12&horizon=20&features=4"}
VARIANTS = {"all (`sharp`)": [], **{f"without `{name}`": ["--confidence", f"regression?without={name}"] for name in SHARPENINGS},
            "without `coupling` and `span`": ["--confidence", "regression?without=coupling+span"],
            "without any": ["--confidence", "regression?without=" + "+".join(SHARPENINGS)],
            "the paper's": ["--constants", "paper"]}


def main():
    options = arguments(__doc__).parse_args()
    seeds = [1] if options.quick else [1, 2, 3, 4, 5]

    def certificate(problem, flags):
        return statistics.median(over_seeds(
            lambda seed: certificate_at(options.tool, problem, EPISODES, "--algorithm", "hoeffding", "--seed", seed, *flags), seeds))

    table = {name: [certificate(problem, flags) for problem in PROBLEMS.values()]
             for name, flags in VARIANTS.items()}
    complete = next(iter(table.values()))
    print(f"Certificate after {EPISODES:,} episodes (times that of `sharp`)\n")
    print_table(["sharpenings", *PROBLEMS], [[name, *(f"{value:.4g} ({value / whole:.3f})"
                                                      for value, whole in zip(row, complete))]
                                             for name, row in table.items()])


if __name__ == "__main__":
    main()
