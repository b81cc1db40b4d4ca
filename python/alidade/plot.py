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

    from alidade.certify import Atlas, RewardCertificate

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


def _signed(atlas: Atlas, i: int) -> float:
    return -1.0 if atlas.objectives[i].minimised else 1.0


def _half_planes(atlas: Atlas, i: int, j: int) -> np.ndarray:
    """Of the values of two objectives, a, b, c with a x + b y <= c for every policy, in the units of the objectives."""
    rows = []
    for outer in atlas.outer:
        w = np.asarray(outer.weights)
        if w[i] + w[j] < 1 - 1e-9:  # another objective counts as well
            continue
        a, b, c = 0.0, 0.0, outer.optimal_upper
        for k, side in ((i, 0), (j, 1)):
            each = atlas.objectives[k]
            # In rewards v = (x - H offset) / scale, or H less that where it is minimised.
            slope = _signed(atlas, k) * w[k] / each.scale
            constant = w[k] * (atlas.horizon if each.minimised else 0) - slope * atlas.horizon * each.offset
            a, b, c = (a + slope, b, c - constant) if side == 0 else (a, b + slope, c - constant)
        rows.append((a, b, c))
    return np.array(rows)


def _clipped(polygon: np.ndarray, a: float, b: float, c: float) -> np.ndarray:
    """The part of a convex polygon with a x + b y <= c."""
    kept: list[Any] = []
    for p, q in zip(polygon, np.roll(polygon, -1, axis=0)):
        over_p, over_q = a * p[0] + b * p[1] - c, a * q[0] + b * q[1] - c
        if over_p <= 0:
            kept.append(p)
        if (over_p < 0 < over_q) or (over_q < 0 < over_p):
            kept.append(p + (q - p) * over_p / (over_p - over_q))
    return np.array(kept).reshape(-1, 2)


def _guaranteed(points: np.ndarray) -> np.ndarray:
    """The hull of points from which both values may also be smaller: its corners, from the left to the right."""
    hull: list[Any] = []
    for point in points[np.lexsort((-points[:, 1], -points[:, 0]))]:  # from the right; of equals the best
        if hull and point[1] <= hull[-1][1]:
            continue
        while len(hull) > 1:
            u, v = hull[-1] - hull[-2], point - hull[-2]
            if u[0] * v[1] - u[1] * v[0] > 0:
                break
            hull.pop()
        hull.append(point)
    return np.array(hull[::-1])


def front(atlas: Atlas, *, pair: tuple[str, str] | None = None, axes: Axes | None = None) -> Axes:
    """The values of two objectives: what the atlas guarantees, what nothing excludes, and every plan between.

    The better corner is the one to which the guaranteed region reaches. ``pair`` names the two; the first two if None.
    Of more than two objectives the others' weight is 0 where a line of what is excluded is drawn.
    """
    names = [each.name for each in atlas.objectives]
    i, j = (0, 1) if pair is None else (names.index(pair[0]), names.index(pair[1]))
    sign = np.array([_signed(atlas, i), _signed(atlas, j)])
    ends = np.array([[tuple(plan.values[names[i]]), tuple(plan.values[names[j]])] for plan in atlas.policies])
    lower = np.where(sign > 0, ends[:, :, 0], ends[:, :, 1])  # what is certain of each plan
    scale = np.array([atlas.objectives[k].scale for k in (i, j)])
    offset = np.array([atlas.objectives[k].offset for k in (i, j)])
    smallest, largest = atlas.horizon * offset, atlas.horizon * (offset + scale)
    open_ = np.array([(smallest[0], smallest[1]), (largest[0], smallest[1]), (largest[0], largest[1]), (smallest[0], largest[1])])
    for a, b, c in _half_planes(atlas, i, j):
        open_ = _clipped(open_, a, b, c)
    worst = np.where(sign > 0, smallest, largest)
    hull = _guaranteed(lower * sign) * sign
    sure = np.vstack([[worst[0], hull[0, 1]], hull, [hull[-1, 0], worst[1]], worst])
    axes = _axes(axes, 6.0, 5.0)
    axes.fill(*open_.T, color="0.9", label="not excluded")
    axes.fill(*sure.T, color=COLOURS[5], alpha=0.5, label="guaranteed, by drawing a plan at the start")
    for number, ((x0, x1), (y0, y1)) in enumerate(ends):
        axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color=COLOURS[0], linewidth=0.8, label="a plan's true values" if number == 0 else None)
    seen = np.vstack([ends[:, :, 0], ends[:, :, 1]])
    room = np.maximum(0.15 * (seen.max(axis=0) - seen.min(axis=0)), 1e-3 * scale * atlas.horizon)
    better = [f"{names[k]} ({'lower' if atlas.objectives[k].minimised else 'higher'} is better)" for k in (i, j)]
    axes.set(xlabel=better[0], ylabel=better[1])
    axes.set_xlim(seen[:, 0].min() - room[0], seen[:, 0].max() + room[0])
    axes.set_ylim(seen[:, 1].min() - room[1], seen[:, 1].max() + room[1])
    axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    return axes


