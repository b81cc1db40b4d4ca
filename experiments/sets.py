#!/usr/bin/env python3
"""Which confidence sets are smallest when: certificates of the same data by the sets of each kind, and a figure.

    sets.py [--tool PATH] [--out DIR] [--quick]

Uniform actions, so that all kinds see the same episodes; five seeds, which change problem and run. Numbers of episodes
double from one replanning to the next, and a run goes on from one K of the grid to the next. Problems with weights of
their own at every step are compared by the candidate `model`, which follows the widths of the sets alone; pooled
garnets by what users get, the least candidate: with long horizons certificates by divergences decide there.
Writes sets.csv, which has both, and sets.svg into DIR. Takes 24 minutes of processor time, 19 of them for `hard` with
200 steps; with --quick, 15 seconds.
"""

import csv
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pooling import write_problem
from runs import arguments, explore_in, garnet, print_table, side_by_side

KINDS = ["regression", "weighted", "likelihood", "weighted,likelihood"]
LABELS = {"weighted,likelihood": "weighted ∩ likelihood"}
LETTERS = dict(zip(KINDS, ["R", "W", "L", "W∩L"]))
# Colours of Okabe and Ito. Broken over solid lines where they fall together.
STYLES = {
    "regression": {"color": "#0072B2", "marker": "o", "markersize": 5},
    "weighted": {"color": "#D55E00", "marker": "s", "markersize": 3.5, "linestyle": "--"},
    "likelihood": {"color": "#009E73", "marker": "^", "markersize": 5.5},
    "weighted,likelihood": {"color": "black", "marker": "D", "markersize": 2.5, "linestyle": ":"},
}
SIGNED = tuple(KINDS[:2])  # kinds of sets that there are without base models


@dataclass(frozen=True)
class Case:
    name: str
    address: str  # with {seed}
    horizon: int
    episodes: tuple
    pooled: bool = False
    kinds: tuple = tuple(KINDS)
    growth: int = 1

    @property
    def candidate(self):
        return "least" if self.pooled else "model"


def decades(first, last, factors=(1, 3)):
    """The factors times the powers of ten, from 10^first to 10^last."""
    return tuple(factor * 10**power for power in range(first, last) for factor in factors) + (10**last,)


def hard(horizon, episodes, **more):
    return Case(f"hard, H = {horizon}", f"builtin:hard?features=5&horizon={horizon}&seed={{seed}}", horizon, episodes,
                kinds=SIGNED, **more)


def pooled(horizon):
    return Case(f"pooled garnet, H = {horizon}", garnet(10, 3, 3, horizon, 5, 1.0, "{seed}"), horizon,
                decades(2, 6), pooled=True)


# `hard` with 200 steps takes ten seconds a certificate: it replans at tenfold numbers of episodes. With 10 and
# 50 steps that makes the weighted certificates up to 2.4 % larger, and changes the others by 0.7 % at most.
CASES = [
    Case("garnet 10,3,3,5,5", garnet(10, 3, 3, 5, 5, 1.0, "{seed}"), 5, decades(3, 9)),
    Case("garnet 20,4,5,5,8", garnet(20, 4, 5, 5, 8, 0.3, "{seed}"), 5, decades(3, 9)),
    Case("riverswim 12, H = 20", "builtin:riverswim?seed={seed}", 20, decades(3, 9)),
    Case("gridworld 4 × 4, H = 16", "builtin:gridworld?width=4&height=4&horizon=16&seed={seed}", 16, decades(3, 9)),
    hard(10, decades(3, 7)), hard(50, decades(3, 7)), hard(200, decades(3, 7, (1,)), growth=9),
    pooled(10), pooled(50), pooled(200),
]
COLUMNS = ["problem", "sets", "seed", "episodes", "horizon", "model", "least", "method"]


