"""Fleets on Dask, as on a cluster: workers and the scheduler are killed, and the run is that of one process.

Only where ALIDADE_TEST_EFFORT is long, and Dask is there: a cluster takes seconds to start.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

distributed = pytest.importorskip("distributed")
if os.environ.get("ALIDADE_TEST_EFFORT") != "long":
    pytest.skip("long", allow_module_level=True)

from alidade import fleet  # noqa: E402
from fleet_systems import Maker  # noqa: E402
from test_fleet import KILLS, RIVER, create, one_process, stored  # noqa: E402, F401

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


class Cluster:
    """A scheduler and four workers, each a process of its own, with nannies that start workers again."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        time.sleep(1)
        self.workers = self._start("worker", address, "--nworkers", "4", "--nthreads", "1", "--no-dashboard")
        self.client = distributed.Client(address, timeout="60s")
        self.client.wait_for_workers(4, timeout=120)

    @staticmethod
    def _start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def worker_processes(self) -> list[int]:
        return [int(each) for each in self.client.run(os.getpid).values()]

    def close(self) -> None:
        for process in (self.workers, self.scheduler):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


@pytest.fixture
def cluster():
    made = Cluster()
    yield made
    made.close()


def test_workers_that_are_killed(cluster, tmp_path, one_process):  # noqa: F811
    episodes, killed, stop = 6000, [], threading.Event()

    def kill():
        chance = random.Random(7)
        while len(killed) < KILLS and not stop.wait(chance.uniform(0.2, 1.0)):
            try:
                victim = chance.choice(cluster.worker_processes())
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            except Exception:  # it was about to die already
                continue

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with create(tmp_path / "fleet") as run:
            report = fleet.explore(run, Maker(RIVER, pause=0.02), cluster.client.get_executor(), workers=4, episodes=episodes)
    finally:
        stop.set()
        killer.join()
    print(f"{len(killed)} workers of Dask killed, {report.lost} orders came back lost, {report.repeated} answers twice, {report.seconds:.0f} s")
    assert len(killed) >= 20
    assert stored(tmp_path / "fleet") == one_process(episodes)


def test_a_scheduler_that_is_killed(tmp_path, one_process):  # noqa: F811
    """Everything that was out is lost with it; another cluster goes on."""
    first = Cluster()
    breaker = threading.Timer(3, lambda: os.kill(first.scheduler.pid, signal.SIGKILL))
    with create(tmp_path / "fleet") as run:
        breaker.start()
        with pytest.raises(fleet.FleetFailed):
            fleet.explore(run, Maker(RIVER, pause=0.02), first.client.get_executor(), workers=4, episodes=3000)
        first.close()
        second = Cluster()
        try:
            report = fleet.explore(run, Maker(RIVER), second.client.get_executor(), workers=4, episodes=3000)
        finally:
            second.close()
    assert report.ended == "budget"
    assert stored(tmp_path / "fleet") == one_process(3000)


def test_without_seeds_what_is_lost_is_counted_as_missing(cluster, tmp_path):
    import alidade

    with create(tmp_path / "fleet") as run:
        fleet.explore(run, Maker(RIVER, seeded=False), cluster.client.get_executor(), workers=4, episodes=400, seeded=False)
        status = alidade.AskTell(run).status
        assert status.told + status.missing >= 400 and alidade.AskTell(run).replay().differences == []
