"""Systems in Python: exploring them, what they raise, and that nothing is lost."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import alidade
from conftest import Sampled


def test_a_stepped_system_is_learned(problem, sampled, tmp_path):
    run = alidade.Run.create(tmp_path / "run", problem, seed=4)
    explored = run.explore(sampled, episodes=4000)
    assert explored.stopped == "budget" and run.keeps_episodes
    assert explored.counts.episodes == 4000
    assert explored.knowledge.learned.contains(problem.true_model())
    assert np.allclose(explored.knowledge.weights[0], [0.3, 0.7], atol=0.3)
    stored = alidade.AskTell(run).episodes()
    assert len(stored) == 4000
    assert alidade.AskTell(run).replay().differences == []


def test_the_same_seed_gives_the_same_run(problem, tmp_path):
    tables = []
    for name in ("one", "two"):
        run = alidade.Run.create(tmp_path / name, problem, seed=4)
        explored = run.explore(Sampled(problem.true_model()), episodes=500)
        tables.append((explored.counts, explored.knowledge.certificate.candidates, explored.trace["bound"].tolist()))
    assert tables[0] == tables[1]


def test_in_memory_and_on_disk_agree(problem, tmp_path):
    run = alidade.Run.create(tmp_path / "run", problem, seed=9)
    on_disk = run.explore(Sampled(problem.true_model()), episodes=300)
    exploration = alidade.Exploration(problem, seed=9)
    exploration.run(Sampled(problem.true_model()), episodes=300)
    assert exploration.counts == on_disk.counts
    assert exploration.knowledge.certificate.candidates == on_disk.certificate.candidates


class Yielding:
    """Runs whole experiments, in arrays, two batches at a time."""

    seeded = True

    def __init__(self, model):
        self.model = model

    def run(self, policy, first, count):
        half = count // 2
        for begin, size in ((first, half), (first + half, count - half)):
            if size:
                seen = alidade.simulate(self.model, policy, size, seed=4, first=begin)
                yield np.array([e.states for e in seen]), np.array([e.actions for e in seen])


def test_a_system_that_runs_experiments(problem, tmp_path):
    run = alidade.Run.create(tmp_path / "run", problem, seed=4)
    explored = run.explore(Yielding(problem.true_model()), episodes=400)
    # The same episodes as the library plays by itself, step by step.
    other = alidade.Exploration(problem, seed=4)
    other.run(alidade.SimulatedSystem(problem.true_model(), "stepwise"), episodes=400)
    assert explored.counts == other.counts


class Broken(Exception):
    pass


class Breaks(Sampled):
    """Raises in the middle of an episode."""

    seeded = False

    def step(self, action):
        if self.calls == 100:
            raise Broken("the plant is on fire")
        return super().step(action)


def test_what_a_system_raises_arrives_and_nothing_is_lost(problem, tmp_path):
    run = alidade.Run.create(tmp_path / "run", problem, seed=1)
    system = Breaks(problem.true_model())
    with pytest.raises(Broken, match="on fire"):
        run.explore(system, episodes=1000)
    # 3 steps an episode: 33 whole episodes, and one that broke off after one step.
    stored = alidade.AskTell(run).episodes()
    assert len(stored) == 34
    assert [e.episode.complete for e in stored].count(False) == 1
    assert len(stored[-1].episode.states) == 2
    system.calls = 0
    system.step = lambda action: Sampled.step(system, action)
    explored = run.explore(system, episodes=200)
    assert explored.counts.episodes == 200 and alidade.AskTell(run).replay().differences == []


def test_truncation_and_termination(tmp_path):
    # State 2 is absorbing in both base models.
    first = np.array([[[0.5, 0.5, 0]] * 2, [[0, 0.5, 0.5]] * 2, [[0, 0, 1.0]] * 2])
    second = np.array([[[0.2, 0.8, 0]] * 2, [[0, 0.2, 0.8]] * 2, [[0, 0, 1.0]] * 2])
    problem = alidade.Problem([first, second], horizon=5, truth=[0.5, 0.5], homogeneous=True)

    class Ends(Sampled):
        def step(self, action):
            state = super().step(action)
            if state == 2:
                return state, "terminated"
            return state, "truncated" if self.step_now == 3 else None

    run = alidade.Run.create(tmp_path / "run", problem)
    run.explore(Ends(problem.true_model()), episodes=200)
    stored = alidade.AskTell(run).episodes()
    for record in stored:
        states = record.episode.states
        if 2 in states:
            assert len(states) == 5 and states[states.index(2) :] == [2] * (5 - states.index(2))
        else:
            assert len(states) == 4 and not record.episode.complete


@pytest.mark.parametrize(
    "answer, words",
    [(3, "state 3 for step 1"), (-1, "state -1"), ((0, "done"), "end 'done'"), ((0, None, 1), "tuple of 3")],
)
def test_wrong_answers(problem, tmp_path, answer, words):
    class Wrong(Sampled):
        def step(self, action):
            return answer

    with pytest.raises(alidade.InvalidArgument, match=words):
        alidade.Exploration(problem).run(Wrong(problem.true_model()), episodes=10)
    with pytest.raises(TypeError):
        Wrong.step = lambda self, action: "left"
        alidade.Exploration(problem).run(Wrong(problem.true_model()), episodes=10)


def test_impossible_transitions_say_where(tmp_path):
    kernel = np.array([[[1.0, 0, 0]], [[0, 1.0, 0]], [[0, 0, 1.0]]])
    other = np.array([[[0.5, 0.5, 0]], [[0, 1.0, 0]], [[0, 0, 1.0]]])
    problem = alidade.Problem([kernel, other], horizon=3)

    class Jumps:
        def reset(self, seed):
            return 0

        def step(self, action):
            return 2

    with pytest.raises(alidade.ModelContradiction):
        alidade.Exploration(problem).run(Jumps(), episodes=10)
    run = alidade.Run.create(tmp_path / "run", problem)
    with pytest.raises(alidade.ModelContradiction):
        run.explore(Jumps(), episodes=10)
    found = run.contradiction
    assert (found.kind, found.step, found.state, found.successor) == ("impossible-transition", 0, 0, 2)


def test_python_runs_on_the_calling_thread(problem):
    threads = set()

    class Noting(Sampled):
        def reset(self, seed):
            threads.add(threading.get_ident())
            return super().reset(seed)

    exploration = alidade.Exploration(problem)
    exploration.run(Noting(problem.true_model()), episodes=50, observe=lambda _: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


def test_the_interpreter_is_free_meanwhile(tmp_path):
    """Another thread goes on while the library computes."""
    problem = alidade.make_builtin("builtin:garnet?states=300&actions=4&features=5&horizon=20&successors=8")
    ticks = []
    over = threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    other = threading.Thread(target=tick)
    other.start()
    began = time.monotonic()
    alidade.Exploration(problem, threads=1).run(episodes=20_000)
    took = time.monotonic() - began
    over.set()
    other.join()
    waits = np.diff([t for t in ticks if began <= t <= began + took])
    assert took > 0.1 and waits.max() < 0.1 and len(waits) > took / 0.05


def test_a_fast_system_is_stepped_fast():
    """At least 200,000 steps a second, of a system that does next to nothing."""

    class Trivial:
        seeded = True

        def reset(self, seed):
            return 0

        def step(self, action):
            return action

    kernel = np.full((2, 2, 2), 0.5)
    other = np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2)
    problem = alidade.Problem([kernel, other], horizon=51)
    exploration = alidade.Exploration(problem, algorithm="uniform", threads=1)
    began = time.perf_counter()
    exploration.run(Trivial(), episodes=4_000, despite_contradiction=True)
    assert 4_000 * 50 / (time.perf_counter() - began) > 2e5