def certificates(tool, case, kind, seed):
    """Rows of the CSV, one for each K of the case."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        problem = case.address.format(seed=seed)
        if case.pooled:
            write_problem(tool, problem, Path(scratch) / "problem", True)
            problem = Path(scratch) / "problem"
        for episodes in case.episodes:
            found = explore_in(tool, problem, Path(scratch) / "run", "--algorithm", "uniform", "--confidence", kind,
                               "--episodes", episodes, "--replan", f"growth={case.growth}",
                               "--seed", seed)["certificate"]
            candidates = found["candidates"]
            rows.append((case.name, kind, seed, episodes, case.horizon, candidates["model"],
                         min(candidates.values()), found["method"]))
    return rows


def measure_all(tool, cases, seeds):
    runs = [(case, kind, seed) for case in cases for seed in seeds for kind in case.kinds]
    return [row for rows in side_by_side(lambda *run: certificates(tool, *run), runs) for row in rows]


def values(rows, case, kind, episodes, column=None):
    """Over the seeds, in their order."""
    index = COLUMNS.index(column or case.candidate)
    return [row[index] for row in rows if (row[0], row[1], row[3]) == (case.name, kind, episodes)]


def ratios(rows, case, kind, episodes):
    """The certificates by those of regression from the same data."""
    return [one / other for one, other in zip(values(rows, case, kind, episodes),
                                              values(rows, case, "regression", episodes))]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((*row[:5], f"{row[5]:.6g}", f"{row[6]:.6g}", row[7]) for row in rows)


def smallest(rows, case, episodes):
    """Which kinds have the least certificate, and at how many seeds where they share them."""
    if episodes not in case.episodes:
        return ""
    found = [values(rows, case, kind, episodes) for kind in case.kinds]
    winners = []
    for each in zip(*found):
        least = [kind for kind, value in zip(case.kinds, each) if value < min(each) * (1 + 1e-9)]
        winners.append(LETTERS[least[0]] if len(least) == 1 else "=")
    counts = sorted(((winners.count(one), one) for one in set(winners)), reverse=True)
    return counts[0][1] if len(counts) == 1 else ", ".join(f"{one} {count}" for count, one in counts)


def table(rows, cases, episodes):
    """Medians, the method that is the least candidate most often, and ratios from the same data."""
    lines, extra = [], ["regression, `model`"] if cases[0].pooled else []
    for case in cases:
        line = [case.name]
        for kind in KINDS:
            if kind not in case.kinds:
                line.append("-")
                continue
            method = statistics.mode(values(rows, case, kind, episodes, "method"))
            line.append(f"{statistics.median(values(rows, case, kind, episodes)):.3g}"
                        + (f" (`{method}`)" if case.pooled else ""))
        if case.pooled:
            line.append(f"{statistics.median(values(rows, case, 'regression', episodes, 'model')):.3g}")
        line += [f"{statistics.median(ratios(rows, case, kind, episodes)):.2f}" if kind in case.kinds else "-"
                 for kind in KINDS[1:3]]
        lines.append(line)
    print_table(["problem", *(LABELS.get(kind, kind) for kind in KINDS), *extra, "weighted / regression",
                 "likelihood / regression"], lines)


def print_tables(rows, cases):
    print("Candidate `model` after 10^6 episodes of uniform actions, medians over seeds\n")
    table(rows, [case for case in cases if not case.pooled], 10**6)
    print("Least candidate after 10^4 episodes of uniform actions, medians over seeds\n")
    table(rows, [case for case in cases if case.pooled], 10**4)
    print("The smallest: " + ", ".join(f"{letter} {LABELS.get(kind, kind)}" for kind, letter in LETTERS.items())
          + ", = several; where it depends on the seed, at how many of them\n")
    columns = [10**power for power in range(2, 10)]
    print_table(["K", *(f"10^{power}" for power in range(2, 10))],
                [[case.name, *(smallest(rows, case, episodes) for episodes in columns)] for case in cases])


def draw(path, rows, cases):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "alidade", "font.size": 9})  # the same bytes for the same numbers

    figure = plt.figure(figsize=(12, 10.5), layout="constrained")
    grid = figure.add_gridspec(3, 4)
    lines = [[case for case in cases if not case.pooled and case.kinds != SIGNED],
             [case for case in cases if case.kinds == SIGNED], [case for case in cases if case.pooled]]
    for line, which in enumerate(lines):
        for column, case in enumerate(which):
            above, below = grid[line, column].subgridspec(2, 1, height_ratios=[2, 1], hspace=0).subplots(sharex=True)
            draw_certificates(above, rows, case)
            draw_ratios(below, rows, case)
            if column == 0:
                above.set_ylabel(f"certificate ({case.candidate})")
                below.set_ylabel("÷ regression’s")
    legend = figure.add_subplot(grid[1, 3])
    legend.set_axis_off()
    seeds = len({row[COLUMNS.index("seed")] for row in rows})
    legend.legend(*figure.axes[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=10,
                  title=f"line: median of the seeds ({seeds})\nband: least to largest")
    figure.savefig(path, metadata={"Date": None})


def draw_lines(panel, case, kinds, found):
    """found(kind, episodes): a number for every seed."""
    for kind in kinds:
        columns = [found(kind, episodes) for episodes in case.episodes]
        panel.fill_between(case.episodes, [min(each) for each in columns], [max(each) for each in columns],
                           color=STYLES[kind]["color"], alpha=0.15, linewidth=0)
        panel.plot(case.episodes, [statistics.median(each) for each in columns], label=LABELS.get(kind, kind),
                   linewidth=1.3, markerfacecolor="white", **STYLES[kind])
    panel.grid(alpha=0.3)


def draw_certificates(panel, rows, case):
    draw_lines(panel, case, case.kinds, lambda kind, episodes: values(rows, case, kind, episodes))
    panel.axhline(case.horizon, color="0.35", linestyle="--", linewidth=1, label="H: no loss is larger")
    panel.set(title=case.name, xscale="log", yscale="log")
    panel.tick_params(bottom=False, labelbottom=False)
    low, high = panel.get_ylim()
    steps = (1,) if high / low > 100 else (1, 2, 5)  # ticks in every decade
    panel.set_yticks([tick for power in range(-5, 5) for step in steps if low <= (tick := step * 10.0**power) <= high])
    panel.yaxis.set_major_formatter("{x:g}")
    panel.minorticks_off()


def draw_ratios(panel, rows, case):
    draw_lines(panel, case, case.kinds[1:], lambda kind, episodes: ratios(rows, case, kind, episodes))
    panel.axhline(1, color=STYLES["regression"]["color"], linewidth=1.3)
    panel.set(xscale="log", xlabel="episodes K", ylim=(0.15, 1.15))
    panel.set_yticks([0.25, 0.5, 0.75, 1])
    panel.minorticks_off()


def main():
    parser = arguments(__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/experiments"),
                        help="folder of the CSV and the figure")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    cases = [case for case in CASES if not options.quick or case.horizon < 50]
    rows = measure_all(options.tool, cases, [1] if options.quick else [1, 2, 3, 4, 5])
    write_csv(options.out / "sets.csv", rows)
    draw(options.out / "sets.svg", rows, cases)
    print_tables(rows, cases)


if __name__ == "__main__":
    main()
