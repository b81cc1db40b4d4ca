"""Certificates on their way into MLflow, TensorBoard or Weights & Biases: one callback, a line for each.

``run.explore(observe=track(log))`` calls ``log(metrics, step)`` while it explores, ``replay(run, log)`` afterwards.

* MLflow: ``track(lambda metrics, step: mlflow.log_metrics(metrics, step=step))``
* TensorBoard: ``track(lambda metrics, step: [writer.add_scalar(name, value, step) for name, value in metrics.items()])``
* Weights & Biases: ``track(lambda metrics, step: wandb.log(metrics, step=step))``
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alidade.run import Run

Log = Callable[[Mapping[str, float], int], object]
"""Takes metrics by name, and the number of episodes that they rest on."""


def track(log: Log, *, seconds: float = 1.0, prefix: str = "alidade/") -> Callable[[Any], None]:
    """A callback for ``explore(observe=...)``: at most every so many seconds it hands the certificate over.

    >>> import alidade, tempfile
    >>> from alidade.tracking import track
    >>> seen = []
    >>> run = alidade.Run.create(tempfile.mkdtemp(), "builtin:riverswim?length=4&horizon=6")
    >>> _ = run.explore(episodes=1000, observe=track(lambda metrics, step: seen.append(step), seconds=0))
    >>> seen[-1]
    1000
    """
    last = -float("inf")

    def observe(progress: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < seconds:
            return
        last = now
        metrics = {prefix + "replans": float(progress.replans)}
        if progress.certificate is not None:
            metrics[prefix + "certificate"] = float(progress.certificate)
        log(metrics, int(progress.episodes))

    return observe


def replay(run: Run, log: Log, *, prefix: str = "alidade/") -> None:
    """Hands over every certificate that a run has computed on its way, as if it were watched."""
    trace, result = run.trace, run.result
    for episodes, bound, replans in zip(trace["episodes"], trace["bound"], trace["replans"]):
        log({prefix + "certificate": float(bound), prefix + "replans": float(replans)}, int(episodes))
    if result is not None and (len(trace["episodes"]) == 0 or result.episodes > trace["episodes"][-1]):
        log({prefix + "certificate": float(result.reward_free), prefix + "replans": float(result.replans)}, int(result.episodes))
