"""Arrays in and out: no copies where the layout allows, any type of number, and the command line's words."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import alidade


def rows(kernel: np.ndarray) -> scipy.sparse.csr_matrix:
    return scipy.sparse.csr_matrix(kernel.reshape(-1, kernel.shape[-1]))


def test_layouts_hold_the_same_kernel(two_laws):
    dense = alidade.FeatureMap.from_base_kernels(two_laws)
    by_action = [kernel.transpose(1, 0, 2) for kernel in two_laws]
    matrices = [[scipy.sparse.csr_matrix(kernel[:, a]) for a in range(2)] for kernel in two_laws]
    others = [
        alidade.FeatureMap.from_base_kernels([rows(kernel) for kernel in two_laws]),
        alidade.FeatureMap.from_base_kernels([kernel.reshape(6, 3) for kernel in two_laws]),
        alidade.FeatureMap.from_base_kernels(by_action, layout="ass"),
        alidade.FeatureMap.from_base_kernels(matrices, layout="ass"),
        alidade.FeatureMap.from_base_kernels([kernel.transpose(2, 1, 0) for kernel in two_laws], layout="julia"),
        alidade.FeatureMap.from_base_kernels([dense.base_kernel(i) for i in range(2)], states=3),
    ]
    for other in others:
        assert np.array_equal(other.values, dense.values)
        assert np.array_equal(other.targets, dense.targets)
    assert np.allclose(dense.values.reshape(3, 2, 3, 2)[..., 0], two_laws[0], atol=1e-15)


@pytest.mark.parametrize("layout", ["sas", "ass", "julia"])
def test_to_arrays_inverts(two_laws, layout):
    model = alidade.TransitionModel(two_laws[0], horizon=3)
    array = model.to_arrays(layout)
    expected = {"sas": two_laws[0], "ass": two_laws[0].transpose(1, 0, 2), "julia": two_laws[0].transpose(2, 1, 0)}
    assert np.allclose(array, expected[layout], atol=1e-15)
    assert array.flags.c_contiguous


def test_models_that_depend_on_time(two_laws):
    model = alidade.TransitionModel(np.array([*two_laws, two_laws[0]]), horizon=3)
    assert not model.homogeneous
    arrays = model.to_arrays()
    assert len(arrays) == 3 and np.allclose(arrays[1], two_laws[1], atol=1e-15)
    layered = model.to_arrays("layered").toarray().reshape(10, 2, 10)
    assert np.allclose(layered[3:6, :, 6:9], two_laws[1], atol=1e-15)  # step 1 leads to step 2
    assert np.allclose(layered[6:, :, 9], 1) and np.allclose(layered.sum(axis=2), 1)


def test_views_are_of_the_library(problem):
    model = alidade.TransitionModel(rows(np.eye(3)[:, None, :].repeat(2, axis=1)), horizon=3)
    reward = alidade.Reward(np.ones((3, 2)), model.shape)
    policy = alidade.Policy(np.zeros((3, 3), dtype=int), model.shape)
    plan = alidade.backward_induction(model, reward)
    truth = problem.true_model()
    for first, second in [
        (model.probabilities(0), model.probabilities(1)),
        (model.successors.targets, model.successors.targets),
        (model.successors.offsets, model.successors.offsets),
        (problem.features.values, problem.features.values),
        (reward.values, reward.values),
        (policy.actions, policy.actions),
        (plan.values, plan.values),
        (truth.weights, truth.weights),
        (problem.truth, problem.truth),
    ]:
        assert np.shares_memory(first, second)
        assert not first.flags.writeable
        with pytest.raises(ValueError):
            first[...] = 0


def test_views_outlive_what_they_are_of(two_laws):
    values = alidade.FeatureMap.from_base_kernels(two_laws).values
    kept = values.copy()
    junk = [np.ones(values.shape) for _ in range(100)]
    assert np.array_equal(values, kept) and junk


def test_csr_out_shares_data(two_laws):
    model = alidade.TransitionModel(two_laws[0], horizon=3)
    matrix = model.to_arrays("sas_csr")
    assert np.shares_memory(matrix.data, model.probabilities(0))
    assert np.shares_memory(matrix.indices, model.successors.targets)
    assert np.allclose(matrix.toarray().reshape(3, 2, 3), two_laws[0], atol=1e-15)
    by_action = model.to_arrays("ass_csr")
    assert np.allclose(by_action[1].toarray(), two_laws[0][:, 1], atol=1e-15)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, bool])
def test_any_integer(dtype):
    shape = alidade.Shape(np.int32(2), np.uint8(2), 3)
    policy = alidade.Policy(np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype), shape)
    action = policy(np.int64(0), dtype(0))
    assert type(action) is int and action == 1


def test_plain_numbers_come_back(problem):
    exploration = alidade.Exploration(problem)
    exploration.run(episodes=np.int64(100))
    assert type(exploration.knowledge.certificate.bound) is float
    assert type(exploration.knowledge.episodes) is int
    assert type(problem.shape.states) is int
    assert type(exploration.knowledge.plan(np.zeros((3, 2))).loss_bound) is float


def test_single_precision_and_strides(two_laws):
    single = [kernel.astype(np.float32) for kernel in two_laws]
    features = alidade.FeatureMap.from_base_kernels(single)
    assert np.allclose(features.values.reshape(3, 2, 3, 2).sum(axis=2), 1, atol=1e-15)
    strided = np.empty((3, 4, 6))
    strided[:, ::2, ::2] = two_laws[0]
    views = alidade.FeatureMap.from_base_kernels([strided[:, ::2, ::2], np.asfortranarray(two_laws[1])])
    assert np.array_equal(views.values, alidade.FeatureMap.from_base_kernels(two_laws).values)
    policy = alidade.Policy(np.full((3, 3), 1 / 3, dtype=np.float32), alidade.Shape(3, 3, 2))
    assert np.allclose(policy.probabilities.sum(axis=2), 1, atol=1e-15)


def broken(two_laws, change):
    kernel = two_laws[0].copy()
    change(kernel)
    return kernel


def set_at(value):
    def change(kernel):
        kernel[1, 0, 2] = value

    return change


@pytest.mark.parametrize("value", [np.nan, -0.25, 0.9, np.inf])
def test_bad_kernels_in_the_words_of_the_command_line(two_laws, tool, tmp_path, value):
    kernel = broken(two_laws, set_at(value))
    with pytest.raises(ValueError) as refused:
        alidade.Problem([kernel], horizon=2, names=["mine"])
    folder = tmp_path / "problem"
    alidade.Problem([two_laws[0]], horizon=2, names=["mine"], truth=[1.0]).save(folder)
    (file,) = (folder / "base").glob("*.npz")
    scipy.sparse.save_npz(file, rows(kernel))
    said = subprocess.run([tool, "check", folder, "--json"], capture_output=True, text=True)
    assert said.returncode == 2
    what = json.loads(said.stdout or said.stderr)["error"]["what"]
    # What is wrong, and where; what the command line adds is what to do about a file.
    assert str(refused.value)[len("mine: ") :].split(";")[0] in what
    assert str(refused.value).startswith("mine: ")
    assert isinstance(refused.value, alidade.InvalidArgument)


def test_large_bad_kernels_are_named_too():
    states = 1200
    kernel = np.full((states, 1, states), 1 / states)
    kernel[7, 0, 3] = 0.5
    with pytest.raises(ValueError, match=r"base model 0: row of state 7, action 0 sums to 1\.49.*1 row"):
        alidade.FeatureMap.from_base_kernels([kernel])


def test_wrong_shapes(two_laws):
    shape = alidade.Shape(3, 2, 4)
    cases = [
        (lambda: alidade.Reward(np.zeros((2, 3)), shape), r"reward has shape \(2, 3\); must be \(3, 2\)"),
        (lambda: alidade.Policy(np.zeros((4, 2), dtype=int), shape), r"policy has shape \(4, 2\); must be \(4, 3\)"),
        (lambda: alidade.Policy(np.full((4, 3), 2), shape), "policy: action 2 at step 0, state 0; must be 0 to 1"),
        (lambda: alidade.Policy(np.zeros((4, 3, 2)), shape), "policy: probabilities at step 0, state 0 sum to 0"),
        (lambda: alidade.Problem(two_laws, horizon=2, start=5), "initial state 5; must be 0 to 2"),
        (lambda: alidade.Problem([two_laws[0][:, :, :2]], horizon=2), r"shape is \(3, 2, 2\)"),
        (lambda: alidade.Problem([two_laws[0], np.eye(3)], horizon=2), r"base model 1: shape is \(3, 3\); must be \(6, 3\)"),
        (lambda: alidade.Reward(["a", "b", "c"], shape), "reward holds values of type"),
        (lambda: alidade.Shape(0, 1, 1), "0"),
    ]
    for make, words in cases:
        with pytest.raises(ValueError, match=words):
            make()


def test_start_laws():
    for law in [{0: 0.25, 2: 0.75}, [0.25, 0, 0.75], np.array([0.25, 0, 0.75]), [(0, 0.25), (2, 0.75)]]:
        assert alidade.StartLaw(law).atoms == [(0, 0.25), (2, 0.75)]
    assert alidade.StartLaw(np.int16(2)).to_array(3).tolist() == [0, 0, 1]


def test_grid_cells():
    grid = alidade.Grid([(0, 1, 4), (0, 2, 2)])
    points = np.array([[0.1, 0.1], [0.9, 1.9], [-5, 5]])
    assert grid.cells_of(points).tolist() == [0, 7, 1] == [grid.cell_of(point) for point in points]


def test_tables_are_adopted(two_laws):
    made = alidade.FeatureMap.from_base_kernels(two_laws)
    values, offsets, targets = made.values.copy(), made.offsets.copy(), made.targets.copy()
    features = alidade.FeatureMap.from_table(values, offsets, targets, 3)
    assert np.shares_memory(features.values, values) and np.shares_memory(features.targets, targets)
    assert not values.flags.writeable
    del values, offsets, targets
    assert np.array_equal(features.values, made.values)
    with pytest.raises(ValueError, match="targets must be a contiguous NumPy array of int32"):
        alidade.FeatureMap.from_table(made.values, made.offsets, made.targets.astype(np.int64), 3)
    bad = made.values.copy()
    bad[0] += 0.5
    with pytest.raises(ValueError, match="state 0, action 0"):
        alidade.FeatureMap.from_table(bad, made.offsets, made.targets, 3)


def test_large_models_are_handed_over_without_copies():
    """A hundred thousand states, in and out: the process grows by far less than one copy."""
    script = """
