"""Pictures of what a run knows, with matplotlib (the extra ``alidade[plot]``).

Every function draws into ``axes`` (made if None) and returns them; :func:`plot` puts all of them on one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from alidade.certify import RewardCertificate

# Okabe and Ito's colours, which people with any kind of colour vision tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")


def _figure(width: float, height: float) -> Figure:
    """A figure that notebooks show by themselves, without pyplot and its list of open windows."""
    import io

    from matplotlib.figure import Figure

    class Page(Figure):
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=110)
            return picture.getvalue()

    return Page(figsize=(width, height), layout="constrained")


def _axes(axes: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    return _figure(width, height).add_subplot() if axes is None else axes


def _knowledge(source: Any) -> Any:
    """Of a run, an exploration, or knowledge itself."""
    found = getattr(source, "knowledge", source)
    return found() if callable(found) else found


def certificate(source: Any, *, target: float | None = None, axes: Axes | None = None) -> Axes:
    """The certificate against the episodes: each one that was computed, and the best so far, which is what counts."""
    axes = _axes(axes)
    trace = source.trace
    horizon = _knowledge(source).shape.horizon
    episodes = np.asarray(trace["episodes"], dtype=float)
    bound = np.minimum(np.asarray(trace["bound"], dtype=float), horizon)
    result = getattr(source, "result", None)
    if result is not None and (len(episodes) == 0 or result.episodes > episodes[-1]):  # that of the end
        episodes, bound = np.append(episodes, result.episodes), np.append(bound, result.reward_free)
    shown = episodes > 0
    axes.plot(episodes[shown], bound[shown], ".", color=COLOURS[5], markersize=4, label="computed")
    axes.step(episodes[shown], np.minimum.accumulate(bound)[shown], where="post", color=COLOURS[0], label="best so far")
    axes.axhline(horizon, color="0.6", linewidth=0.8, linestyle=":", label=f"vacuous ({horizon})")
    if target is not None:
        axes.axhline(target, color=COLOURS[1], linewidth=1, linestyle="--", label=f"target {target:g}")
    axes.set(xscale="log", yscale="log", xlabel="episodes", ylabel="loss of any reward's plan, at most")
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend(frameon=False, fontsize="small")
    return axes


def weights(source: Any, *, truth: Any = None, axes: Axes | None = None) -> Axes:
    """The learned weights of every step, each with the interval that its confidence set leaves it."""
    knowledge = _knowledge(source)
    learned = knowledge.learned
    if not hasattr(learned, "sets"):
        raise ValueError(f"{learned!r} has no weights; only mixtures have")
    features = len(learned.sets[0].weights)
    axes = _axes(axes)
    steps = np.arange(len(learned.sets))
    point = np.array([np.asarray(each.weights) for each in learned.sets])
    interval = np.array([[tuple(side) for side in each.intervals()] for each in learned.sets])
    names = _feature_names(source, features)
    for i in range(features):
        # The point handed over may lie at an end of its interval, and rounding past it.
        below = np.maximum(0, point[:, i] - interval[:, i, 0])
        above = np.maximum(0, interval[:, i, 1] - point[:, i])
        place = steps + 0.6 * ((i + 0.5) / features - 0.5)
        colour = COLOURS[i % len(COLOURS)]
        axes.errorbar(place, point[:, i], yerr=[below, above], fmt="o", color=colour, markersize=4, capsize=2, label=names[i])
        if truth is not None:
            true = np.broadcast_to(np.atleast_2d(np.asarray(truth)), (max(len(steps), len(np.atleast_2d(truth))), features))[: len(steps)]
            axes.plot(place, true[:, i], "x", color="black", markersize=5, label="truth" if i == features - 1 else None)
    axes.set(xlabel="all steps" if learned.homogeneous else "step", ylabel="weight", xticks=steps)
    axes.legend(frameon=False, fontsize="small", ncols=2)
    return axes


def _feature_names(source: Any, features: int) -> list[str]:
    problem = getattr(source, "problem", None)
    names = [] if problem is None or problem.is_linear else list(problem.features.names)
    return names if len(names) == features else [f"base model {i}" for i in range(features)]


def coverage(source: Any, *, axes: Axes | None = None) -> Axes:
    """How often each state was left at each step."""
    counts = source.counts
    states, _, horizon = counts.shape
    visits = np.zeros((states, max(1, horizon - 1)))
    seen = counts.seen()
    np.add.at(visits, (np.asarray(seen["state"]), np.asarray(seen["step"])), np.asarray(seen["count"]))
    axes = _axes(axes)
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import MaxNLocator

    most = max(2.0, float(visits.max()))
    image = axes.imshow(
        np.ma.masked_equal(visits, 0), aspect="auto", origin="lower", interpolation="nearest", norm=LogNorm(1, most), cmap="cividis"
    )
    axes.set_facecolor("0.92")
    axes.set(xlabel="step", ylabel="state")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.figure.colorbar(image, ax=axes, label="visits (grey: none)")
    return axes


def values(certificates: Mapping[str, RewardCertificate], *, axes: Axes | None = None) -> Axes:
    """The interval of every plan's true value, and up to where the best policy's may lie."""
    axes = _axes(axes, height=1.2 + 0.4 * len(certificates))
    for row, each in enumerate(certificates.values()):
        lower, upper = each.value
        best = max(upper, each.optimal_upper)
        axes.plot([lower, best], [row, row], color="0.75", linewidth=2, solid_capstyle="butt", label="best policy, at most" if row == 0 else None)
        axes.errorbar(
            (lower + upper) / 2,
            row,
            xerr=(upper - lower) / 2,
            fmt="none",
            color=COLOURS[0],
            elinewidth=5,
            capsize=6,
            capthick=2,
            label="true value of the plan" if row == 0 else None,
        )
        axes.annotate(f"loss ≤ {each.loss_bound:.3g}", (best, row), xytext=(5, 0), textcoords="offset points", va="center", fontsize="small")
    axes.set(yticks=range(len(certificates)), xlabel="value", ylim=(len(certificates) - 0.5, -0.5))
    axes.set_yticklabels(list(certificates))
    axes.margins(x=0.25)
    axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    return axes


def plot(source: Any, *, plans: Mapping[str, RewardCertificate] | None = None, target: float | None = None) -> Figure:
    """One page: certificate, weights, coverage, and the value intervals of ``plans``.

    ``source`` is a run or an exploration. The figure is not shown, only made: a notebook shows it, ``savefig`` stores it.

    >>> import alidade, tempfile
    >>> from alidade.plot import plot
    >>> run = alidade.Run.create(tempfile.mkdtemp(), "builtin:riverswim?length=4&horizon=6", seed=1)
    >>> _ = run.explore(episodes=1000)
    >>> len(plot(run).axes)  # of three pictures, one has a scale of colours
    4
    """
    knowledge = _knowledge(source)
    parts: list[Any] = [lambda axes: certificate(source, target=target, axes=axes)]
    if hasattr(knowledge.learned, "sets"):
        problem = getattr(source, "problem", None)
        truth = None if problem is None or not problem.truth_known else problem.truth
        parts.append(lambda axes: weights(source, truth=truth, axes=axes))
    parts.append(lambda axes: coverage(source, axes=axes))
    if plans:
        parts.append(lambda axes: values(plans, axes=axes))
    rows = (len(parts) + 1) // 2
    figure = _figure(12, 4.2 * rows)
    for i, part in enumerate(parts):
        part(figure.add_subplot(rows, 2, i + 1))
    return figure
