"""Fleets: whatever happens to workers, answers and the driver, the finished run is that of one process."""

from __future__ import annotations

import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import alidade
from alidade import fleet
from fleet_systems import FailingMaker, FickleMaker, Maker, SlowMaker

RIVER = "builtin:riverswim?variant=halves&length=4&horizon=6"
LONG = os.environ.get("ALIDADE_TEST_EFFORT") == "long"
KILLS = 100 if LONG else 3
HERE = pathlib.Path(__file__).parent


def create(folder, algorithm="", problem=RIVER, **options):
    options.setdefault("replan", "growth=0.5")  # fewer deployments, whose last answers are waited for
    return alidade.Run.create(folder, problem, seed=3, algorithm=algorithm, system="ask", **options)


def stored(folder):
    """Everything that the same run must have stored again: tables, and episodes without who told them when."""
    with sqlite3.connect(pathlib.Path(folder) / "run.sqlite") as database:
        have = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        wanted = have & {"run", "counts", "memory", "result", "knowledge", "certificate", "progress", "features"}
        tables = {name: sorted(map(repr, database.execute(f"SELECT * FROM {name}"))) for name in wanted}
    run = alidade.Run.open(folder, "read")
    episodes = sorted((e.number, tuple(e.episode.states), tuple(e.episode.actions)) for e in alidade.AskTell(run).episodes() if e.kind == "asked")
    return tables, episodes


@pytest.fixture
def one_process(tmp_path):
    """What one process stores, by algorithm and number of episodes."""

    def make(episodes, algorithm=""):
        folder = tmp_path / f"one {algorithm} {episodes}"
        if not folder.exists():
            with create(folder, algorithm) as run:
                run.explore(Maker(RIVER)(), episodes=episodes)
        return stored(folder)

    return make


def test_a_barrier_has_the_bytes_of_one_process(tmp_path, one_process):
    with fleet.process_pool(2) as pool:
        for algorithm, episodes in [("", 300), ("hoeffding", 150), ("uniform", 100)]:
            with create(tmp_path / f"fleet {algorithm}", algorithm) as run:
                report = fleet.explore(run, Maker(RIVER), pool, workers=2, episodes=episodes)
                assert report.ended == "budget" and report.episodes == episodes and report.repeated == 0
                assert alidade.AskTell(run).replay().differences == []
            assert stored(tmp_path / f"fleet {algorithm}") == one_process(episodes, algorithm)


def test_chunks_do_not_matter(tmp_path, one_process):
    with ThreadPoolExecutor(4) as pool:
        for chunk in (1, 7):
            with create(tmp_path / f"{chunk}") as run:
                fleet.explore(run, Maker(RIVER), pool, workers=4, episodes=150, chunk=chunk)
            assert stored(tmp_path / f"{chunk}") == one_process(150)


def test_workers_that_are_killed(tmp_path, one_process):
    """kill -9 breaks a whole pool: its work is run again by another."""
    made, stop, killed = [], threading.Event(), []

    def make():
        made.append(fleet.process_pool(2))
        return made[-1]

    def kill():
        chance = random.Random(5)
        while len(killed) < KILLS and not stop.wait(chance.uniform(0.2, 1.2)):
            # While there is work: whoever dies between two orders takes nothing along.
            while not made[-1]._pending_work_items and not stop.wait(0.001):
                pass
            workers = list((made[-1]._processes or {}).values())
            if workers:
                victim = chance.choice(workers)
                os.kill(victim.pid, signal.SIGKILL)
                killed.append(victim.pid)

    episodes = 6000 if LONG else 300
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with create(tmp_path / "fleet") as run:
            report = fleet.explore(run, Maker(RIVER, pause=0.01), make, workers=2, episodes=episodes)
    finally:
        stop.set()
        killer.join()
    assert killed and report.rebuilt >= 1 and report.lost >= 1
    print(f"{len(killed)} workers killed, {report.rebuilt} pools rebuilt, {report.lost} orders run again, {report.seconds:.0f} s")
    assert not LONG or len(killed) == KILLS
    assert stored(tmp_path / "fleet") == one_process(episodes)


