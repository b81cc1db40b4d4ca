"""The driver of a fleet: it alone writes the run, through its ledger; workers only run experiments."""

from __future__ import annotations

import itertools
import math
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from concurrent.futures import FIRST_COMPLETED as first_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from alidade.fleet.pool import ExecutorSource, executors_of
from alidade.fleet.worker import Answer, Order, pack, run_order
from alidade.run import AskTell

if TYPE_CHECKING:
    from alidade.run import Experiment, Run

FOREVER = 10 * 365 * 86_400
"""A lease that does not run out, in seconds."""


class FleetFailed(RuntimeError):
    """The fleet cannot go on. What was told is stored: the same call goes on from there."""


@dataclass
class FleetReport:
    """What a fleet did in one call of :func:`explore`."""

    ended: str = ""
    """"target" or "budget"; empty if it was stopped."""
    experiments: int = 0
    """Answers that were told and counted."""
    episodes: int = 0
    repeated: int = 0
    """Answers that came twice and were equal: nothing happened."""
    unequal: int = 0
    """Answers that came twice and were not equal, though the system claims to have seeds. The first one stays."""
    lost: int = 0
    """Orders that died with their worker."""
    late: int = 0
    """Answers that came after their deployment was over."""
    rebuilt: int = 0
    """Executors that were made anew because one broke."""
    seconds: float = 0.0
    workers: set[str] = field(default_factory=set)


@dataclass
class _Pending:
    experiment: Experiment
    tries: int = 1
    generation: int = 0
    """Of the executor that it was submitted to."""


