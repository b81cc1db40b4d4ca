"""Logs: tables and Minari datasets become episodes, and what is not one is refused by name and row."""

from __future__ import annotations

import numpy as np
import pytest

import alidade
from alidade.logs import episodes_from
from alidade.tracking import replay, track

RIVER = "builtin:riverswim?length=4&horizon=5"


@pytest.fixture
def river():
    return alidade.make_builtin(RIVER)


def table_of(swum):
    rows = [(day, h, e.states[h], e.actions[h], e.states[h + 1]) for day, e in enumerate(swum) for h in range(len(e.states) - 1)]
    columns = zip(*rows)
    return dict(zip(("episode", "step", "state", "action", "next_state"), map(list, columns)))


@pytest.fixture
def swum(river):
    return alidade.simulate(river.true_model(), alidade.Policy.uniform(river.shape), 30, seed=1)


def test_all_tables_say_the_same(river, swum, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = table_of(swum)
    frame = pandas.DataFrame(table).sample(frac=1, random_state=3)  # in any order
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    expected = np.array([e.states for e in swum])
    for source in (table, frame, tmp_path / "log.csv", str(tmp_path / "log.parquet")):
        states, actions, complete = episodes_from(source, river)
        assert (states == expected).all() and complete.all()
        assert (actions[:, :-1] == np.array([e.actions for e in swum])[:, :-1]).all()
    counts = alidade.Counts(river.successors, river.shape.horizon)
    counts.add(swum)
    again = alidade.Counts(river.successors, river.shape.horizon)
    again.add(tuple(episodes_from(table, river)))
    assert counts == again


def test_names_and_columns_of_ones_own(river, tmp_path):
    problem = alidade.Problem(river.features, horizon=5, action_names=["down", "up"], state_names=["a", "b", "c", "d"])
    (tmp_path / "log.csv").write_text("who,t,where,stroke,then\nx,0,a,up,b\nx,1,b,up,c\ny,0,0,down,0\n")
    columns = {"episode": "who", "step": "t", "state": "where", "action": "stroke", "next_state": "then"}
    states, actions, complete = episodes_from(tmp_path / "log.csv", problem, columns=columns)
    assert states.tolist() == [[0, 1, 2, -1, -1], [0, 0, -1, -1, -1]]
    assert actions.tolist() == [[1, 1, -1, -1, -1], [0, -1, -1, -1, -1]]
    assert not complete.any()


def test_longer_episodes_are_cut_at_the_horizon(river):
    long = {"episode": [0] * 7, "step": list(range(7)), "state": [0] * 7, "action": [0] * 7, "next_state": [0] * 7}
    states, actions, complete = episodes_from(long, river)
    assert states.tolist() == [[0] * 5] and actions.tolist() == [[0] * 5] and complete.all()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"step": [0, 2]}, "step that is missing"),
        ({"step": [0, 0]}, "step that is missing or comes twice"),
        ({"state": [0, 2]}, "another state than its last transition led to"),
        ({"state": [0, 4]}, "state is 4 in row 1; must be 0 to 3"),
        ({"action": ["1", "sideways"]}, "action is 'sideways' in row 1; must be 0 to 1"),
        ({"action": [0.0, 0.5]}, "action is 0.5 in row 1"),
    ],
)
def test_what_is_no_episode_is_refused(river, change, message):
    table = {"episode": [3, 3], "step": [0, 1], "state": [0, 1], "action": [1, 1], "next_state": [1, 1], **change}
    with pytest.raises(ValueError, match=message):
        episodes_from(table, river)


def test_files_that_are_none_are_refused(river, tmp_path):
    (tmp_path / "log.csv").write_text("episode,step,state,action,next_state\n0,0,0,1\n")
    with pytest.raises(ValueError, match="log.csv:2: 4 cells"):
        episodes_from(tmp_path / "log.csv", river)
    (tmp_path / "log.csv").write_text("episode,step,state,action\n0,0,0,1\n")
    with pytest.raises(ValueError, match="no column 'next_state'"):
        episodes_from(tmp_path / "log.csv", river)
    with pytest.raises(ValueError, match="must end in .csv or .parquet"):
        episodes_from(tmp_path / "log.txt", river)
    with pytest.raises(TypeError, match="must be a file, a table"):
        episodes_from(7, river)


@pytest.mark.filterwarnings("ignore")  # of Minari, about authors and links
def test_minari_datasets(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    gymnasium = pytest.importorskip("gymnasium")
    from minari.data_collector import EpisodeBuffer

    from alidade.gym import problem_from_gym

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    horizon = 10
    env = gymnasium.make("CliffWalking-v1", max_episode_steps=7)
    seen, buffers = [], []
    draws = np.random.default_rng(0)
    for episode in range(12):
        states, actions, over = [int(env.reset(seed=episode)[0])], [], False
        while not over:
            actions.append(int(draws.integers(0, 4)))
            state, _, _, over, _ = env.step(actions[-1])
            states.append(int(state))
        seen.append((states, actions))
        ends = [False] * 6 + [True]
        buffers.append(
            EpisodeBuffer(id=episode, observations=states, actions=actions, rewards=[0.0] * 7, terminations=[False] * 7, truncations=ends)
        )
    dataset = minari.create_dataset_from_buffers("cliff/test-v0", buffers, env=env)
    problem = problem_from_gym(["CliffWalking-v1"], horizon=horizon)
    for source in (dataset, "cliff/test-v0"):
        found = episodes_from(source, problem)
        assert not found.complete.any() and (found.states[:, 8:] == -1).all()
        assert found.states[:, :8].tolist() == [states for states, _ in seen]
        assert found.actions[:, :7].tolist() == [actions for _, actions in seen]


def test_what_terminates_in_a_dataset_stays():
    gymnasium = pytest.importorskip("gymnasium")
    from types import SimpleNamespace

    from alidade.gym import problem_from_gym

    problem = problem_from_gym(["CliffWalking-v1"], horizon=6)
    goal = SimpleNamespace(
        observations=np.array([35, 47]), actions=np.array([2]), terminations=np.array([True]), truncations=np.array([False])
    )
    dataset = SimpleNamespace(
        observation_space=gymnasium.spaces.Discrete(48), action_space=gymnasium.spaces.Discrete(4), iterate_episodes=lambda: iter([goal])
    )
    states, actions, complete = episodes_from(dataset, problem)
    assert states.tolist() == [[35, 48, 48, 48, 48, 48]] and complete.all()
    assert actions.tolist() == [[2, 0, 0, 0, 0, -1]]


def test_tracking_hands_every_certificate_over(river, tmp_path):
    run = alidade.Run.create(tmp_path / "run", river, seed=1)
    watched, replayed = [], []
    run.explore(episodes=3000, observe=track(lambda metrics, step: watched.append((step, dict(metrics))), seconds=0))
    assert watched[-1][0] == 3000 and watched[-1][1]["alidade/certificate"] <= 5
    replay(run, lambda metrics, step: replayed.append((step, metrics["alidade/certificate"])))
    assert replayed[-1][0] == 3000
    assert min(bound for _, bound in replayed) == pytest.approx(watched[-1][1]["alidade/certificate"])
