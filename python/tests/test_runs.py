"""Runs on disk, experiments that others run, and what objects show."""

from __future__ import annotations

import json

import numpy as np
import pytest

import alidade
from conftest import RIVER


@pytest.fixture
def run(tmp_path):
    run = alidade.Run.create(tmp_path / "run", RIVER, seed=1)
    run.explore(episodes=2_000)
    return run


def test_a_run_is_opened_again(run):
    knowledge, trace = run.knowledge(), run.trace
    with pytest.raises(alidade.RunRefused) as refused:
        alidade.Run.create(run.folder, RIVER)
    assert refused.value.fault in ("taken", "busy")
    reader = alidade.Run.open(run.folder, "read")
    assert reader.knowledge().certificate.bound == knowledge.certificate.bound
    folder = run.folder
    run.close()
    with pytest.raises(ValueError, match="closed"):
        run.knowledge()
    with alidade.Run.open(folder) as again:
        assert again.trace["bound"].tolist() == trace["bound"].tolist()
        assert again.options["seed"] == 1 and again.source == RIVER
        assert again.result.stopped == "budget" and again.result.episodes == 2_000
        assert again.counts.episodes == 2_000
    with pytest.raises(alidade.RunRefused) as missing:
        alidade.Run.open(folder + "-not-there")
    assert missing.value.fault == "missing" and isinstance(missing.value, ValueError)


def test_targets_and_callbacks(tmp_path):
    run = alidade.Run.create(tmp_path / "run", "builtin:inventory?capacity=6", seed=1)
    seen = []
    explored = run.explore(episodes=200_000, target=1.0, observe=seen.append)
    assert explored.stopped == "target" and explored.certificate.bound <= 1.0
    episodes = [progress.episodes for progress in seen]
    assert episodes == sorted(episodes) and episodes[-1] == explored.result.episodes
    assert type(seen[0].certificate) is float and seen[0].seconds >= 0


def test_interrupted_by_a_question(tmp_path):
    run = alidade.Run.create(tmp_path / "run", RIVER, seed=1)
    seen = []
    stopped = run.explore(episodes=50_000, observe=seen.append, interrupted=lambda: len(seen) >= 20)
    assert stopped.stopped == "interrupted"
    rest = run.explore(episodes=50_000)
    whole = alidade.Run.create(tmp_path / "whole", RIVER, seed=1).explore(episodes=50_000)
    assert rest.counts == whole.counts
    assert rest.certificate.candidates == whole.certificate.candidates


def test_what_a_callback_raises_arrives_and_nothing_is_lost(tmp_path):
    run = alidade.Run.create(tmp_path / "run", RIVER, seed=1)

    def observe(progress):
        if progress.episodes > 100:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        run.explore(episodes=50_000, observe=observe)
    stored = run.result.episodes
    assert 100 < stored < 200
    rest = run.explore(episodes=50_000)
    whole = alidade.Run.create(tmp_path / "whole", RIVER, seed=1).explore(episodes=50_000)
    assert rest.counts == whole.counts


def test_a_run_within_its_callback(tmp_path):
    run = alidade.Run.create(tmp_path / "run", RIVER, seed=1)
    folders = set()
    run.explore(episodes=100, observe=lambda progress: folders.add(run.folder))
    assert folders == {run.folder}
    with pytest.raises(ValueError, match="callbacks"):
        run.explore(episodes=200, observe=lambda progress: run.explore(episodes=300))
    assert run.explore(episodes=200).counts.episodes == 200


def test_plans_are_kept(run):
    reward = alidade.problem.reach_reward(run.problem.shape, 3)
    knowledge = run.knowledge()
    plan = knowledge.plan(reward)
    run.keep("upstream", "reach?state=3", reward, plan.policy, plan.certificate, knowledge.episodes, plan.planner)
    (kept,) = run.kept_plans()
    assert kept.policy == plan.policy and kept.certificate.loss_bound == plan.loss_bound


def test_the_report_is_a_page_and_its_figures_are_data(run, tmp_path):
    page = run.report(tmp_path / "report.html", target=0.5)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!DOCTYPE html>") and "No loss above 0.5" in page
    spec = json.loads(run.figure("certificate"))
    assert spec["$schema"].endswith("vega-lite/v6.json") and spec["layer"]
    assert run.figure("weights", format="svg").startswith("<svg ")
    with pytest.raises(alidade.InvalidArgument, match="certificate, weights"):
        run.figure("pie")


