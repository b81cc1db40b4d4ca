"""Plots: rendered, and what is in them is what the run says."""

from __future__ import annotations

import io

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import alidade  # noqa: E402
from alidade import plot  # noqa: E402

RIVER = "builtin:riverswim?variant=halves&length=5&horizon=6"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = alidade.Run.create(tmp_path_factory.mktemp("run"), RIVER, seed=1)
    run.explore(episodes=3000)
    return run


def rendered(axes) -> bytes:
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="png")
    assert picture.getvalue().startswith(b"\x89PNG")
    return picture.getvalue()


def test_the_certificate_falls_to_what_is_reported(run):
    axes = plot.certificate(run, target=0.5)
    best = next(line for line in axes.lines if line.get_label() == "best so far")
    heights = np.asarray(best.get_ydata())
    assert (np.diff(heights) <= 0).all()
    assert heights[-1] == pytest.approx(run.result.reward_free) and best.get_xdata()[-1] == 3000
    rendered(axes)


def test_weights_have_the_intervals_of_their_sets(run):
    axes = plot.weights(run, truth=run.problem.truth)
    sets = run.knowledge().learned.sets
    drawn = axes.containers[0]
    assert np.allclose(drawn.lines[0].get_ydata(), [each.weights[0] for each in sets])
    bars = np.array([segment[:, 1] for segment in drawn.lines[2][0].get_segments()])
    assert np.allclose(bars, [each.intervals()[0] for each in sets], atol=1e-12)
    rendered(axes)


def test_coverage_counts_visits(run):
    axes = plot.coverage(run)
    shown = np.ma.filled(axes.images[0].get_array(), 0)
    assert shown[0, 0] == 3000 and (shown.sum(axis=0) == 3000).all()
    rendered(axes)


def test_values_and_the_page(run):
    knowledge = run.knowledge()
    claims = {name: knowledge.plan(reward).certificate for name, reward in run.problem.rewards.items()}
    axes = plot.values(claims)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(claims)
    rendered(axes)
    page = run.plot(plans=claims, target=1.0)
    assert len(page.axes) == 5  # four pictures, and a scale of colours
    assert page._repr_png_().startswith(b"\x89PNG")


def test_explorations_in_memory_and_rows(run):
    exploration = alidade.Exploration(alidade.make_builtin(RIVER), seed=1)
    exploration.run(episodes=500)
    rendered(exploration.plot().axes[0])
    linear = alidade.Exploration(alidade.make_builtin("builtin:linear-random?states=4&actions=2&features=3&horizon=3"), seed=1)
    linear.run(episodes=200)
    with pytest.raises(ValueError, match="has no weights"):
        plot.weights(linear)
    assert len(plot.plot(linear).axes) == 3
