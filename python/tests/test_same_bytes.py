"""Same seed, same bytes: a run by Python, by the command line and by the C++ library are one."""

from __future__ import annotations

import json
import pathlib
import sqlite3
import subprocess

import pytest

import alidade
from conftest import ROOT

TIMES = ("seconds", "created", "updated", "saved")


def tables(folder: pathlib.Path) -> dict[str, list]:
    """Everything that a run has stored, but when it was and how long it took."""
    stored = {}
    with sqlite3.connect(folder / "run.sqlite") as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = database.execute(f"SELECT * FROM {table}").fetchall()
            stored[table] = sorted(repr(row) for row in rows if not str(row[0]).startswith(TIMES))
    stored.pop("digests", None)  # of these tables, seconds among them
    return stored


@pytest.mark.parametrize(
    "problem, options",
    [
        ("builtin:inventory?capacity=6", {}),
        ("builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8&seed=11", {"replan": "doubling"}),
        ("builtin:riverswim?length=5&horizon=8", {"algorithm": "hoeffding", "delta": 0.05}),
    ],
)
def test_python_and_the_command_line(tool, tmp_path, problem, options):
    flags = [f"--{name}={value}" for name, value in options.items()]
    said = subprocess.run(
        [tool, "explore", problem, "-o", tmp_path / "line", "--episodes=20000", "--seed=5", "--json", *flags],
        capture_output=True,
        check=True,
        text=True,
    )
    line = json.loads(said.stdout)
    run = alidade.Run.create(tmp_path / "python", problem, seed=5, **options)
    explored = run.explore(episodes=20_000)
    knowledge = explored.knowledge
    total = knowledge.certify_class("total")
    assert {
        "reward_free": knowledge.certificate.bound,
        "vacuous": knowledge.certificate.vacuous,
        "method": knowledge.certificate.method,
        "candidates": knowledge.certificate.candidates,
        "any_plan": knowledge.certificate.any_plan,
        **({"forms": knowledge.certificate.forms} if knowledge.certificate.forms else {}),
        "classes": {"total": {"bound": total.bound, "method": total.method, "vacuous": total.vacuous}},
    } == line["certificate"]
    assert knowledge.weights.tolist() == line["weights"]
    trace = explored.trace
    assert [
        {"episodes": e, "certificate": b, "replans": r}
        for e, b, r in zip(trace["episodes"].tolist(), trace["bound"].tolist(), trace["replans"].tolist())
    ] == line["trace"]
    assert (explored.result.replans, explored.replan_bound, explored.stopped) == (
        line["replans"],
        line["replan_bound"],
        line["stopped"],
    )
    run.close()
    by_line, by_python = tables(tmp_path / "line"), tables(tmp_path / "python")
    assert set(by_line) == set(by_python) and "counts" in by_line and "knowledge" in by_line
    for name in by_line:
        assert by_line[name] == by_python[name], name


def test_either_goes_on_where_the_other_stopped(tool, tmp_path):
    problem = "builtin:inventory?capacity=6"
    run = alidade.Run.create(tmp_path / "mixed", problem, seed=2)
    run.explore(episodes=1_000)
    run.close()
    command = [tool, "explore", problem, "--seed=2", "--json", "-o"]
    subprocess.run([*command, tmp_path / "mixed", "--episodes=3000"], capture_output=True, check=True)
    with alidade.Run.open(tmp_path / "mixed") as run:
        mixed = run.explore(episodes=5_000)
    other = alidade.Run.create(tmp_path / "python", problem, seed=2)
    for episodes in (1_000, 3_000, 5_000):
        whole = other.explore(episodes=episodes)
    assert mixed.counts == whole.counts
    assert mixed.certificate.candidates == whole.certificate.candidates


def test_python_and_cpp():
    """The example of the README, in both languages, says the same."""
    example = ROOT / "build/dev/examples/example_02_explore_and_certify"
    if not example.exists():
        pytest.fail(f"{example}: build it")
    by_cpp = subprocess.run([example], capture_output=True, check=True, text=True).stdout
    problem = alidade.make_builtin("builtin:inventory")
    exploration = alidade.Exploration(problem, algorithm="likelihood", delta=0.1)
    exploration.run(alidade.SimulatedSystem(problem.true_model(), seed=1), episodes=100_000)
    knowledge = exploration.knowledge
    by_python = f"any reward: loss at most {knowledge.certificate.bound:.4f}\n"
    for name, reward in problem.rewards.items():
        plan = knowledge.plan(reward)
        low, high = plan.value
        by_python += f"{name}: value in [{low:.4f}, {high:.4f}], loss at most {plan.loss_bound:.4f}\n"
    assert by_python == by_cpp


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_do_not_matter(threads, tmp_path):
    run = alidade.Run.create(tmp_path / "run", "builtin:inventory?capacity=6", seed=3)
    explored = run.explore(episodes=2_000, threads=threads)
    alone = alidade.Exploration("builtin:inventory?capacity=6", seed=3, threads=1)
    alone.run(episodes=2_000)
    assert alone.counts == explored.counts
    assert alone.knowledge.certificate.candidates == explored.certificate.candidates