def test_learning_from_logs(tmp_path):
    problem = alidade.make_builtin(RIVER)
    seen = alidade.simulate(problem.true_model(), alidade.Policy.uniform(problem.shape), 500, seed=3)
    counts = alidade.Counts(problem.successors, problem.shape.horizon)
    counts.add(seen)
    by_counts = alidade.learn(problem, counts, delta=0.1)
    run, by_episodes = alidade.Run.learn(tmp_path / "run", problem, seen)
    assert by_counts.certificate.bound == by_episodes.certificate.bound == run.knowledge().certificate.bound
    arrays = np.array([e.states for e in seen]), np.array([e.actions for e in seen])
    again = alidade.Counts(problem.successors, problem.shape.horizon)
    again.add(arrays)
    assert again == counts
    table = counts.seen()
    assert table["count"].sum() == counts.transitions == 500 * (problem.shape.horizon - 1)
    first = table["step"] == 0
    assert table["count"][first].sum() == 500
    assert not alidade.certify.check_model(problem, counts).contradicted


def test_asking_and_telling(tmp_path):
    """By hand what Run.explore does with a system: the same episodes give the same knowledge."""
    run = alidade.Run.create(tmp_path / "asked", RIVER, seed=6, system="ask")
    desk = alidade.AskTell(run)
    desk.prepare(episodes=300, seeded=True)
    model = run.problem.true_model()
    while True:
        asked = desk.ask(chunk=10**9)
        if asked.ended:
            break
        for experiment in asked:
            seen = alidade.simulate(model, experiment.policy, experiment.episodes, seed=6, first=experiment.first_episode)
            told = desk.tell(experiment.id, seen, worker="me")
            assert not told.repeated and told.episodes == experiment.episodes and told.off_policy == 0
            assert desk.tell(experiment.id, seen, worker="me").repeated
    assert asked.ended == "budget" and desk.status.told == 300
    other = alidade.Exploration(RIVER, seed=6)
    other.run(alidade.SimulatedSystem(model, "stepwise"), episodes=300)
    assert run.counts == other.counts
    assert run.knowledge().certificate.bound == other.knowledge.certificate.bound
    assert desk.replay().differences == []
    table = desk.experiments()
    assert table["told"].sum() == 300 and set(table["state"]) == {"told"}
    assert desk.export(tmp_path / "log.jsonl") == 300
    assert alidade.io.read_episodes(tmp_path / "log.jsonl", RIVER) == [e.episode for e in desk.episodes()]


def test_asking_and_telling_in_memory():
    """The loop by hand is the ready-made one."""
    by_hand = alidade.Exploration(RIVER, seed=6)
    model = by_hand.problem.true_model()
    while (asked := by_hand.ask(episodes=300)) is not None:
        policy, episodes = asked
        by_hand.tell(alidade.simulate(model, policy, episodes, seed=6, first=by_hand.episodes))
    other = alidade.Exploration(RIVER, seed=6)
    other.run(alidade.SimulatedSystem(model, "stepwise"), episodes=300)
    assert by_hand.counts == other.counts and by_hand.episodes == 300
    by_hand.tell_unasked([([0, 0], [1])])
    assert by_hand.episodes == 301


def test_telling_failures_and_strangers(tmp_path):
    run = alidade.Run.create(tmp_path / "run", RIVER, system="ask")
    desk = alidade.AskTell(run)
    desk.prepare()
    (experiment,) = desk.ask()
    desk.tell(experiment.id, failed="the pump broke")
    assert desk.log()[0].state == "failed" and desk.log()[0].reason == "the pump broke"
    seen = alidade.simulate(run.problem.true_model(), alidade.Policy.uniform(run.problem.shape), 7)
    assert desk.tell_unasked(seen, source="elsewhere").episodes == 7
    with pytest.raises(ValueError):
        desk.tell(experiment.id + 100, seen)


def test_tables_are_dictionaries(run):
    pandas = pytest.importorskip("pandas")
    trace = run.trace
    assert isinstance(trace, dict) and set(trace) == {"episodes", "bound", "replans"}
    frame = trace.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["episodes"]) == trace["episodes"].tolist()
    assert trace._repr_html_().count("<tr>") >= 2


