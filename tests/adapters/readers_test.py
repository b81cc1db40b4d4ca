#!/usr/bin/env python3
"""The tools that a format is for read what is exported in it, and find the same optimum there.

    readers_test.py --tool PATH

Each file is read by somebody else's reader, and the best total reward is then computed here from what that reader
made of it. It must be what the tool's backward induction has, which its own tests compare with an enumeration.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy
import payntbind
import stormpy
import umbi.umb

sys.path.insert(0, str(Path(__file__).resolve().parent))
from adapters_test import problems, run  # noqa: E402

ACCURACY = 1e-9


def best(first_choice, transitions, rewards, initial, nature=None):
    """The best total reward from state `initial`; it ends, as models are unrolled. `transitions` is a list of
    [(next, probability)] a choice; with `nature`, probabilities are intervals, and that picks the worst or best law."""
    value = numpy.zeros(len(first_choice) - 1)
    while True:
        earned = [reward + (nature(row, value) if nature else sum(p * value[t] for t, p in row))
                  for row, reward in zip(transitions, rewards)]
        now = numpy.array([max(earned[a:b]) for a, b in zip(first_choice, first_choice[1:])])
        if numpy.array_equal(now, value):
            return value[initial]
        value = now


def worst_law(row, value):
    """Least expectation over the laws within intervals (next, lower, upper)."""
    mass, total = 1 - sum(low for _, (low, _) in row), sum(low * value[t] for t, (low, _) in row)
    for target, (low, high) in sorted(row, key=lambda entry: value[entry[0]]):
        share = min(mass, high - low)
        mass, total = mass - share, total + share * value[target]
    return total


def real(number):
    """Of a model with intervals rewards are intervals, too, of one number."""
    return float(number.lower() if isinstance(number, stormpy.Interval) else number)


def of_storm(model, reward, number=float):
    """What `best` needs of a model of stormpy's."""
    matrix = model.transition_matrix
    groups = [matrix.get_row_group_start(s) for s in range(model.nr_states)] + [matrix.nr_rows]
    rows = [[(entry.column, number(entry.value)) for entry in matrix.get_row(row)] for row in range(matrix.nr_rows)]
    structure = model.reward_models[reward]
    rewards = [real(structure.state_action_rewards[row]) if structure.has_state_action_rewards else 0.0
               for row in range(matrix.nr_rows)]
    if structure.has_transition_rewards:
        earned = structure.transition_rewards  # rows are views of it
        for row in range(earned.nr_rows):
            chances = dict(rows[row])
            rewards[row] += sum(real(entry.value) * chances[entry.column] for entry in earned.get_row(row))
    for state in range(model.nr_states):
        for row in range(groups[state], groups[state + 1]):
            rewards[row] += real(structure.get_state_reward(state)) if structure.has_state_rewards else 0.0
    return groups, rows, rewards, model.initial_states[0]


def ends(interval):
    return float(interval.lower()), float(interval.upper())


def drn(path, reward):
    return best(*of_storm(stormpy.build_model_from_drn(str(path)), reward))


def drn_interval(path, reward):
    model = stormpy.build_model_from_drn[stormpy.Interval](str(path))
    return best(*of_storm(model, reward, ends), nature=worst_law)


def umb_storm(path, reward):
    return best(*of_storm(stormpy.build_model_from_umb(str(path)), reward))


def umb_umbi(path, _):
    model = umbi.umb.read(str(path))
    branches, targets, chances = model.choice_to_branches, model.branch_to_target, model.branch_to_probability
    rows = [list(zip(targets[a:b], chances[a:b])) for a, b in zip(branches, branches[1:])]
    (reward,) = model.annotations["rewards"].values()
    return best(model.state_to_choices, rows, reward["choices"], model.state_is_initial.index(True))


def explicit(path, _):
    model = stormpy.build_model_from_explicit(str(path), str(path.with_suffix(".lab")),
                                              state_rewards=str(path.with_suffix(".srew")),
                                              transition_rewards=str(path.with_suffix(".trew")))
    return best(*of_storm(model, next(iter(model.reward_models))))


def gym(path, _):
    content = json.loads(path.read_text())
    groups, rows, rewards = [0], [], []
    for state in range(len(content["P"])):
        for law in content["P"][str(state)].values():
            rows.append([(target, chance) for chance, target, _, _ in law])
            rewards.append(sum(chance * reward for chance, _, reward, _ in law))
        groups.append(len(rows))
    return best(groups, rows, rewards, content["initial_state_distrib"].index(1))


def npz(path, _):
    arrays = numpy.load(path)
    groups, offsets = arrays["state_to_choices"], arrays["choice_to_branches"]
    chances = list(zip(arrays["lower"], arrays["upper"])) if "upper" in arrays else arrays["lower"]
    rows = [list(zip(arrays["targets"][a:b], chances[a:b])) for a, b in zip(offsets, offsets[1:])]
    rewards = numpy.repeat(arrays["state_rewards"][:, 0], numpy.diff(groups)) + arrays["choice_rewards"][:, 0]
    return best(groups, rows, rewards, arrays["initial_states"][0], worst_law if "upper" in arrays else None)


def cassandra(path, _):
    manager = payntbind.synthesis.parse_decpomdp(str(path))  # the reader of the MADP toolbox
    if manager is None:
        raise SystemExit(f"{path}: refused")
    return best(*of_storm(manager.construct_pomdp(), manager.reward_model_name))


# Who reads it, format, view, file name.
READERS = [
    ("stormpy", drn, "drn", "point", "m.drn"),
    ("stormpy", umb_storm, "umb", "point", "m.umb"),
    ("umbi", umb_umbi, "umb", "point", "m.umb"),
    ("stormpy", explicit, "storm-explicit", "point", "m.tra"),
    ("json", gym, "gym", "point", "m.json"),
    ("numpy", npz, "npz", "point", "m.npz"),
    ("PAYNT", cassandra, "cassandra", "point", "m.POMDP"),
    ("numpy", npz, "npz", "interval", "i.npz"),
    ("stormpy", drn_interval, "drn", "interval", "i.drn"),
]


def check(tool, folder, reward, scratch):
    """Values by (who, format, view), and what they should be."""
    plan = json.loads(run(tool, "plan", folder, "--reward", reward, "--json", "--quiet"))
    wanted = {"point": plan["measured"]["optimal"]}
    for who, reader, form, view, file in READERS:
        path = scratch / who / file
        path.parent.mkdir(parents=True, exist_ok=True)
        said = json.loads(run(tool, "export", folder, "--as", form, "--view", view, "--reward", reward, "-o", path,
                              "--json"))
        value = reader(path, said["rewards"][0])
        # Nature can only take away; the first reader of intervals is held against that, others against it.
        right = (abs(value - wanted[view]) <= ACCURACY if view in wanted else
                 0 < value < wanted["point"])
        wanted.setdefault(view, value)
        yield f"{form}, {view} view, by {who}: {value:.12f}, should be {wanted[view]:.12f}", right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, required=True)
    tool, checks, failures = parser.parse_args().tool.resolve(), 0, []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for number, (name, problem, rewards) in enumerate(problems(tool, scratch)):
            folder = scratch / f"run{number}"
            run(tool, "explore", problem, "-o", folder, "--episodes", 2000, "--quiet")
            for line, right in check(tool, folder, rewards[0], scratch / f"files{number}"):
                print(f"{name}: {line}", flush=True)
                checks += 1
                failures += [] if right else [f"{name}: {line}"]
    if failures:
        raise SystemExit("\n".join(["failed:"] + failures))
    print(f"{checks} files read by other tools, the same optimum in each")


if __name__ == "__main__":
    main()
