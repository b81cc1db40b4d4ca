"""Planners: the built-in ones, callables, objects, and those of others; each certified."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import alidade


@pytest.fixture(scope="module")
def knowledge():
    exploration = alidade.Exploration("builtin:inventory?capacity=6", seed=1)
    exploration.run(episodes=20_000)
    return exploration.knowledge


@pytest.fixture(scope="module")
def warehouse():
    return alidade.make_builtin("builtin:inventory?capacity=6")


def by_hand(P, R, H):
    """Backward induction in NumPy."""
    P = P if isinstance(P, list) else [P] * H
    value, actions = np.zeros(R.shape[1]), []
    for h in reversed(range(H)):
        q = R[h] + P[h] @ value
        actions.append(q.argmax(axis=1))
        value = q.max(axis=1)
    return np.array(actions[::-1])


def test_classes_of_rewards(knowledge, warehouse):
    shape = warehouse.shape
    total = knowledge.certify_class("total")
    assert total.most == 1 and 0 < total.bound < 1 and not total.vacuous
    assert total.bound == min(total.candidates.values())
    everything = knowledge.certify_class(alidade.RewardClass.all(shape))
    # A class is about plans of which only their value in the model is known.
    assert everything.bound == pytest.approx(knowledge.certificate.any_plan, rel=1e-12)
    late = alidade.RewardClass.at_steps(shape, [shape.horizon - 2, shape.horizon - 1])
    empty = alidade.RewardClass.in_states(shape, [0])
    assert knowledge.certify_class(late).bound < everything.bound
    both = knowledge.certify_class(late & empty).bound
    assert both <= min(knowledge.certify_class(late).bound, knowledge.certify_class(empty).bound)
    first = np.zeros((shape.horizon, shape.states, shape.actions))
    first[0] = 1
    assert knowledge.certify_class(alidade.RewardClass.below(shape, first)).bound == 0
    with pytest.raises(ValueError, match="no class of rewards"):
        knowledge.certify_class("some")


def test_rewards_near_one(knowledge, warehouse):
    reward = np.random.default_rng(1).random((warehouse.shape.states, warehouse.shape.actions))
    plan = knowledge.plan(reward)
    exact = knowledge.certify_near(reward, plan.policy, 0)
    assert exact.loss_bound == plan.certificate.loss_bound
    near, far = (knowledge.certify_near(reward, plan.policy, eta) for eta in (0.01, 0.02))
    assert exact.loss_bound <= near.loss_bound <= far.loss_bound
    assert near.radius == exact.radius
    # A tolerance for each step, state and action.
    known = knowledge.certify_near(reward, plan.policy, np.zeros_like(reward))
    assert known.loss_bound == exact.loss_bound
    same = knowledge.certify_near(reward, plan.policy, np.full_like(reward, 0.01))
    assert same.loss_bound == pytest.approx(near.loss_bound, rel=1e-9)


class Lazy:
    def plan(self, model, reward):
        return alidade.Policy.uniform(model.shape)


@pytest.mark.parametrize("planner", ["backward-induction", by_hand, alidade.plan.quantecon, alidade.plan.pymdptoolbox])
def test_exact_planners_agree(knowledge, warehouse, planner):
    reward = warehouse.rewards["balanced"]
    plan = knowledge.plan(reward, planner)
    assert plan.measured.epsilon_opt < 1e-9 and plan.measured.claims_true
    best = alidade.backward_induction(knowledge.model, reward)
    assert plan.measured.value == pytest.approx(best.value, abs=1e-9)
    # Certified: the truth, which is known here, is within the bounds.
    truth = warehouse.true_model()
    value = alidade.evaluate(truth, plan.policy, reward).value
    optimal = alidade.backward_induction(truth, reward).value
    assert value in plan.value
    assert optimal - value <= plan.loss_bound + 1e-9
    assert optimal <= plan.certificate.optimal_upper + 1e-9


@pytest.mark.parametrize("planner", ["robust", "lookahead", Lazy()])
def test_others_are_certified_too(knowledge, warehouse, planner):
    reward = warehouse.rewards["balanced"]
    plan = knowledge.plan(reward, planner)
    truth = warehouse.true_model()
    loss = alidade.backward_induction(truth, reward).value - alidade.evaluate(truth, plan.policy, reward).value
    assert -1e-9 <= loss <= plan.loss_bound + 1e-9


def test_a_liar_is_found_out(knowledge, warehouse):
    class Liar:
        def plan(self, model, reward):
            return alidade.Plan(alidade.Policy.uniform(model.shape), 7.0, 0.0)

    plan = knowledge.plan(warehouse.rewards["balanced"], Liar())
    assert not plan.measured.claims_true


def test_wrong_planners(knowledge, warehouse):
    reward = warehouse.rewards["balanced"]
    with pytest.raises(ValueError, match="nope"):
        knowledge.plan(reward, "nope")
    with pytest.raises(ValueError, match="must be a name"):
        knowledge.plan(reward, 3)
    with pytest.raises(ZeroDivisionError):
        knowledge.plan(reward, lambda P, R, H: 1 / 0)
    with pytest.raises(ValueError, match="policy has shape"):
        knowledge.plan(reward, lambda P, R, H: np.zeros((2, 2), dtype=int))


def test_evaluation_by_brute_force(problem):
    """Over all trajectories of a small model."""
    model = problem.true_model()
    states, actions, horizon = model.shape
    draws = np.random.default_rng(5)
    reward = draws.random((horizon, states, actions))
    policy = draws.dirichlet(np.ones(actions), size=(horizon, states))
    laws = model.to_arrays()
    total = 0.0
    for path in itertools.product(range(states), range(actions), repeat=horizon):
        s, a = path[0::2], path[1::2]
        chance = float(s[0] == 0)
        for h in range(horizon):
            chance *= policy[h, s[h], a[h]] * (laws[h][s[h], a[h], s[h + 1]] if h + 1 < horizon else 1)
        total += chance * sum(reward[h, s[h], a[h]] for h in range(horizon))
    assert alidade.evaluate(model, policy, reward).value == pytest.approx(total, abs=1e-12)
    occupied = alidade.occupancy(model, policy)
    assert (occupied * reward).sum() == pytest.approx(total, abs=1e-12)


def test_many_questions_are_one_by_one(knowledge, warehouse):
    questions = []
    for seed in range(5):
        reward = alidade.problem.random_reward(warehouse.shape, seed=seed)
        questions.append((reward, alidade.backward_induction(knowledge.model, reward).policy))
    for question, certificate in zip(questions, alidade.certify_rewards(knowledge, questions, threads=2)):
        alone = knowledge.certify(*question)
        assert (alone.loss_bound, tuple(alone.value)) == (certificate.loss_bound, tuple(certificate.value))


def test_audit(knowledge, warehouse):
    found = alidade.audit.audit(knowledge, warehouse, rewards=30, climb_steps=50)
    assert found.violations == 0 and found.max_gap <= knowledge.certificate.bound


def test_members_that_lose_most(knowledge):
    found = alidade.audit.attack_members(knowledge, starts=4, steps=60, seed=1)
    assert 0 < found.loss <= found.bound == knowledge.certificate.bound <= knowledge.certificate.any_plan
    assert found.slack == pytest.approx(found.bound / found.loss)
    model = knowledge.learned.model
    horizon, states, actions = model.shape.horizon, model.shape.states, model.shape.actions
    assert found.weights.shape == (horizon - 1, model.features.features)
    for h, row in enumerate(found.weights):
        assert knowledge.learned.sets[h].contains(row)
    assert np.asarray(found.reward.values).shape == (horizon, states, actions)
    assert "two-chain" in knowledge.certificate.forms
