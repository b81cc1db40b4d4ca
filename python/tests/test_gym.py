"""Gymnasium: tables as base models, environments as systems, learned models as environments."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import alidade  # noqa: E402
from alidade.environment import run_episodes, seed_of_episode  # noqa: E402
from alidade.gym import GymSystem, LearnedEnv, VectorGymSystem, from_gym, gym_system, kernels_of, problem_from_gym  # noqa: E402

H = 12
MODES = list(gymnasium.vector.AutoresetMode)


def dense(env) -> np.ndarray:
    """P[s, a, s'] of an environment's own table, by hand; what terminates stays, in one more state if the table goes on."""
    table = env.unwrapped.P
    states, actions = len(table), len(table[0])
    stays = [all(t == s for a in range(actions) for p, t, _, _ in table[s][a] if p > 0) for s in range(states)]
    law = np.zeros((states + 1, actions, states + 1))
    for s in range(states):
        for a in range(actions):
            for p, t, _, end in table[s][a]:
                law[s, a, states if end and not stays[t] else t] += p
    law[states, :, states] = 1
    return law


def optimum(law: np.ndarray, reward: np.ndarray) -> np.ndarray:
    """V*_0 of every state, by backward induction."""
    value = np.zeros(len(law))
    for h in reversed(range(len(reward))):
        value = (reward[h] + law @ value).max(axis=1)
    return value


def worth(law: np.ndarray, reward: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """V^pi_0 of every state."""
    value = np.zeros(len(law))
    states = np.arange(len(law))
    for h in reversed(range(len(reward))):
        value = (reward[h] + law @ value)[states, policy[h]]
    return value


def test_repeated_successors_are_summed():
    lake = gymnasium.make("FrozenLake-v1")
    (data, targets, offsets), = kernels_of([from_gym(lake)])[0]
    found = np.zeros((64, 16))
    found[np.repeat(np.arange(64), np.diff(offsets)), targets] = data
    assert np.allclose(found.reshape(16, 4, 16), dense(lake)[:16, :, :16], atol=1e-12)
    assert found[0].max() == pytest.approx(2 / 3)  # the corner: left and up both stay


@pytest.mark.parametrize("name, more", [("FrozenLake-v1", False), ("CliffWalking-v1", True), ("Taxi-v4", True)])
def test_ends_have_a_state_where_the_table_goes_on(name, more):
    table = from_gym(name)
    kernels, ended = kernels_of([table])
    assert ended == more
    problem = problem_from_gym([table], horizon=5)
    assert problem.shape.states == table.states + more
    law = dense(gymnasium.make(name))
    model = alidade.Problem(problem.features, horizon=5, truth=[1.0]).true_model().to_arrays()
    model = model[0] if isinstance(model, list) else model
    assert np.allclose(model, law[: problem.shape.states, :, : problem.shape.states], atol=1e-12)


def test_what_has_no_table_is_refused():
    with pytest.raises(ValueError, match="no transition table"):
        from_gym("CartPole-v1")
    with pytest.raises(ValueError, match="base models must have the same"):
        problem_from_gym(["FrozenLake-v1", "CliffWalking-v1"], horizon=5)
    problem = problem_from_gym(["FrozenLake-v1"], horizon=5)
    with pytest.raises(ValueError, match="the environment has 64 states"):
        gym_system(gymnasium.make("FrozenLake-v1", map_name="8x8"), problem)
    with pytest.raises(ValueError, match="need grid="):
        GymSystem(gymnasium.make("CartPole-v1"), alidade.make_builtin("builtin:riverswim"))


def episodes_of(system, policy, count, seed=0):
    batches = []
    run_episodes(system, policy, lambda *batch: batches.append([np.array(x) for x in batch]), count=count, seed=seed)
    return [np.concatenate(each) for each in zip(*batches)]


def lake_problem(horizon=H):
    return problem_from_gym([from_gym("FrozenLake-v1", success_rate=rate) for rate in (0.3, 0.9)], horizon=horizon)


def lakes(count, mode, limit=100):
    return gymnasium.make_vec(
        "FrozenLake-v1", num_envs=count, vectorization_mode="sync", max_episode_steps=limit, vector_kwargs={"autoreset_mode": mode}
    )


def fixed_policy(problem, seed=0):
    states, actions, horizon = problem.shape
    return alidade.Policy(np.random.default_rng(seed).integers(0, actions, (horizon, states)), problem.shape)


@pytest.mark.parametrize("limit", [H - 1, 100])
@pytest.mark.parametrize("mode", MODES)
def test_a_seeded_vector_environment_is_the_single_one(mode, limit):
    """Every way of resetting, ends and limits of one's own or not: episode for episode what the single one does."""
    problem = lake_problem()
    for policy in (fixed_policy(problem), alidade.Policy.uniform(problem.shape)):
        one = VectorGymSystem(lakes(1, mode, limit), problem, seeded=True, seed=5)
        many = VectorGymSystem(lakes(7, mode, limit), problem, seeded=True, seed=5)
        for left, right in zip(episodes_of(one, policy, 60), episodes_of(many, policy, 60)):
            assert (left == right).all()
    single = GymSystem(gymnasium.make("FrozenLake-v1"), problem)
    found, expected = episodes_of(many, fixed_policy(problem), 60), episodes_of(single, fixed_policy(problem), 60, seed=5)
    assert (found[0] == expected[0]).all() and found[2].all()
    assert (found[1][:, : H - 1] == expected[1][:, : H - 1]).all()


@pytest.mark.parametrize("limit", [H - 1, 100])
@pytest.mark.parametrize("mode", MODES)
def test_a_vector_environment_keeps_the_law(mode, limit):
    """No transition that the lake cannot make (a reset taken for one would be), and each as often as it should be."""
    problem = lake_problem()
    policy = fixed_policy(problem)
    states, actions, complete = episodes_of(VectorGymSystem(lakes(16, mode, limit), problem, seed=3), policy, 2000)
    assert complete.all() and (states[:, 0] == 0).all()
    law = dense(gymnasium.make("FrozenLake-v1"))[:16, :, :16]
    counts = np.zeros_like(law)
    np.add.at(counts, (states[:, :-1], actions[:, :-1], states[:, 1:]), 1)
    expected = counts.sum(axis=2, keepdims=True) * law
    assert (counts[expected == 0] == 0).all()
    often = expected > 5
    statistic = ((counts - expected)[often] ** 2 / expected[often]).sum()
    assert statistic < often.sum() + 5 * np.sqrt(2 * often.sum())  # five deviations of a chi-square
    assert (actions[:, :-1] == policy.actions[np.arange(H - 1), states[:, :-1]]).all()


def test_truncated_episodes_break_off():
    problem = lake_problem()
    with pytest.warns(UserWarning, match="truncates after 4 steps"):
        system = VectorGymSystem(lakes(3, MODES[0], limit=4), problem)
    states, actions, complete = episodes_of(system, fixed_policy(problem), 50)
    over = np.isin(states[:, 4], [5, 7, 11, 12, 15])  # holes and goal: terminated, so it stays
    assert (complete == over).all() and not complete.all() and complete.any()
    assert (states[~over, 5:] == -1).all() and (actions[~over, 4:] == -1).all() and (states[~over, 4] >= 0).all()
    with pytest.warns(UserWarning, match="max_episode_steps=11"):
        single = GymSystem(gymnasium.make("FrozenLake-v1", max_episode_steps=4), problem)
    states, actions, complete = episodes_of(single, fixed_policy(problem), 50)
    assert (complete == np.isin(states[:, 4], [5, 7, 11, 12, 15])).all()


def test_numbers_that_start_elsewhere():
    class Shifted(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(3, start=10)
        action_space = gymnasium.spaces.Discrete(2, start=-1)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.state = 0
            return np.int64(10), {}

        def step(self, action):
            self.state = min(2, max(0, self.state + (1 if action == 0 else -1)))
            return np.int64(10 + self.state), 0.0, False, False, {}

    kernel = np.zeros((3, 2, 3))
    for s in range(3):
        kernel[s, 0, max(0, s - 1)] = kernel[s, 1, min(2, s + 1)] = 1
    problem = alidade.Problem([kernel], horizon=4)
    states, _, _ = episodes_of(GymSystem(Shifted(), problem), alidade.Policy(np.ones((4, 3), dtype=int), problem.shape), 1)
    assert states.tolist() == [[0, 1, 2, 2]]


REAL = {
    "FrozenLake 8x8": ("FrozenLake-v1", {"map_name": "8x8"}, [{"success_rate": 0.3}, {"success_rate": 0.9}], {"success_rate": 0.7}),
    "CliffWalking": ("CliffWalking-v1", {}, [{}, {"is_slippery": True}], {"is_slippery": True}),
    "Taxi": ("Taxi-v4", {}, [{}, {"is_rainy": True}], {"is_rainy": True}),
}


@pytest.mark.parametrize("name", REAL)
def test_certified_plans_of_real_environments(name, tmp_path):
    """The loss, by the environment's own P, is below its bound, for its own reward and for others."""
    gym_id, shared, bases, real = REAL[name]
    horizon = 14
    problem = problem_from_gym([from_gym(gym_id, **shared, **each) for each in bases], horizon=horizon, homogeneous=True)
    env = gymnasium.make(gym_id, **shared, **real)
    vector = gymnasium.make_vec(gym_id, num_envs=32, vectorization_mode="sync", max_episode_steps=horizon - 1, **shared, **real)
    run = alidade.Run.create(tmp_path / "run", problem, seed=2, delta=0.05)
    run.explore(gym_system(vector, problem), episodes=800)
    knowledge = run.knowledge()
    assert not knowledge.certificate.vacuous
    states, actions, _ = problem.shape
    law = dense(env)[:states, :, :states]
    start = problem.start.to_array(states)
    own = np.zeros((states, actions))
    own[: len(env.unwrapped.P)] = from_gym(env).expected_reward()
    own = (own - own.min()) / (own.max() - own.min())
    draws = np.random.default_rng(1)
    rewards = [np.broadcast_to(own, (horizon, states, actions))]
    rewards += [draws.random((horizon, states, actions)) ** power for power in (1, 8, 40)]
    for reward in rewards:
        plan = knowledge.plan(reward)
        value = float(start @ worth(law, reward, plan.policy.actions))
        loss = float(start @ optimum(law, reward)) - value
        assert -1e-9 <= loss <= plan.certificate.loss_bound + 1e-9
        assert loss <= knowledge.certificate.bound + 1e-9
        assert plan.certificate.value.lower - 1e-9 <= value <= plan.certificate.value.upper + 1e-9


def test_seeded_systems_resume_to_the_same_run(tmp_path):
    problem = lake_problem()
    whole = alidade.Run.create(tmp_path / "whole", problem, seed=8)
    whole.explore(gym_system("FrozenLake-v1", problem), episodes=300)
    parts = alidade.Run.create(tmp_path / "parts", problem, seed=8)
    for _ in range(2):  # another environment each time
        parts.explore(gym_system("FrozenLake-v1", problem), episodes=300, interrupted=iter([False] * 20 + [True] * 1000).__next__)
    parts.explore(gym_system("FrozenLake-v1", problem), episodes=300)
    assert whole.counts == parts.counts
    assert [e.episode for e in alidade.AskTell(whole).episodes()] == [e.episode for e in alidade.AskTell(parts).episodes()]
    assert seed_of_episode(8, 0) != seed_of_episode(8, 1)


def test_a_learned_environment_passes_the_checks_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    problem = alidade.make_builtin("builtin:inventory?capacity=6")
    for observe in ("step and state", "state"):
        env = LearnedEnv(problem.true_model(), problem.rewards["balanced"], observe=observe)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env, skip_render_check=True)
    with pytest.raises(ValueError, match="observe is 'nothing'"):
        LearnedEnv(problem.true_model(), problem.rewards["balanced"], observe="nothing")
    with pytest.raises(ValueError, match="reward has shape"):
        LearnedEnv(problem.true_model(), np.zeros((2, 2)))


def test_a_learned_environment_is_its_model():
    """Its table gives the values that the model gives, and its steps have the table's law."""
    problem = alidade.make_builtin("builtin:riverswim?length=4&horizon=5")
    model = problem.true_model()
    states, actions, horizon = problem.shape
    reward = np.random.default_rng(0).random((horizon, states, actions))
    env = LearnedEnv(model, reward)
    policy = np.ones((horizon, states), dtype=int)  # against the current
    policy[2] = 0
    value = np.zeros(horizon * states)
    for seen in reversed(range(horizon * states)):  # a layer only leads to the next
        rows = env.P[seen][int(policy.ravel()[seen])]
        assert sum(p for p, *_ in rows) == pytest.approx(1)
        value[seen] = sum(p * (r + (0 if end else value[t])) for p, t, r, end in rows)
    expected = alidade.evaluate(model, policy, reward).value
    assert float(env.initial_state_distrib @ value) == pytest.approx(expected, abs=1e-12)
    assert (env.policy_of(lambda seen: policy.ravel()[seen]) == policy).all()
    earned = []
    env.reset(seed=4)
    for _ in range(4000):
        seen, total, over = env.reset()[0], 0.0, False
        while not over:
            seen, gain, over, _, _ = env.step(int(policy.ravel()[seen]))
            total += gain
        earned.append(total)
    assert np.mean(earned) == pytest.approx(expected, abs=5 * np.std(earned) / np.sqrt(len(earned)))
    with pytest.raises(RuntimeError, match="over"):
        env.step(0)