import resource, numpy as np, scipy.sparse, alidade
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
states, actions, successors, d = 100_000, 4, 10, 2
pairs = states * actions
draws = np.random.default_rng(1)
targets = (np.arange(pairs, dtype=np.int64)[:, None] // actions + np.arange(successors) * 97) % states
targets = np.sort(targets, axis=1).astype(np.int32).ravel()
values = np.zeros((pairs * successors, d))
values[:, 0] = 1 / 8
values[:, 1] = 1 / 16
values.reshape(pairs, successors, d)[:, 8:, 0] = 0
values.reshape(pairs, successors, d)[:, :6, 1] = 1 / 8
offsets = np.arange(0, pairs * successors + 1, successors, dtype=np.int64)
before = peak()
features = alidade.FeatureMap.from_table(values, offsets, targets, states)
problem = alidade.Problem(features, horizon=2, homogeneous=True, truth=[0.5, 0.5])
print(values.nbytes + targets.nbytes, peak() - before)
model = problem.true_model()
before = peak()
matrix = model.to_arrays("sas_csr", step=0)
assert np.shares_memory(matrix.indices, model.successors.targets)
assert np.shares_memory(matrix.data, model.probabilities(0))
print(matrix.data.nbytes + matrix.indices.nbytes, peak() - before)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    for line in said.stdout.splitlines():
        size, grown = map(int, line.split())
        assert grown < size / 4, said.stdout