@pytest.mark.skipif(not LONG, reason="long")
def test_workers_that_are_stopped_past_the_deadline(tmp_path, one_process):
    """What they had is given to others; when they go on, their answers are the second ones."""
    stop = threading.Event()
    with fleet.process_pool(3) as pool:

        def pause():
            chance = random.Random(8)
            while not stop.wait(0.5):
                workers = list(pool._processes.values())
                if workers:
                    victim = chance.choice(workers).pid
                    os.kill(victim, signal.SIGSTOP)
                    time.sleep(2.5)
                    os.kill(victim, signal.SIGCONT)

        pauser = threading.Thread(target=pause)
        pauser.start()
        try:
            with create(tmp_path / "fleet") as run:
                report = fleet.explore(run, Maker(RIVER, pause=0.02), pool, workers=3, episodes=800, deadline=1, chunk=4)
        finally:
            stop.set()
            pauser.join()
    print(f"{report.repeated} answers came twice, {report.unequal} of them unequal")
    assert report.repeated > 0 and report.unequal == 0
    assert stored(tmp_path / "fleet") == one_process(800)


class Mischief(Executor):
    """Answers late, out of order, and some so late that they are given out twice."""

    def __init__(self, seed, slow=0.2):
        self.chance, self.pool, self.slow = random.Random(seed), ThreadPoolExecutor(8), slow

    def submit(self, function, /, *arguments, **named):
        future: Future = Future()
        delay = self.chance.uniform(1.4, 1.8) if self.chance.random() < self.slow else self.chance.uniform(0, 0.05)

        def answer():
            try:
                result = function(*arguments, **named)
                time.sleep(delay)
                future.set_result(result)
            except BaseException as failure:  # it is the future's
                future.set_exception(failure)

        self.pool.submit(answer)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.pool.shutdown(wait=wait)


def test_answers_late_double_and_out_of_order(tmp_path, one_process):
    episodes, slow = (400, 0.1) if LONG else (60, 0.06)
    with create(tmp_path / "fleet") as run:
        report = fleet.explore(run, Maker(RIVER), lambda: Mischief(1, slow), workers=4, episodes=episodes, deadline=1, chunk=1)
        assert report.ended == "budget" and report.episodes == episodes and report.unequal == 0
        given = [each.asked for each in alidade.AskTell(run).log()]
        assert len(given) == episodes
    assert report.repeated > 0  # a second answer came, was compared, and changed nothing
    assert stored(tmp_path / "fleet") == one_process(episodes)


def test_unequal_answers_are_shown(tmp_path):
    with create(tmp_path / "fleet") as run, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        report = fleet.explore(run, FickleMaker(RIVER), lambda: Mischief(1, 0.15), workers=4, episodes=30, deadline=1, chunk=1)
        assert report.unequal >= 1 and report.episodes == 30
        assert any("not the same" in str(each.message) for each in said)
        assert alidade.AskTell(run).status.told == 30  # the first answers stay


DRIVER = """
import sys
sys.path.insert(0, {here!r})
import alidade
from alidade import fleet
from concurrent.futures import ThreadPoolExecutor
from fleet_systems import Maker
if __name__ == "__main__":
    with alidade.Run.open(sys.argv[1]) as run, ThreadPoolExecutor(2) as pool:
        fleet.explore(run, Maker({river!r}, pause={pause}), pool, workers=2, episodes={episodes})
"""


def test_drivers_that_are_killed(tmp_path, one_process):
    episodes = 4000 if LONG else 300
    create(tmp_path / "fleet").close()
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(here=str(HERE), river=RIVER, episodes=episodes, pause=0.05 if LONG else 0.002))
    chance, killed = random.Random(2), 0
    while killed < KILLS:
        driver = subprocess.Popen([sys.executable, str(script), str(tmp_path / "fleet")], stderr=subprocess.PIPE)
        try:
            driver.communicate(timeout=chance.uniform(0.3, 1.5))
        except subprocess.TimeoutExpired:
            driver.kill()
            driver.communicate()
            killed += 1
            continue
        break
    subprocess.run([sys.executable, str(script), str(tmp_path / "fleet")], check=True)
    print(f"{killed} drivers killed")
    assert killed == KILLS or alidade.Run.open(tmp_path / "fleet", "read").result is not None
    assert stored(tmp_path / "fleet") == one_process(episodes)


# Two states, one action: up with 0.2 or 0.8, and the truth is half of each.
COIN = alidade.Problem([np.array([[[0.8, 0.2]], [[0.8, 0.2]]]), np.array([[[0.2, 0.8]], [[0.2, 0.8]]])], horizon=2, truth=[0.5, 0.5])


