#!/usr/bin/env python3
"""What likelihood sets buy: episodes to a certificate of H/10, against regression sets and the paper's constants.

    likelihood.py [--tool PATH] [--quick]

Median over seeds 1 to 5, which change problem and run where the problem has a seed; replanning at 10 % growth.
`uniform` is the likelihood certificate on uniformly random actions. The paper's constants are told 10^10 episodes.
"""

import statistics

from runs import arguments, episodes_to, garnet, number, over_seeds, print_table

# name, problem of a seed, H, and K of the study's "lik hybrid"
PROBLEMS = [
    ("garnet 10,3,3,5,5", lambda seed: garnet(10, 3, 3, 5, 5, 1.0, seed), 5, 11.0e3),
    ("garnet 20,4,5,5,8", lambda seed: garnet(20, 4, 5, 5, 8, 1.0, seed), 5, 23.6e3),
    ("garnet 50,4,5,10,10", lambda seed: garnet(50, 4, 5, 10, 10, 1.0, seed), 10, 74.6e3),
    ("inventory", lambda seed: f"builtin:inventory?seed={seed}", 7, 19.5e3),
    ("riverswim halves", lambda seed: f"builtin:riverswim?variant=halves&length=10&horizon=12&seed={seed}", 12, 2.1e3),
    ("lock deep", lambda seed: f"builtin:lock?variant=deep&length=7&actions=3&horizon=9&seed={seed}", 9, 556),
]


def main():
    options = arguments(__doc__).parse_args()
    seeds = [1] if options.quick else [1, 2, 3, 4, 5]
    rows = []
    for name, problem, horizon, study in PROBLEMS:
        def median(*flags, budget=10**9):
            return statistics.median(over_seeds(
                lambda seed: episodes_to(options.tool, problem(seed), horizon / 10, "--seed", seed, *flags,
                                         budget=budget), seeds))
        ours = median("--algorithm", "likelihood")
        uniform = median("--algorithm", "likelihood?bonus=none")
        sharp = median("--algorithm", "hoeffding")
        paper = median("--algorithm", "hoeffding", "--constants", "paper", budget=10**10)
        rows.append([name, f"{number(ours)} ({number(study)})", number(uniform), number(sharp), number(paper),
                     f"{uniform / ours:.3g}", f"{sharp / ours:.3g}", f"{paper / ours:.3g}"])
    print("K to a certificate of H/10, study's in brackets\n")
    print_table(["problem", "likelihood", "uniform actions", "sharp regression", "paper", "uniform / ours",
                 "sharp / ours", "paper / ours"], rows)


if __name__ == "__main__":
    main()
