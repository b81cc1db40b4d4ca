"""Atlases: those of the command line, what they promise, and explorations that end with one."""

from __future__ import annotations

import itertools
import json
import subprocess

import numpy as np
import pytest

import alidade
from test_interrupts import interrupt

WAREHOUSE = "builtin:inventory?capacity=6"
NAMES = ["service-level", "balanced", "holding-cost"]


@pytest.fixture(scope="module")
def warehouse():
    return alidade.make_builtin(WAREHOUSE)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = alidade.Run.create(tmp_path_factory.mktemp("run"), WAREHOUSE, seed=1)
    run.explore(episodes=3_000)
    return run


@pytest.fixture(scope="module")
def knowledge(run):
    return run.knowledge()


@pytest.fixture(scope="module")
def atlas(run):
    return run.atlas(NAMES, minimise=["holding-cost"], loss=0.2)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".svg"}


def test_python_and_the_command_line(tool, run, atlas, tmp_path):
    """The same bytes, from the same run."""
    flags = ["--objective=service-level", "--objective=balanced", "--minimise=holding-cost", "--loss=0.2"]
    said = subprocess.run(
        [tool, "atlas", run.folder, *flags, "-o", tmp_path / "line", "--json", "--full"], capture_output=True, check=True, text=True
    )
    by_line, by_python = json.loads(said.stdout), json.loads(atlas.to_json())
    assert by_line | by_python == by_line  # and seconds, threads and what is known of the model
    atlas.save(tmp_path / "python")
    assert files(tmp_path / "python") == files(tmp_path / "line")
    assert (by_line["loss_bound"], by_line["floor"], by_line["limited_by"], by_line["reward_free"]) == (
        atlas.loss_bound,
        atlas.floor,
        atlas.limit,
        atlas.reward_free,
    )
    weights = {"service-level": 3, "holding-cost": 1.5}
    answer = subprocess.run(
        [tool, "atlas", "policy", tmp_path / "python", "--weights=service-level=3,holding-cost=1.5", "--json"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    told = json.loads(answer.stdout)
    assert (told["plan"] - 1, told["loss_beforehand"]) == (atlas.at(weights).index, atlas.at(weights).loss_bound)
    checked = subprocess.run([tool, "atlas", "check", tmp_path / "python", run.folder], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_read_again(atlas, knowledge, tmp_path):
    atlas.save(tmp_path / "atlas")
    again = alidade.io.read_atlas(tmp_path / "atlas")
    assert again.to_json() == atlas.to_json()
    assert [each.policy for each in again.policies] == [each.policy for each in atlas.policies]
    found = again.check(knowledge)
    assert found.follows and found.excess <= 1e-9 and found.episodes == found.atlas_episodes == 3_000
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("mine")
    with pytest.raises(ValueError, match="is no atlas"):
        atlas.save(tmp_path / "other")


def test_a_bound_that_was_lowered_does_not_follow(atlas, knowledge, tmp_path):
    atlas.save(tmp_path / "atlas")
    text = json.loads(atlas.to_json())
    cell = max(text["cells"], key=lambda each: max(each["bounds"]))
    cell["bounds"] = [bound / 2 for bound in cell["bounds"]]
    cell["loss_bound"] = max(cell["bounds"])
    text["policies"][cell["policy"]]["loss_bound"] = max(
        each["loss_bound"] for each in text["cells"] if each["policy"] == cell["policy"]
    )
    (tmp_path / "atlas/atlas.json").write_text(json.dumps(text))
    assert not alidade.io.read_atlas(tmp_path / "atlas").check(knowledge).follows


def test_what_it_promises_holds(atlas, knowledge, warehouse):
    """Losses on the truth, by plain planning and evaluation, at random weights."""
    truth, draws = warehouse.true_model(), np.random.default_rng(7)
    rewards = np.array([np.broadcast_to(each.reward.values, (truth.shape.horizon, *each.reward.values.shape[-2:])) for each in atlas.objectives])
    for weights in draws.dirichlet(np.ones(3), size=50):
        answer = atlas.at(weights)
        reward = np.clip(np.tensordot(weights, rewards, axes=1), 0, 1)
        loss = alidade.backward_induction(truth, reward).value - alidade.evaluate(truth, answer.policy, reward).value
        assert -1e-9 <= loss <= answer.loss_bound + 1e-9 <= atlas.loss_bound + 2e-9
        assert atlas.at(3 * weights).loss_bound == pytest.approx(3 * answer.loss_bound)
        assert answer.policy == atlas.policies[answer.index].policy
    found = alidade.audit.audit_atlas(atlas, knowledge, warehouse, weights=100)
    assert found.truth_in_confidence_set and found.violations == 0 and found.worst_loss <= atlas.loss_bound


def test_values_are_in_the_objectives_own_unit(atlas, warehouse):
    truth = warehouse.true_model()
    assert [each.minimised for each in atlas.objectives] == [False, False, True]
    for each in atlas.policies:
        assert list(each.values) == NAMES
        for name, interval in each.values.items():
            low, high = interval
            assert low - 1e-9 <= alidade.evaluate(truth, each.policy, warehouse.rewards[name]).value <= high + 1e-9
            assert low - 1e-9 <= each.model_values[name] <= high + 1e-9
    assert sum(each.share for each in atlas.policies) == pytest.approx(1)
    assert max(each.loss_bound for each in atlas.policies) <= atlas.loss_bound <= 0.2


def test_cells_and_corners(atlas):
    corners = atlas.corners
    assert corners.shape[1] == 3 and (corners[:3] == np.eye(3)).all() and np.allclose(corners.sum(axis=1), 1)
    volume = sum(abs(np.linalg.det(corners[cell.corners])) for cell in atlas.cells)
    assert volume == pytest.approx(1)
    # What looking weights up may be rounded by is in the bound of the whole.
    assert 0 <= atlas.loss_bound - max(cell.loss_bound for cell in atlas.cells) <= 1e-8 * atlas.horizon
    for outer in atlas.outer:  # no plan has more than any policy can have
        for plan in atlas.policies:
            sure = [low if not each.minimised else atlas.horizon - high for each, (low, high) in zip(atlas.objectives, plan.values.values())]
            assert np.dot(outer.weights, sure) <= outer.optimal_upper + 1e-9


def test_units_of_rescaled_objectives(knowledge, warehouse):
    """A reward of 0 stands for 10 and one of 1 for 30: values and losses scale with it."""
    rewards = warehouse.rewards
    plain = knowledge.atlas({"level": rewards["service-level"], "cost": rewards["holding-cost"]}, loss=0.3)
    scaled = knowledge.atlas({"level": (rewards["service-level"], 20.0, 10.0), "cost": rewards["holding-cost"]}, loss=0.3)
    horizon = warehouse.shape.horizon
    for one, other in zip(plain.policies, scaled.policies):
        assert np.allclose([10 * horizon + 20 * end for end in one.values["level"]], list(other.values["level"]))
    assert scaled.at({"level": 0.05, "cost": 1}).loss_bound == pytest.approx(plain.at({"level": 1, "cost": 1}).loss_bound)


def test_parts_of_the_weights(knowledge, warehouse):
    rewards = {name: warehouse.rewards[name] for name in NAMES[:2]}
    part = knowledge.atlas(rewards, loss=0.2, at_least={"balanced": 0.5}, at_most={"balanced": 0.75})
    assert part.at([0.4, 0.6]).loss_bound <= 0.2
    assert (part.at_least, part.at_most) == ([0, 0.5], [1, 0.75])
    with pytest.raises(ValueError):
        part.at([0.9, 0.1])


def test_mixtures_for_targets(atlas):
    """What two plans have for certain, their mixture has; what is above everything is excluded."""
    first, second = atlas.policies[0], atlas.policies[-1]
    half = {}
    for each in atlas.objectives:
        ends = [plan.values[each.name].upper if each.minimised else plan.values[each.name].lower for plan in (first, second)]
        half[each.name] = sum(ends) / 2
    mixture = atlas.mixture_for(half)
    assert mixture.guaranteed and not mixture.excluded and mixture.margin >= -1e-12
    assert sum(share for _, share in mixture.shares) == pytest.approx(1)
    for each in atlas.objectives:
        low, high = mixture.values[each.name]
        by_hand = np.array([list(atlas.policies[index].values[each.name]) for index, _ in mixture.shares])
        assert np.allclose((low, high), [share for _, share in mixture.shares] @ by_hand)
        assert (high <= half[each.name] + 1e-9) if each.minimised else (low >= half[each.name] - 1e-9)
    impossible = atlas.mixture_for({"service-level": atlas.horizon, "balanced": atlas.horizon, "holding-cost": 0})
    assert not impossible.guaranteed and impossible.excluded and len(impossible.excluded_by) == 3
    with pytest.raises(ValueError, match="the target of balanced is 99; must be from 0 to"):
        atlas.mixture_for({"balanced": 99})


def test_of_a_known_model_nothing_is_lost(two_laws):
    """One base model: the plans are those of plain planning, at every weighting."""
    problem = alidade.Problem(two_laws[:1], horizon=4, truth=[1.0])
    exploration = alidade.Exploration(problem)
    exploration.run(episodes=1)
    draws = np.random.default_rng(1)
    rewards = {"one": draws.random((3, 2)), "two": draws.random((3, 2))}
    atlas = exploration.knowledge.atlas(rewards, loss=0)
    model = problem.true_model()
    assert atlas.loss_bound < 1e-3
    for share in np.linspace(0, 1, 11):
        best = alidade.backward_induction(model, share * rewards["one"] + (1 - share) * rewards["two"]).value
        planned = max(share * plan.model_values["one"] + (1 - share) * plan.model_values["two"] for plan in atlas.policies)
        assert planned == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_matter(run, atlas, threads):
    assert run.atlas(NAMES, minimise=["holding-cost"], loss=0.2, threads=threads).to_json() == atlas.to_json()


def test_few_certificates_and_questions(knowledge, warehouse):
    rewards = {name: warehouse.rewards[name] for name in NAMES}
    seen = []
    small = knowledge.atlas(rewards, loss=0.05, certificates=10, observe=seen.append)
    assert small.limit == "budget" and small.loss_bound > 0.05 and seen[-1].certificates >= 3
    asked = itertools.count()
    ended = knowledge.atlas(rewards, loss=0.05, interrupted=lambda: next(asked) >= 2)
    assert ended.limit == "interrupted" and ended.check(knowledge).follows
    with pytest.raises(LookupError):
        knowledge.atlas(rewards, loss=0.05, observe=lambda progress: {}["no"])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"objectives": {}}, "2 to 8"),
        ({"objectives": ["balanced", "service-level"]}, "must be a dictionary"),
        ({"objectives": "balanced"}, "is a text"),
        ({"minimise": ["nothing"]}, "there is no objective 'nothing'"),
        ({"at_least": {"one": 0.8, "two": 0.8}}, "least weights sum"),
        ({"at_most": [0.5]}, "must be 2 numbers"),
        ({"loss": -1}, "loss asked for is -1"),
        ({"certificates": 0}, "certificates"),
    ],
)
def test_what_cannot_be(knowledge, warehouse, change, words):
    rewards = {"one": warehouse.rewards["balanced"], "two": warehouse.rewards["service-level"]}
    with pytest.raises(alidade.InvalidArgument, match=words):
        knowledge.atlas(**{"objectives": rewards, **change})