def coin_share(run, first_wins):
    """How many of the told episodes went up, and of how many; of every chunk all attempts, or the one that was told first."""
    with sqlite3.connect(pathlib.Path(run.folder) / "run.sqlite") as database:
        told = list(database.execute("SELECT deployment, chunk, id FROM experiments JOIN parts ON id = experiment ORDER BY parts.rowid"))
    winners = {(deployment, chunk): number for deployment, chunk, number in reversed(told)}
    kept = [e.episode.states[1] for e in alidade.AskTell(run).episodes() if not first_wins or e.experiment in winners.values()]
    return sum(kept), len(kept)


def test_a_duration_that_depends_on_the_outcome_keeps_the_law(tmp_path):
    """Going up takes longer than the deadline. Every attempt counts, so half of them went up; quick ones alone did not."""
    COIN.save(tmp_path / "coin")
    uri = str(tmp_path / "coin")
    episodes = 500 if LONG else 130
    workers = 2 * episodes  # enough for second attempts while the slow ones sleep
    with create(tmp_path / "run", problem=COIN, replan="growth=10") as run, ThreadPoolExecutor(workers) as pool:
        report = fleet.explore(run, SlowFromFolder(uri), pool, workers=workers, episodes=episodes, seeded=False, deadline=1, chunk=1)
        status = alidade.AskTell(run).status
        assert status.missing == 0 and status.failed == 0  # every attempt was waited for
        up, count = coin_share(run, first_wins=False)
        assert count >= episodes and report.episodes == count
        assert abs(up - count / 2) <= 4 * np.sqrt(count) / 2
        up, count = coin_share(run, first_wins=True)
        assert up < count / 2 - 4 * np.sqrt(count) / 2, (up, count)  # first wins would have been wrong
        assert alidade.AskTell(run).replay().differences == []


class SlowFromFolder(SlowMaker):
    def __call__(self):
        from fleet_systems import Slow

        return Slow(self.uri, seeded=False, problem=alidade.load_problem(self.uri))


def test_a_stream_goes_on_while_work_is_out(tmp_path):
    with create(tmp_path / "run") as run:
        report = fleet.explore(run, Maker(RIVER), lambda: Mischief(4, 0.03), workers=4, episodes=120, mode="stream", chunk=1)
        assert report.ended == "budget" and report.late > 0
        status = alidade.AskTell(run).status
        assert status.missing == 0 and status.taken == status.told == report.episodes
        assert alidade.AskTell(run).replay().differences == []  # the order of arrival is in the ledger
    with create(tmp_path / "other", "hoeffding") as run:
        with pytest.raises(ValueError, match="mode='stream' would count quick answers"):
            fleet.explore(run, Maker(RIVER), mode="stream", episodes=10)
        with pytest.raises(ValueError, match="deadline for a system without seeds would count quick"):
            fleet.explore(run, Maker(RIVER), seeded=False, deadline=5, episodes=10)
        with pytest.raises(ValueError, match="mode is 'river'"):
            fleet.explore(run, Maker(RIVER), mode="river")


def test_a_system_that_fails(tmp_path):
    """With seeds it is tried once more, then the run stops with the experiment's name. Without, what was seen counts."""
    with create(tmp_path / "seeded") as run, ThreadPoolExecutor(1) as pool:
        with pytest.raises(fleet.FleetFailed, match=r"experiment \d+ \(episodes .*valve is stuck") as failure:
            fleet.explore(run, FailingMaker(RIVER), pool, workers=1, episodes=2000, chunk=40)
        assert isinstance(failure.value.__cause__, OSError)
        told = alidade.AskTell(run).status.told
        report = fleet.explore(run, Maker(RIVER), pool, workers=1, episodes=300)
        assert report.ended == "budget" and alidade.AskTell(run).status.told == 300 >= told
    with create(tmp_path / "plant") as run, ThreadPoolExecutor(1) as pool:
        with pytest.raises(fleet.FleetFailed, match="valve is stuck"):
            fleet.explore(run, FailingMaker(RIVER, seeded=False), pool, workers=1, episodes=2000, seeded=False, chunk=40)
        status = alidade.AskTell(run).status
        assert status.failed >= 1 and status.told >= 20 and status.missing >= 1