def test_what_objects_show(run, problem):
    knowledge = run.knowledge()
    plan = knowledge.plan(alidade.problem.reach_reward(run.problem.shape, 3))
    exploration = alidade.Exploration(problem)
    exploration.run(episodes=50)
    for thing, words in [
        (run, "2000 episodes, any reward: loss at most"),
        (knowledge, "loss at most"),
        (knowledge.certificate, "with probability 0.9"),
        (plan, "plan by backward-induction: value in ["),
        (plan.certificate, "loss at most"),
        (problem, "three: 3 states, 2 actions, horizon 4, 2 base models, truth known"),
        (exploration, "exploration of 50 episodes"),
        (run.result, "2000 episodes"),
        (problem.features, "2 base models"),
        (problem.true_model(), "transition model"),
    ]:
        assert words in repr(thing)
    for thing in (run, knowledge, plan, problem, exploration, run.trace):
        html = thing._repr_html_()
        assert html.startswith("<table>") and html.endswith("</table>")


def test_bars_by_tqdm(tmp_path, capfd):
    pytest.importorskip("tqdm")
    run = alidade.Run.create(tmp_path / "run", RIVER, seed=1)
    run.explore(episodes=1_000, progress=True)
    assert "certificate" in capfd.readouterr().err


def test_files_round_trip(tmp_path, problem):
    shape = problem.shape
    reward = alidade.problem.random_reward(shape, "dense", seed=1)
    alidade.io.write_reward(tmp_path / "reward.npz", reward)
    assert alidade.io.read_reward(tmp_path / "reward.npz", shape) == (reward, 1.0, 0.0)
    policy = alidade.backward_induction(problem.true_model(), reward).policy
    alidade.io.write_policy(tmp_path / "policy.json", policy)
    assert alidade.io.read_policy(tmp_path / "policy.json", shape) == policy
    problem.save(tmp_path / "problem")
    loaded = alidade.load_problem(tmp_path / "problem")
    assert alidade.problem.problem_hash(loaded) == alidade.problem.problem_hash(problem)
    assert np.array_equal(loaded.truth, problem.truth)
    alidade.io.write_tabular(tmp_path / "model.npz", problem.true_model(), {"r": reward})
    model, rewards = alidade.io.read_tabular(tmp_path / "model.npz")
    assert rewards["r"] == reward
    for h in range(shape.horizon):
        assert np.array_equal(model.to_arrays(step=h), problem.true_model().to_arrays(step=h))


@pytest.mark.parametrize("name, view", [("m.drn", "interval"), ("m.umb", "point"), ("m.drn", "parametric")])
def test_models_for_others(run, tmp_path, name, view):
    files = alidade.export_model(run.knowledge(), tmp_path / name, view=view)
    assert files and all((tmp_path / name).exists() for _ in files)
    with pytest.raises(ValueError, match="view is 'round'"):
        alidade.export_model(run.knowledge(), tmp_path / "other.drn", view="round")


def test_truths_that_are_off_are_found_out():
    plain = alidade.make_builtin("builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4")
    off = plain.with_foreign(0.3, "random", seed=3)
    assert plain.foreign is None and plain.true_misspecification() == 0
    share, law = off.foreign
    assert share == 0.3 and len(law) == off.successors.entries
    assert 0 < off.true_misspecification() <= 0.3
    assert alidade.make_builtin(
        "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&foreign=0.3&seed=3"
    ).foreign[0] == 0.3
    counts = alidade.Counts(off.successors, off.shape.horizon)
    counts.add(alidade.simulate(off.true_model(), alidade.Policy.uniform(off.shape), 20_000))
    fit = alidade.certify.check_model(off, counts)
    assert fit.contradicted and fit.log_evidence > fit.kt and fit.best[0].log_evidence > fit.threshold
    assert fit.threshold == pytest.approx(np.log(100)) and 0 < fit.unseen < 0.1
    bound = alidade.certify.misspecification_lower(off, counts)
    assert 0 < bound.lower < off.true_misspecification()
    kernel = np.zeros((6, 2, 6))
    kernel[:, :, 0] = 1
    assert alidade.certify.check_model(off, counts, suspects=[kernel]).contradicted


def test_a_misspecification_that_allows_for_it_is_no_contradiction(tmp_path):
    uri = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&foreign=0.2"
    run = alidade.Run.create(tmp_path / "run", uri, algorithm="uniform")
    explored = run.explore(episodes=20_000)
    assert explored.fit.contradicted and explored.contradiction is not None
    assert 0 < explored.misspecification.lower < 0.2
    rows = alidade.certify.suspect_rows(run.problem, explored.counts, 0.2).rows
    assert all(row.log_evidence > 0 for row in rows)