class _Driver:
    def __init__(self, run: Run, packed: bytes, executors: Any, options: dict[str, Any]):
        self.desk, self.packed, self.executors = AskTell(run), packed, executors
        self.seed: int = run.options["seed"]
        self.seeded: bool = options["seeded"]
        self.stream: bool = options["mode"] == "stream"
        self.share: float = options["share"]
        self.lease = FOREVER if options["deadline"] is None else max(1, math.ceil(options["deadline"]))
        self.chunk: int | None = options["chunk"]
        self.chunk_seconds: float = options["chunk_seconds"]
        self.capacity: int = options["capacity"]
        self.name: str = options["name"]
        self.observe: Callable[[FleetReport], None] | None = options["observe"]
        self.report = FleetReport()
        self.out: dict[Future[Answer], _Pending] = {}
        self.abandoned: set[int] = set()
        self.told: set[int] = set()
        self.rebuilt_since = 0
        self.tickets = itertools.count()
        self.seconds_of_episode: float | None = None
        self.failures = 0

    # --- giving out ------------------------------------------------------------------------------

    def _chunk(self) -> int:
        """Episodes of one experiment: what takes chunk_seconds, but enough of them for all workers."""
        if self.chunk is not None:
            return self.chunk
        if self.seconds_of_episode is None:
            return 0
        by_time = max(1, round(self.chunk_seconds / max(self.seconds_of_episode, 1e-9)))
        fair = max(1, math.ceil(1.1 * self.desk.status.deployment_episodes / self.capacity))
        return min(by_time, fair)

    def give_out(self, again: bool) -> str:
        """Asks for as many experiments as there is room for, and submits them; returns why none is left, if so."""
        room = self.capacity - len(self.out)
        asked = self.desk.ask(max(0, room), chunk=self._chunk(), lease=self.lease, worker=self.name, own_again=again)
        for experiment in asked.experiments:
            self._submit(_Pending(experiment))
        return str(asked.ended)

    def _submit(self, pending: _Pending) -> None:
        experiment = pending.experiment
        policy = experiment.policy
        order = Order(
            experiment=experiment.id,
            first_episode=experiment.first_episode + experiment.told,
            episodes=experiment.episodes - experiment.told,
            seed=self.seed,
            policy=np.array(policy.probabilities if policy.actions is None else policy.actions),
            shape=tuple(policy.shape),  # type: ignore[arg-type]
            system=self.packed,
            ticket=next(self.tickets),
        )
        try:
            future = self.executors.current.submit(run_order, order)
        except (BrokenExecutor, RuntimeError) as failure:
            self._rebuild(failure)
            future = self.executors.current.submit(run_order, order)
        pending.generation = self.executors.generation
        self.out[future] = pending

    def _rebuild(self, failure: BaseException) -> None:
        """A new executor for one that broke; what was out comes back as failed futures of the old one."""
        if not self.executors.rebuild():
            raise FleetFailed(
                f"the executor broke ({type(failure).__name__}: {failure}), and it was not made here; call again with another one. "
                "Pass a function that makes executors to have that done for you"
            ) from failure
        self.report.rebuilt += 1
        self.rebuilt_since += 1
        if self.rebuilt_since > 30:
            raise FleetFailed(f"the executor broke {self.rebuilt_since} times without a single answer between: {failure}") from failure

    # --- taking in -------------------------------------------------------------------------------

    def take_in(self, done: Future[Answer]) -> None:
        pending = self.out.pop(done)
        try:
            answer = done.result()
        except Exception as failure:  # the worker died, or the engine gave up: nothing was seen of it
            self._lost(pending, failure)
            return
        self.report.workers.add(answer.worker)
        seen = len(answer.episodes[2])
        if seen:
            each = answer.seconds / seen
            self.seconds_of_episode = each if self.seconds_of_episode is None else 0.7 * self.seconds_of_episode + 0.3 * each
        if answer.error:
            self._failed(pending, answer)
        else:
            self.failures = 0
            self._tell(pending, answer)

    def _tell(self, pending: _Pending, answer: Answer, failed: str = "") -> None:
        experiment = pending.experiment
        late = experiment.id in self.abandoned
        try:
            told = self.desk.tell(
                experiment.id, answer.episodes, part=experiment.parts, failed=failed, worker=answer.worker, source=self.name
            )
        except ValueError as failure:
            if "not the same" not in str(failure):
                raise
            self.report.unequal += 1
            warnings.warn(f"{failure}. The system says that it has seeds; it, or a worker, is broken", stacklevel=4)
            return
        self.told.add(experiment.id)
        self.rebuilt_since = 0
        if told.repeated:
            self.report.repeated += 1
            return
        self.report.late += late
        self.report.experiments += 1
        self.report.episodes += told.episodes

    def _lost(self, pending: _Pending, failure: BaseException) -> None:
        self.report.lost += 1
        if not self.seeded:
            # It was run, and nobody will know what it showed. Nothing may be put in its place as if it had not been.
            self.desk.tell(pending.experiment.id, [], failed=f"lost: {type(failure).__name__}: {failure}", worker=self.name)
        # A pool breaks as a whole when a worker dies; Dask cancels everything when its scheduler does.
        if isinstance(failure, (BrokenExecutor, CancelledError)):
            if pending.generation == self.executors.generation:
                self._rebuild(failure)
        else:
            pending.tries += 1
            if pending.tries > 10:
                raise FleetFailed(f"experiment {pending.experiment.id} was lost ten times: {failure}") from failure
        if self.seeded:
            self._submit(pending)

    def _failed(self, pending: _Pending, answer: Answer) -> None:
        """The system raised. With seeds: once more, then it stops the run. Without: what was seen counts."""
        experiment = pending.experiment
        if self.seeded and pending.tries < 2:
            pending.tries += 1
            self._submit(pending)
            return
        if not self.seeded:
            self._tell(pending, answer, failed=answer.error)
            self.failures += 1
            if self.failures < 6:
                return
        where = f"experiment {experiment.id} (episodes {experiment.first_episode} to {experiment.first_episode + experiment.episodes - 1})"
        raise FleetFailed(f"the system failed in {where} on {answer.worker}: {answer.error}") from answer.cause

    # --- the loop --------------------------------------------------------------------------------

    def go_on_without(self) -> None:
        """Streams: when most of a deployment is told, the rest is declared late, so that planning need not wait for it."""
        status = self.desk.status
        own = {p.experiment.id: p.experiment for p in self.out.values() if p.experiment.deployment == status.deployment}
        waiting = {e: each for e, each in own.items() if e not in self.abandoned}
        missing = sum(each.episodes - each.told for each in waiting.values())
        if not waiting or len(self.out) >= 2 * self.capacity or missing > (1 - self.share) * status.deployment_episodes:
            return
        for number in waiting:
            self.desk.tell(number, [], failed="late: the run went on without it", worker=self.name)
            self.abandoned.add(number)

    def _awaited(self) -> bool:
        """Whether something is out that counts: with seeds, a second answer to what is told does not."""
        return any(not self.seeded or pending.experiment.id not in self.told for pending in self.out.values())

    def loop(self) -> FleetReport:
        began = time.perf_counter()
        again = True
        while True:
            ended = self.give_out(again)
            again = False
            if ended and not self._awaited():
                self.report.ended = ended
                break
            if not self.out:
                time.sleep(0.05)  # somebody else has what is left
                continue
            wait(self.out, timeout=0.25, return_when=first_completed)
            done = [each for each in self.out if each.done()]  # wait() overlooks what somebody else has cancelled
            for each in done:
                self.take_in(each)
            if self.stream and not ended:
                self.go_on_without()
            if done and self.observe is not None:
                self.observe(self.report)
        self.report.seconds = time.perf_counter() - began
        return self.report