def test_a_broken_executor_of_ones_own(tmp_path, one_process):
    """It cannot be replaced here: the call says so, and the next one goes on."""
    with create(tmp_path / "fleet") as run:
        pool = fleet.process_pool(1)
        breaker = threading.Timer(2.5, lambda: [os.kill(p.pid, signal.SIGKILL) for p in list(pool._processes.values())])
        breaker.start()
        with pytest.raises(fleet.FleetFailed, match="the executor broke"):
            fleet.explore(run, Maker(RIVER, pause=0.05), pool, workers=1, episodes=150)
        with ThreadPoolExecutor(2) as other:
            fleet.explore(run, Maker(RIVER), other, workers=2, episodes=150)
    assert stored(tmp_path / "fleet") == one_process(150)
    with pytest.raises(TypeError, match="executor is a int"):
        fleet.explore(create(tmp_path / "none"), Maker(RIVER), 3)


def test_gymnasium_on_workers(tmp_path):
    """A factory of a Gymnasium environment: it finds the problem in the run's folder."""
    pytest.importorskip("gymnasium")
    from alidade.gym import gym_system, problem_from_gym

    problem = problem_from_gym(["FrozenLake-v1"], horizon=8)
    with create(tmp_path / "one", problem=problem) as run:
        run.explore(gym_system("FrozenLake-v1", problem), episodes=120)

    def make():
        return gym_system("FrozenLake-v1", alidade.Run.open(tmp_path / "fleet", "read").problem)

    with create(tmp_path / "fleet", problem=problem) as run, fleet.process_pool(2) as pool:
        pytest.importorskip("cloudpickle")  # since it is defined on the spot
        fleet.explore(run, make, pool, workers=2, episodes=120)
    assert stored(tmp_path / "fleet") == stored(tmp_path / "one")


class Cancelling(ThreadPoolExecutor):
    """Drops everything after some answers, as Dask does when its scheduler dies."""

    def __init__(self, answers):
        super().__init__(2)
        self.left = answers

    def submit(self, function, /, *arguments, **named):
        self.left -= 1
        if self.left >= 0:
            return super().submit(function, *arguments, **named)
        dropped: Future = Future()
        dropped.cancel()  # and nobody is notified
        return dropped


def test_an_engine_that_cancels_everything(tmp_path, one_process):
    made = []

    def make():
        made.append(Cancelling(10))
        return made[-1]

    with create(tmp_path / "fleet") as run:
        report = fleet.explore(run, Maker(RIVER), make, workers=2, episodes=150, chunk=5)
    assert report.rebuilt == len(made) - 1 >= 2
    assert stored(tmp_path / "fleet") == one_process(150)
    with create(tmp_path / "other") as run, Cancelling(3) as engine, pytest.raises(fleet.FleetFailed, match="call again with another"):
        fleet.explore(run, Maker(RIVER), engine, workers=2, episodes=150)


def test_commands_on_workers(tmp_path):
    river = pathlib.Path(__file__).parents[2] / "examples" / "systems" / "river.py"
    problem = alidade.make_builtin("builtin:riverswim?variant=halves")
    command = f"{sys.executable} {river}"
    with create(tmp_path / "one", problem=problem) as run:
        run.explore(alidade.CommandSystem(problem, command, seed=3), episodes=200)
    with create(tmp_path / "fleet", problem=problem) as run, ThreadPoolExecutor(2) as pool:
        fleet.explore(run, "cmd:" + command, pool, workers=2, episodes=200)
    assert stored(tmp_path / "fleet") == stored(tmp_path / "one")


def test_rewards_on_an_executor(tmp_path):
    with alidade.Run.create(tmp_path / "run", RIVER, seed=1) as run:
        run.explore(episodes=5000)
        states, actions, horizon = run.problem.shape
        rewards = np.random.default_rng(0).random((23, horizon, states, actions))
        knowledge = run.knowledge()
        with ThreadPoolExecutor(2) as pool:
            rows = list(fleet.plan_rewards(run, rewards, pool, batch=5, policies=True))
        assert len(rows) == 23
        for reward, row in zip(rewards, rows):
            plan = knowledge.plan(reward)
            assert row.loss_bound == plan.certificate.loss_bound and row.value_lower == plan.certificate.value.lower
            assert (row.policy == plan.policy.actions).all()
