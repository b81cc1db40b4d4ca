#!/usr/bin/env python3
"""Episodes to a certificate: ours, with uniform actions, with the paper's constants, and a study's beside them.

    episodes.py [--tool PATH] [--quick]

The paper's constants are told K beforehand: --episodes, here 1e10 for K and 1e8 for certificates. K is the
median over seeds, which change problem and run.
"""

import statistics

from runs import (SHARP, SHARP_WITHOUT_SPAN, arguments, certificate_at, episodes_to, garnet, median_and_range, number, over_seeds,
                  print_table)

# (S, A, d, H, m), concentration 0.3; the study's episodes to 10 % of H: sharp, uniform, paper.
TENTH = [((5, 2, 2, 3, 5), (1.9e3, 2.3e3, 1.07e7)), ((10, 3, 3, 5, 5), (3.0e4, 4.0e4, 4.7e7)),
         ((20, 4, 5, 5, 8), (1.1e5, 1.2e5, 1.2e8)), ((50, 4, 5, 10, 10), (6.3e5, 7.7e5, 4.8e8)),
         ((200, 5, 8, 10, 10), (1.9e6, 2.2e6, 1.3e9))]
PAPER_BUDGET = 10**10
# (d, H, epsilon), (S, A); successors = states, concentration 0.5; the study's K without and with the span
# certificate, least and largest of its two seeds.
ABSOLUTE = [((3, 3, 0.5), (6, 3), (1.40e3, 1.44e3), (1.21e3, 1.24e3)),
            ((5, 5, 0.5), (8, 3), (8.2e4, 8.2e4), (3.5e4, 4.4e4)),
            ((10, 10, 1.0), (9, 4), (2.5e6, 2.5e6), (2.4e5, 2.6e5))]


def tenth_row(tool, size, study, seeds):
    target = size[3] / 10

    def episodes(budget, *flags):
        return statistics.median(over_seeds(
            lambda seed: episodes_to(tool, garnet(*size, 0.3, seed), target, "--replan", "growth=0.1",
                                     "--seed", seed, *flags, budget=budget), seeds))

    def certificate(*flags):
        return statistics.median(over_seeds(
            lambda seed: certificate_at(tool, garnet(*size, 0.3, seed), 10**8, "--replan", "growth=0.1",
                                        "--seed", seed, *flags), seeds))

    sharp = episodes(10**12, *SHARP)
    uniform = episodes(10**12, "--algorithm", "uniform", *SHARP[2:])
    paper = episodes(PAPER_BUDGET, "--constants", "paper")
    by_paper, by_sharp = certificate("--constants", "paper"), certificate(*SHARP)
    beside = [f"{number(found)} ({number(there)})" for found, there in zip((sharp, uniform, paper), study)]
    return [",".join(map(str, size)), *beside, f"{paper / sharp:.0f} ({study[2] / study[0]:.0f})",
            f"{by_paper:.3g} / {by_sharp:.3g} = {by_paper / by_sharp:.1f}"]


def absolute_row(tool, setting, pairs, studies, seeds):
    (features, horizon, epsilon), (states, actions) = setting, pairs
    cells = [f"({features}, {horizon}, {epsilon:g})"]
    for flags, study in zip((SHARP_WITHOUT_SPAN, SHARP), studies):
        found = over_seeds(lambda seed: episodes_to(
            tool, garnet(states, actions, features, horizon, states, 0.5, seed), epsilon,
            "--replan", "growth=0.03", "--seed", seed, *flags), seeds)
        cells += [median_and_range(found), " to ".join(dict.fromkeys(map(number, study)))]
    return cells


def main():
    options = arguments(__doc__).parse_args()
    seeds = [1] if options.quick else [1, 2, 3, 4, 5]

    print("K to a certificate of H/10 (study), garnets, concentration 0.3, growth 10 %\n")
    print_table(["S,A,d,H,m", "sharp", "uniform actions", "paper", "paper / sharp",
                 "certificates at 1e8, paper / sharp"],
                [tenth_row(options.tool, size, study, seeds)
                 for size, study in (TENTH[:3] if options.quick else TENTH)])
    print("K to a certificate of epsilon, median (least to largest), garnets with successors = states, "
          "concentration 0.5, growth 3 %\n")
    print_table(["(d, H, ε)", "sharp without span", "study", "sharp", "study"],
                [absolute_row(options.tool, setting, pairs, studies, seeds)
                 for setting, pairs, *studies in ABSOLUTE])


if __name__ == "__main__":
    main()
