"""Ctrl-C: it is seen within 0.2 s, whatever is going on, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest

import alidade

# Says when it begins and, to the millisecond, when the interruption arrived.
SCRIPT = """
    import signal, sys, time, alidade
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who is started in the background has it ignored
    {setup}
    began = []
    def observe(progress):
        if not began:
            began.append(1)
            print("ready", flush=True)
    try:
        {work}
        print("not interrupted", flush=True)
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
    {after}
    print("over", flush=True)
"""


def interrupt(setup: str, work: str, after: str = "pass", wait: float = 0.3) -> tuple[float, list[str]]:
    """Seconds until the script has seen Ctrl-C, and what it said afterwards."""
    script = textwrap.dedent(SCRIPT).format(
        setup=textwrap.dedent(setup), work=textwrap.indent(textwrap.dedent(work), " " * 4).strip(), after=textwrap.dedent(after)
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    try:
        assert child.stdout.readline().strip() == "ready"
        time.sleep(wait)
        at = time.time()
        child.send_signal(signal.SIGINT)
        said, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, errors
    lines = said.split("\n")
    assert lines[0].startswith("interrupted "), said + errors
    return float(lines[0].split()[1]) - at, lines[1:]


# A policy takes a second or so to compute here: nothing but a thread of its own can be left in the middle of it.
SLOW = "builtin:garnet?states=800&actions=4&features=5&horizon=40&successors=10"


def test_in_the_middle_of_planning(tmp_path):
    folder = tmp_path / "run"
    seconds, said = interrupt(
        f"run = alidade.Run.create({str(folder)!r}, {SLOW!r}, seed=1)",
        "run.explore(episodes=10**9, observe=observe, threads=1)",
        "print(run.counts.episodes)",
    )
    assert seconds < 0.2
    stored = int(said[0])
    assert stored > 0
    with alidade.Run.open(folder) as run:
        assert run.counts.episodes == stored


def test_between_batches(tmp_path):
    folder = tmp_path / "run"
    problem = "builtin:riverswim?length=5&horizon=8"
    seconds, said = interrupt(
        f"run = alidade.Run.create({str(folder)!r}, {problem!r}, replan='every', seed=1)",
        "run.explore(episodes=10**7, observe=observe)",
        "print(run.counts.episodes)",
    )
    assert seconds < 0.2
    stored = int(said[0])
    with alidade.Run.open(folder) as run:
        rest = run.explore(episodes=stored + 50)
    whole = alidade.Run.create(tmp_path / "whole", problem, replan="every", seed=1)
    whole.explore(episodes=stored)
    assert rest.counts == whole.explore(episodes=stored + 50).counts


def test_within_a_system(tmp_path):
    folder = tmp_path / "run"
    seconds, said = interrupt(
        f"""
        run = alidade.Run.create({str(folder)!r}, "builtin:riverswim?length=5&horizon=8", seed=1)
        class Plant:
            def reset(self, seed):
                if not began:
                    observe(None)
                return 0
            def step(self, action):
                time.sleep(0.01)
                return 0
        """,
        "run.explore(Plant(), episodes=10**6)",
        "print(run.result is None or run.result.episodes >= 0, len(alidade.AskTell(run).episodes()))",
    )
    assert seconds < 0.2
    assert int(said[0].split()[1]) >= 1


@pytest.mark.parametrize("work", ["alidade.audit.audit(knowledge, problem, climb_steps=10**7)"])
def test_other_long_work(work):
    seconds, _ = interrupt(
        """
        problem = alidade.make_builtin("builtin:inventory")
        exploration = alidade.Exploration(problem)
        exploration.run(episodes=1000)
        knowledge = exploration.knowledge
        """,
        f"observe(None); {work}",
        "import os; os._exit(print('over', flush=True) or 0)",  # the audit would go on for long
    )
    assert seconds < 0.2