def weight_map(atlas: Atlas, *, axes: Axes | None = None) -> Axes:
    """Which plan is for which weights, and what it may lose: over the weight of the first of two objectives, or over
    the triangle of three. Plans are numbered as in ``Atlas.policies``, from 0. Of more than three there is no such picture."""
    count = len(atlas.objectives)
    if count > 3:
        raise ValueError(f"the atlas is of {count} objectives; a map of the weights is of 2 or 3")
    axes = _axes(axes, 6.4, 4.0 if count == 2 else 5.0)
    return _interval_map(atlas, axes) if count == 2 else _triangle_map(atlas, axes)


def _interval_map(atlas: Atlas, axes: Axes) -> Axes:
    corners = atlas.corners
    for cell in atlas.cells:
        ends = sorted((corners[corner, 0], bound) for corner, bound in zip(cell.corners, cell.bounds))
        x, y = np.array(ends).T
        axes.fill_between(x, y, color=COLOURS[cell.policy % len(COLOURS)], alpha=0.6, linewidth=0)
        axes.plot(x, y, color="black", linewidth=0.8)
    spans: dict[int, list[float]] = {}
    for cell in atlas.cells:
        spans.setdefault(cell.policy, []).extend(corners[cell.corners, 0])
    for policy, places in spans.items():
        if max(places) - min(places) > 0.03:
            axes.annotate(str(policy), ((min(places) + max(places)) / 2, 0), xytext=(0, 3), textcoords="offset points", ha="center", fontsize="small")
    first, second = (each.name for each in atlas.objectives)
    axes.set(xlabel=f"weight of {first} (the rest is {second}'s)", ylabel="loss, at most", xlim=(0, 1))
    axes.set_ylim(0, max(1e-12, 1.1 * atlas.loss_bound))
    return axes


def _triangle_map(atlas: Atlas, axes: Axes) -> Axes:
    places = atlas.corners @ np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    worst = max(atlas.loss_bound, 1e-300)
    for cell in atlas.cells:
        # The colour says which plan, its depth what it may lose.
        axes.fill(*places[cell.corners].T, color=COLOURS[cell.policy % len(COLOURS)], alpha=0.25 + 0.65 * cell.loss_bound / worst, linewidth=0)
    for number, policy in enumerate(atlas.policies):
        if policy.share > 0.01:
            own = [places[cell.corners] for cell in atlas.cells if cell.policy == number]
            area = [abs(float(np.linalg.det(each[1:] - each[0]))) for each in own]
            middle = np.average([each.mean(axis=0) for each in own], axis=0, weights=area)
            axes.annotate(str(number), (middle[0], middle[1]), ha="center", va="center", fontsize="small")
    for name, place, side in zip([each.name for each in atlas.objectives], places[:3], ("top", "top", "bottom")):
        axes.annotate(name, (place[0], place[1]), xytext=(0, -4 if side == "top" else 4), textcoords="offset points", ha="center", va=side)
    axes.set_title(f"plan for each weighting; deeper: may lose more, {atlas.loss_bound:.3g} at most", fontsize="medium", y=-0.1)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.12)
    return axes


def atlas(source: Atlas) -> Figure:
    """One page: the front of every pair of objectives, and, of two or three objectives, the map of their weights."""
    names = [each.name for each in source.objectives]
    parts: list[Any] = []
    if len(names) <= 3:
        parts.append(lambda axes: weight_map(source, axes=axes))
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            parts.append(lambda axes, pair=(names[i], names[j]): front(source, pair=pair, axes=axes))
    rows = (len(parts) + 1) // 2
    figure = _figure(12, 5 * rows)
    for i, part in enumerate(parts):
        part(figure.add_subplot(rows, 2, i + 1))
    return figure