def explore(
    run: Run,
    system: Callable[[], Any] | str,
    executor: ExecutorSource = None,
    *,
    workers: int | None = None,
    episodes: int | None = None,
    target: float | None = None,
    seeded: bool = True,
    mode: str = "barrier",
    share: float = 0.9,
    chunk: int | None = None,
    chunk_seconds: float = 30.0,
    deadline: float | None = None,
    name: str = "fleet",
    observe: Callable[[FleetReport], None] | None = None,
) -> FleetReport:
    """Explores with a fleet of workers, which run the experiments of a run; this process alone writes it.

    ``system`` makes the system on a worker: a function without arguments (of a module, or anything if cloudpickle is there),
    or ``"cmd:COMMAND"``, which every worker starts as a child process. ``executor`` is any
    :class:`concurrent.futures.Executor` (a process pool, ``Client.get_executor()`` of Dask), a function that makes one, so that
    one that breaks can be replaced, or None for a pool of ``workers`` processes.

    ``seeded``: an episode is fixed by its number and the run's seed. Then work that died with its worker is run again, and an
    answer that comes twice is counted once and compared. Without seeds every attempt is an experiment of its own: all that
    arrive count, however late, and those that never do are counted as missing.

    ``mode="barrier"``: a deployment ends when all its experiments are told; the run has the bytes of one process.
    ``mode="stream"``: from a ``share`` of a deployment on the run goes on without the rest, which counts when it comes; for likelihood
    sets only, since others would have to set it aside, which prefers quick episodes.

    ``chunk``: episodes of one experiment; by default what takes ``chunk_seconds``. ``deadline``: seconds after which work is given out a
    second time; None: never, except where its worker is known to have died.

    Killed anywhere, the same call goes on. Raises :class:`FleetFailed` when it cannot; nothing that was told is lost.
    """
    if mode not in ("barrier", "stream"):
        raise ValueError(f"mode is {mode!r}; must be 'barrier' or 'stream'")
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}; must be above 0 and at most 1")
    refusal = AskTell(run).late_refusal if mode == "stream" or (deadline is not None and not seeded) else ""
    if refusal:
        what = "mode='stream'" if mode == "stream" else "a deadline for a system without seeds"
        raise ValueError(f"{what} would count quick answers and set late ones aside: {refusal}")
    if episodes is None:
        AskTell(run).prepare(target=target, seeded=seeded)
    else:
        AskTell(run).prepare(episodes, target, seeded)
    make = _CommandMaker(run.folder, system[4:], run.options["seed"]) if isinstance(system, str) else system
    count = workers or os.cpu_count() or 1
    with executors_of(executor, count) as executors:
        options = {
            "seeded": seeded,
            "mode": mode,
            "share": share,
            "deadline": deadline,
            "chunk": chunk,
            "chunk_seconds": chunk_seconds,
            # Some wait in line, so that no worker does; but with a deadline, time in line would count as work.
            "capacity": 2 * count if deadline is None else count,
            "name": name,
            "observe": observe,
        }
        return _Driver(run, pack(make), executors, options).loop()


@dataclass(frozen=True)
class _CommandMaker:
    """Makes the system of a command on a worker; its problem is that of the run."""

    folder: Any
    command: str
    seed: int

    def __call__(self) -> Any:
        from alidade.environment import CommandSystem
        from alidade.run import Run

        return CommandSystem(Run.open(self.folder, "read").problem, self.command, seed=self.seed)