def test_weights_that_cannot_be(atlas):
    for weights in ([0, 0, 0], [-1, 1, 1], [1, 2], {"nothing": 1}, [np.nan, 1, 1]):
        with pytest.raises(ValueError):
            atlas.at(weights)


def test_exploring_until_an_atlas_is_good_enough(tool, tmp_path, warehouse):
    """By command line, run and exploration: the same episodes, and the same atlas."""
    flags = [f"--objective={name}" for name in NAMES[:2]]
    said = subprocess.run(
        [tool, "explore", WAREHOUSE, "-o", tmp_path / "line", "--seed=3", "--until-loss=0.7", *flags, "--json"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    line = json.loads(said.stdout)
    run = alidade.Run.create(tmp_path / "python", WAREHOUSE, seed=3)
    explored = run.explore(until_loss=0.7, objectives=NAMES[:2])
    assert explored.stopped == line["stopped"] == "target"
    assert explored.result.episodes == line["episodes"] < 2_000
    assert explored.atlas.loss_bound == line["atlas"]["loss_bound"] <= 0.7
    assert files(tmp_path / "python/atlas") == files(tmp_path / "line/atlas")
    exploration = alidade.Exploration(warehouse, seed=3)
    objectives = {name: warehouse.rewards[name] for name in NAMES[:2]}
    assert exploration.run(until_loss=0.7, objectives=objectives) == "target"
    assert exploration.counts == explored.counts
    assert exploration.knowledge.atlas(objectives, loss=0.7, problem=warehouse).to_json() == explored.atlas.to_json()
    # Another goal is another question, and none is none.
    assert exploration.run(until_loss=0.35, objectives=objectives) == "target"
    later = exploration.episodes
    assert later > explored.result.episodes
    assert exploration.run(episodes=later + 100) == "budget" and exploration.episodes == later + 100
    with pytest.raises(ValueError, match="no loss to stop at"):
        exploration.run(objectives=objectives)
    with pytest.raises(ValueError, match="target and until_loss"):
        run.explore(until_loss=0.7, objectives=objectives, target=1.0)


def test_ctrl_c_hands_over_a_valid_atlas():
    """The script of the other interruptions, where a KeyboardInterrupt is the second one."""
    _, said = interrupt(
        """
        import os
        exploration = alidade.Exploration("builtin:inventory", seed=1)
        exploration.run(episodes=300)
        knowledge, rewards = exploration.knowledge, exploration.problem.rewards
        wanted = {name: rewards[name] for name in ("service-level", "holding-cost", "balanced")}
        """,
        """
        atlas = knowledge.atlas(wanted, loss=1e-7, certificates=10**7, observe=observe)
        print("interrupted", time.time(), flush=True)
        print(atlas.limit, atlas.check(knowledge).follows, flush=True)
        os._exit(0)
        """,
    )
    assert said[0] == "interrupted True"


def test_pictures(atlas, knowledge, warehouse):
    pytest.importorskip("matplotlib")
    from alidade import plot

    two = knowledge.atlas({name: warehouse.rewards[name] for name in NAMES[:2]}, loss=0.3)
    axes = plot.front(two)
    assert [text.get_text() for text in axes.get_legend().get_texts()][0] == "not excluded"
    open_, sure = (patch.get_path() for patch in axes.patches[:2])
    for plan in two.policies:  # every plan is guaranteed its least, and nothing it may have is excluded
        low = [plan.values[name].lower for name in NAMES[:2]]
        assert sure.contains_point(low, radius=1e-6) or sure.contains_point(low, radius=-1e-6)
        assert open_.contains_point(low)
    assert len(plot.weight_map(two).lines) == len(two.cells)
    assert len(plot.weight_map(atlas).patches) == len(atlas.cells)
    page = atlas.plot()
    assert len(page.axes) == 4 and page._repr_png_().startswith(b"\x89PNG")
    four = knowledge.atlas({name: warehouse.rewards[name] for name in list(warehouse.rewards)[:2]} | {"x": warehouse.rewards["balanced"], "y": np.zeros((warehouse.shape.states, warehouse.shape.actions))}, loss=2)
    with pytest.raises(ValueError, match="4 objectives"):
        plot.weight_map(four)


def test_what_atlases_show(atlas):
    assert "atlas of service-level, balanced, holding-cost" in repr(atlas) and "any weighting" in repr(atlas)
    assert "loss at most" in repr(atlas.at([1, 1, 1])) and "% of the weights" in repr(atlas.policies[0])
    assert "minimised" in repr(atlas.objectives[2])
    html = atlas._repr_html_()
    assert html.startswith("<table>") and "any reward at all" in html
