"""Base models from simulators: the sampling error is bounded, and what rests on the bound holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import alidade
from alidade.simulators import base_models_from_simulators

STATES, ACTIONS = 6, 2


def walker(chance):
    """Up with the given probability after action 1, with its half after action 0, else down."""

    def simulate(states, action, random):
        up = random.random(np.shape(states)) < chance / (2 - action)
        return np.clip(states + np.where(up, 1, -1), 0, STATES - 1)

    simulate.__name__ = f"walker {chance}"
    return simulate


def walker_law(chance):
    law = np.zeros((STATES, ACTIONS, STATES))
    for s in range(STATES):
        for a in range(ACTIONS):
            law[s, a, min(s + 1, STATES - 1)] += chance / (2 - a)
            law[s, a, max(s - 1, 0)] += 1 - chance / (2 - a)
    return law


def dense(models, i):
    data, targets, offsets = models.kernels[i]
    found = np.zeros((models.states * models.actions, models.states))
    found[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), targets] = data
    return found.reshape(models.states, models.actions, models.states)


def test_the_error_is_the_formula():
    models = base_models_from_simulators([walker(0.4), walker(0.9)], STATES, actions=ACTIONS, samples=500, vectorised=True)
    by_hand = math.sqrt((STATES - 1) / 500) / 2 + math.sqrt(math.log(STATES * ACTIONS * 2 / 1e-3) / (2 * 500))
    assert models.misspecification == pytest.approx(by_hand, rel=1e-12) and models.failure_probability == 1e-3
    assert models.delta_for(0.1) == pytest.approx(0.099)
    with pytest.raises(ValueError, match="which the sampling takes"):
        models.delta_for(1e-3)
    fewer = base_models_from_simulators([walker(0.4)], STATES, actions=ACTIONS, samples=500, successors=2, vectorised=True, smoothing=0.01)
    by_hand = math.sqrt(1 / 500) / 2 + math.sqrt(math.log(STATES * ACTIONS / 1e-3) / 1000) + 0.01
    assert fewer.law_error == pytest.approx(by_hand, rel=1e-12)
    assert (dense(fewer, 0) > 0).all() and np.allclose(dense(fewer, 0).sum(axis=2), 1, atol=1e-12)


def test_the_error_holds():
    """200 samplings at a failure probability of 0.1: at most 0.1 of them, and then some, may be farther off."""
    far = 0
    for seed in range(200):
        models = base_models_from_simulators(
            [walker(0.4), walker(0.9)], STATES, actions=ACTIONS, samples=40, successors=2, failure=0.1, vectorised=True, seed=seed
        )
        distance = max(np.abs(dense(models, i) - walker_law(p)).sum(axis=2).max() / 2 for i, p in enumerate((0.4, 0.9)))
        far += distance > models.law_error
    assert far <= 20 + 3 * math.sqrt(18)


def test_draws_depend_on_nothing_else():
    vectorised = base_models_from_simulators([walker(0.4)], STATES, actions=ACTIONS, samples=50, vectorised=True, seed=3)
    again = base_models_from_simulators([walker(0.4), walker(0.9)], STATES, actions=ACTIONS, samples=50, vectorised=True, seed=3)
    assert all((a == b).all() for a, b in zip(vectorised.kernels[0], again.kernels[0]))
    one_by_one = base_models_from_simulators(
        [lambda s, a, random: int(walker(0.4)(s, a, random))], STATES, actions=ACTIONS, samples=50, seed=3
    )
    assert all((a == b).all() for a, b in zip(vectorised.kernels[0], one_by_one.kernels[0]))


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="led to 3 states, successors claims 2"):
        base_models_from_simulators(
            [lambda s, a, random: random.integers(0, 3, len(s))], STATES, actions=1, samples=50, successors=2, vectorised=True
        )
    with pytest.raises(ValueError, match="led to 6; must be 0 to 5"):
        base_models_from_simulators([lambda s, a, random: 6], STATES, actions=1, samples=5)
    with pytest.raises(ValueError, match="cell_variation is None; a grid needs"):
        base_models_from_simulators([lambda s, a, random: s], alidade.Grid([(0.0, 1.0, 4)]), actions=1)
    with pytest.raises(ValueError, match="smoothing is 1"):
        base_models_from_simulators([walker(0.4)], STATES, actions=1, smoothing=1)
    few = base_models_from_simulators([walker(0.4)], STATES, actions=ACTIONS, samples=2, vectorised=True)
    with pytest.raises(ValueError, match="take more samples"):
        few.problem(horizon=4)


def test_certificates_of_sampled_models_hold():
    """The real system mixes the simulators, the model mixes their samples: intervals contain the truth all the same."""
    models = base_models_from_simulators([walker(0.3), walker(0.9)], STATES, actions=ACTIONS, samples=20_000, successors=2, vectorised=True)
    problem = models.problem(horizon=5, homogeneous=True)
    assert problem.misspecification == models.misspecification
    law = 0.25 * walker_law(0.3) + 0.75 * walker_law(0.9)
    truth = alidade.TransitionModel(law, horizon=5)
    exploration = alidade.Exploration(problem, delta=models.delta_for(0.1), seed=1)
    exploration.run(alidade.SimulatedSystem(truth, "stepwise"), episodes=20_000)
    knowledge = exploration.knowledge
    assert not knowledge.certificate.vacuous
    for seed in range(20):
        reward = np.random.default_rng(seed).random((5, STATES, ACTIONS)) ** 4
        plan = knowledge.plan(reward)
        value = alidade.evaluate(truth, plan.policy, reward).value
        loss = alidade.backward_induction(truth, reward).value - value
        assert plan.certificate.value.lower <= value <= plan.certificate.value.upper
        assert loss <= plan.certificate.loss_bound


# --- a continuous system -----------------------------------------------------------------------------

CELLS, LEVELS, SPREAD, SHARE = 40, (0.2, 0.5), 0.6, (0.0, 0.5)


def filling(mean):
    """A reservoir: an action releases a share, and an inflow of a triangular density about ``mean`` follows."""

    def simulate(levels, action, random):
        inflow = random.triangular(mean - SPREAD / 2, mean, mean + SPREAD / 2, len(levels))
        return np.clip((1 - SHARE[action]) * levels[:, 0] + inflow, 0, 1)[:, None]

    return simulate


def test_continuous_observations_through_a_grid(tmp_path):
    gymnasium = pytest.importorskip("gymnasium")
    from alidade.gym import gym_system

    class Reservoir(gymnasium.Env):
        """The real one: at every step one of the two inflows, half of the time each."""

        observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float64)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.level = np.array([[0.5 + 0.5 / CELLS]])
            return self.level[0], {}

        def step(self, action):
            law = filling(LEVELS[int(self.np_random.random() < 0.5)])
            self.level = law(self.level, action, self.np_random)
            return self.level[0], 0.0, False, False, {}

    grid = alidade.Grid([(0.0, 1.0, CELLS)])
    # Lipschitz constant 1, cells of 1/40, a density that rises to 2/SPREAD and falls again; points of a cell are half a
    # cell from its average (docs/continuous.md).
    variation = alidade.problem.shift_variation(1.0, 0.5 / CELLS, 4 / SPREAD)
    models = base_models_from_simulators(
        [filling(mean) for mean in LEVELS], grid, actions=2, samples=20_000, cell_variation=variation, successors=CELLS, smoothing=1e-3, vectorised=True
    )
    assert models.misspecification == pytest.approx(variation + models.law_error)
    problem = models.problem(horizon=3, start=grid.cell_of([0.5 + 0.5 / CELLS]), homogeneous=True)
    run = alidade.Run.create(tmp_path / "run", problem, seed=1, delta=models.delta_for(0.1))
    run.explore(gym_system(Reservoir(), problem, grid=grid), episodes=1500)
    knowledge = run.knowledge()
    reward = np.zeros((3, CELLS, 2))
    reward[:, CELLS // 3 : 2 * CELLS // 3] = 1  # a level in the middle
    plan = knowledge.plan(reward)
    assert plan.certificate.loss_bound < 3
    # The plan on the continuous system itself, 20,000 times.
    random = np.random.default_rng(5)
    levels, earned = np.full((20_000, 1), 0.5 + 0.5 / CELLS), np.zeros(20_000)
    for h in range(3):
        cells = grid.cells_of(levels)
        actions = plan.policy.actions[h][cells]
        earned += reward[h, cells, actions]
        which = random.random(20_000) < 0.5
        after = [filling(LEVELS[i])(levels, a, random) for i in (0, 1) for a in (0, 1)]
        levels = np.choose((2 * which + actions)[:, None], after)
    error = 5 * earned.std() / math.sqrt(len(earned))
    assert plan.certificate.value.lower - error <= earned.mean() <= plan.certificate.value.upper + error


def test_laws_of_cells_are_averaged_over_the_points_of_a_cell():
    """A point moves right by 0.3 of a cell's width: from the centre it stays, from the right corner it leaves."""
    grid = alidade.Grid([(0.0, 1.0, 4)])

    def shifted(state, action):
        return [grid.cell_of(state + 0.3 / 4)], [1.0]

    def anywhere(state, action):
        return np.full(4, 0.25, dtype=np.float32)

    features, probed, law_error = alidade.problem.aggregate(grid, 1, [shifted, anywhere], names=["shift", "any"], points=3)
    problem = alidade.Problem(features, horizon=3, misspecification=0.4)
    assert probed > 0 and law_error == 0
    # Of the three points the two corners and the middle: one leaves. The last cell keeps what would leave the box.
    masses, cells, offsets = problem.features.base_kernel(0)
    row = dict(zip(cells[: offsets[1]].tolist(), masses[: offsets[1]].tolist()))
    assert row == pytest.approx({0: 2 / 3, 1: 1 / 3})
    assert problem.features.base_kernel(1)[0] == pytest.approx(0.25)
    with pytest.raises(ValueError, match="must be 4 masses"):
        alidade.problem.aggregate(grid, 1, [lambda state, action: [0.5, 0.5]])
    with pytest.raises(ZeroDivisionError):
        alidade.problem.aggregate(grid, 1, [lambda state, action: 1 / 0])
