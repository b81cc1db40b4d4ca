"""Truths that are not quite mixtures: what is assumed of them, what is certain then, and which rows are off."""

import numpy as np
import pytest

import alidade

PLAIN = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&seed=3"
OFF = PLAIN + "&foreign=0.2"


@pytest.fixture(scope="module")
def off():
    return alidade.make_builtin(OFF)


@pytest.fixture(scope="module")
def counts(off):
    seen = alidade.Counts(off.successors, off.shape.horizon)
    seen.add(alidade.simulate(off.true_model(), alidade.Policy.uniform(off.shape), 20_000))
    return seen


@pytest.fixture(scope="module")
def reward(off):
    return off.reward("dense?seed=1")


def true_value(problem, policy, reward):
    return alidade.evaluate(problem.true_model(), policy, reward).value


def test_what_is_assumed_is_paid_for_and_holds(off, counts, reward):
    for knowledge in (
        alidade.learn(off, counts, misspecification=0.2),
        alidade.learn(off, counts, misspecification=0.2, reach="support"),
    ):
        assert knowledge.learned.misspecification == 0.2
        plan = knowledge.plan(reward)
        low, high = plan.value
        assert low <= true_value(off, plan.policy, reward) <= high
        best = alidade.backward_induction(off.true_model(), reward).value
        assert best - true_value(off, plan.policy, reward) <= plan.loss_bound
        # Sets by bets are the hull of their vertices.
        for chosen in knowledge.learned.sets:
            vertices = chosen.vertices
            assert vertices.shape[1] == 3 and np.allclose(vertices.sum(axis=1), 1)
            direction = np.array([1.0, -1.0, 0.5])
            assert chosen.range(direction).upper == pytest.approx((vertices @ direction).max(), abs=1e-9)
    loose, tight = (alidade.learn(off, counts, misspecification=0.2, reach=reach) for reach in ("anywhere", "support"))
    certificate = [knowledge.certify(reward, plan.policy) for knowledge in (loose, tight)]
    assert certificate[1].loss_bound <= certificate[0].loss_bound
    assert alidade.learn(alidade.make_builtin(PLAIN), counts).learned.sets[0].vertices is None


def test_explorations_and_runs_assume_it_too(off, tmp_path):
    exploration = alidade.Exploration(off, seed=1, misspecification=0.1, reach="support")
    exploration.run(episodes=2_000)
    assert exploration.knowledge.learned.misspecification == 0.1
    run = alidade.Run.create(tmp_path / "run", off, seed=1, misspecification=0.1, reach="support")
    explored = run.explore(episodes=2_000)
    assert explored.certificate.bound == exploration.knowledge.certificate.bound
    assert run.options["misspecification"] == 0.1 and run.options["reach"] == "support"
    wider = run.knowledge(misspecification=0.2)
    assert wider.learned.misspecification == 0.2 and wider.certificate.bound >= run.knowledge().certificate.bound
    learned, knowledge = alidade.Run.learn(tmp_path / "log", off, run.counts, misspecification=0.3)
    assert knowledge.learned.misspecification == 0.3 and learned.options["misspecification"] == 0.3
    with pytest.raises(alidade.InvalidArgument, match="misspecification is 1"):
        alidade.learn(off, run.counts, misspecification=1)
    with pytest.raises(alidade.InvalidArgument, match="anywhere or support"):
        alidade.learn(off, run.counts, misspecification=0.1, reach="nowhere")


def test_what_leads_elsewhere_is_data_where_it_may(tmp_path):
    rows = np.zeros((3, 1, 3))
    rows[:, 0, 0], rows[:, 0, 1] = 0.25, 0.75
    problem = alidade.Problem([rows, rows[:, :, [1, 0, 2]]], horizon=3, reach="support")
    assert problem.reach == "support"
    episode = ([0, 2, 1], [0, 0])
    with pytest.raises(alidade.ImpossibleTransition):
        alidade.Counts(problem.successors, 3).add([episode])
    seen = alidade.Counts(problem.successors, 3, elsewhere=True)
    seen.add([episode])
    assert seen.any_elsewhere
    assert alidade.learn(problem, seen, misspecification=0.2, reach="anywhere").episodes == 1
    with pytest.raises(alidade.ModelContradiction):
        alidade.learn(problem, seen, misspecification=0.2)
    exploration = alidade.Exploration(problem, misspecification=0.2, reach="anywhere")
    exploration.ask()
    exploration.tell([episode])
    assert exploration.counts.any_elsewhere


def test_a_curve_from_how_wrong_to_what_is_certain(off, counts, reward, tmp_path):
    knowledge = alidade.learn(off, counts, misspecification=0.05)
    policy = alidade.backward_induction(knowledge.model, reward).policy
    sensitivity = alidade.certify.Sensitivity(off, counts, knowledge)
    zetas = [0.05, 0.1, 0.2, 0.3]
    points = sensitivity.curve(zetas, reward, policy)
    assert [point.zeta for point in points] == zetas and not points[2].refuted
    for near, far in zip(points, points[1:]):
        assert near.refuted or (near.loss <= far.loss and near.reward_free <= far.reward_free)
        assert near.refuted or (far.value.lower <= near.value.lower and near.value.upper <= far.value.upper)
    value = true_value(off, policy, reward)
    assert points[2].value.lower <= value <= points[2].value.upper
    assert sensitivity.at(0.3, reward, policy).loss == points[3].loss
    tolerance = 0.5 * (points[2].loss + points[3].loss)
    breakdown = sensitivity.breakdown(tolerance, reward, policy)
    assert 0.2 <= breakdown < 0.3 and sensitivity.at(breakdown, reward, policy).loss <= tolerance
    # Without a plan it is the reward-free certificate.
    free = sensitivity.curve([0.2])[0]
    assert free.loss == free.reward_free and len(sensitivity.curve()) == 8
    with pytest.raises(alidade.InvalidArgument, match="together"):
        sensitivity.at(0.1, reward)
    # Of runs, and of explorations.
    run = alidade.Run.create(tmp_path / "run", PLAIN, seed=1)
    run.explore(episodes=3_000)
    exploration = alidade.Exploration(PLAIN, seed=1)
    exploration.run(episodes=3_000)
    one, other = run.sensitivity().curve([0.01, 0.05]), exploration.sensitivity().curve([0.01, 0.05])
    assert [point.reward_free for point in one] == [point.reward_free for point in other]
    assert run.sensitivity(reward_free=False).at(0.01).reward_free == 4


def test_rows_are_listed_for_what_may_be_off_and_not_for_nothing(off, counts):
    with pytest.raises(alidade.InvalidArgument, match="greater than 0"):
        alidade.certify.suspect_rows(off, counts)
    wide, narrow = (alidade.certify.suspect_rows(off, counts, zeta) for zeta in (0.3, 0.05))
    assert wide.misspecification == 0.3 and not wide.refuted
    assert narrow.refuted or len(narrow.rows) >= len(wide.rows)
    assert all(row.log_evidence > 0 for row in wide.rows + narrow.rows)
    right = alidade.make_builtin(PLAIN)
    seen = alidade.Counts(right.successors, right.shape.horizon)
    seen.add(alidade.simulate(right.true_model(), alidade.Policy.uniform(right.shape), 20_000))
    assert not alidade.certify.suspect_rows(right, seen, 0.01).rows


def test_how_wrong_at_least_whether_laws_vary_or_not(off, counts):
    bound = alidade.certify.misspecification_lower(off, counts)
    assert 0 <= bound.varying <= bound.lower < off.true_misspecification()
