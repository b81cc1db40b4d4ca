#!/usr/bin/env python3
"""How the episodes to a certificate grow with 1/epsilon, d - 1 and H, with fitted slopes and a figure.

    scaling.py [--tool PATH] [--out DIR] [--quick]

Garnets with 8 states and 3 actions, successors = states, concentration 0.5. One of (epsilon, d, H) varies, the
others stay at (0.5, 5, 5). K is the first number of episodes at which `alidade explore --target` stops,
replanning at 3 % growth; the median over seeds, which change problem and run. Slopes are least squares in
log-log. Writes scaling.csv and scaling.svg into DIR.
"""

import csv
import statistics
from pathlib import Path

import numpy as np

from runs import SHARP, SHARP_WITHOUT_SPAN, arguments, episodes_to, garnet, number, print_table, side_by_side

STATES, ACTIONS, CONCENTRATION = 8, 3, 0.5
CENTRE = {"epsilon": 0.5, "features": 5, "horizon": 5}
VARIED = {"epsilon": [1.0, 0.5, 0.25, 0.125, 0.0625], "features": [2, 3, 5, 9, 17], "horizon": [3, 4, 6, 8, 12]}
SYMBOL = {"epsilon": "ε", "features": "d", "horizon": "H"}
ABSCISSA = {"epsilon": ("1/ε", lambda value: 1 / value), "features": ("d − 1", lambda value: value - 1),
            "horizon": ("H", lambda value: value)}
CONSTANTS = {"sharp": SHARP, "sharp without span": SHARP_WITHOUT_SPAN, "paper": ["--constants", "paper"]}
# Of the study that the constants come from, on random models of its own; it fitted none for the paper's.
REFERENCE = {"sharp": {"epsilon": 2.19, "features": 1.94, "horizon": 3.96},
             "sharp without span": {"epsilon": 2.19, "features": 2.09, "horizon": 4.9}}


def measure(tool, constants, setting, seed):
    problem = garnet(STATES, ACTIONS, setting["features"], setting["horizon"], STATES, CONCENTRATION, seed)
    return episodes_to(tool, problem, setting["epsilon"], "--replan", "growth=0.03", "--seed", seed,
                       *CONSTANTS[constants])


def measure_all(tool, seeds):
    cases = [(constants, varied, value, seed) for constants in CONSTANTS for varied, values in VARIED.items()
             for value in values for seed in seeds]
    episodes = side_by_side(
        lambda constants, varied, value, seed: measure(tool, constants, {**CENTRE, varied: value}, seed), cases)
    return [(*case, count) for case, count in zip(cases, episodes)]


def curve(rows, constants, varied):
    """Abscissae and median K."""
    x, median = [], []
    for value in VARIED[varied]:
        x.append(ABSCISSA[varied][1](value))
        median.append(statistics.median(row[4] for row in rows if row[:3] == (constants, varied, value)))
    return np.array(x, dtype=float), np.array(median, dtype=float)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["constants", "varied", "value", "seed", "episodes"])
        writer.writerows(rows)


def draw(path, rows):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "alidade", "font.size": 9})  # the same bytes for the same numbers

    figure, panels = plt.subplots(1, len(VARIED), figsize=(11, 3.8), sharey=True, layout="constrained")
    for panel, varied in zip(panels, VARIED):
        for constants, marker in zip(CONSTANTS, "os^"):
            x, y = curve(rows, constants, varied)
            panel.loglog(x, y, marker=marker, label=f"{constants}: slope {slope(x, y):.2f}")
        fixed = ", ".join(f"{SYMBOL[name]} = {value}" for name, value in CENTRE.items() if name != varied)
        panel.set(title=fixed, xlabel=ABSCISSA[varied][0])
        panel.set_xticks(x, [f"{tick:g}" for tick in x], minor=False)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    panels[0].set_ylabel("episodes to a certificate ≤ ε")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = arguments(__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/experiments"),
                        help="folder of the CSV and the figure")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    rows = measure_all(options.tool, [1] if options.quick else [1, 2, 3, 4, 5])
    write_csv(options.out / "scaling.csv", rows)
    draw(options.out / "scaling.svg", rows)

    print("Slopes of log K: measured (study)\n")
    print_table(["constants", *(f"against {ABSCISSA[varied][0]}" for varied in VARIED)],
                [[constants, *(f"{slope(*curve(rows, constants, varied)):.2f}"
                               + (f" ({REFERENCE[constants][varied]})" if constants in REFERENCE else "")
                               for varied in VARIED)] for constants in CONSTANTS])
    x, y = curve(rows, "paper", "features")
    print(f"The paper's regression has d coordinates; against d its slope is {slope(x + 1, y):.2f}.\n")
    for varied, values in VARIED.items():
        print_table([f"K at {SYMBOL[varied]} =", *(f"{value:g}" for value in values)],
                    [[constants, *(number(count) for count in curve(rows, constants, varied)[1])]
                     for constants in CONSTANTS])


if __name__ == "__main__":
    main()
