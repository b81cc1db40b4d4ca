#!/usr/bin/env python3
"""Plans with Storm: the unrolled model, R{"r"}max=? [F "end"], and the scheduler that attains it.

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/storm_planner.py {model} {policy}'

Reads an alidade model (.json, .npz) or a DRN file with labels `init` and `end` and one reward structure. The
unrolled model has no cycles, which Storm solves exactly up to rounding and says so; the accuracy claimed is
the distance of the bounds that it reports, or 1e-6, its default, where it reports none. Needs stormpy 2.0.
"""

import sys
import tempfile
from pathlib import Path

import stormpy

import alidade_model


def write_drn(path, model):
    """The unrolled model in Storm's direct encoding; numbers are the shortest that read back the same."""
    transitions, rewards, first, end = model.unrolled()
    n, A = rewards.shape
    with open(path, "w", encoding="utf-8") as file:
        file.write("@type: MDP\n@value_type: double\n@parameters\n\n@reward_models\nr\n"
                   f"@nr_states\n{n}\n@nr_choices\n{n * A}\n@model\n")
        for state in range(n):
            labels = " init" * (state == first) + " end" * (state == end)
            file.write(f"state {state} [0]{labels}\n")
            for action in range(A):
                row = state * A + action
                entries = range(transitions.indptr[row], transitions.indptr[row + 1])
                file.write(f"\taction {action} [{float(rewards[state, action])!r}]\n")
                file.writelines(f"\t\t{transitions.indices[i]} : {float(transitions.data[i])!r}\n"
                                for i in entries)


def check(drn):
    """Choices of all states, the value at the start, and how far Storm says it may be from it."""
    model = stormpy.build_model_from_drn(str(drn))
    reward = next(iter(model.reward_models))
    goal = stormpy.parse_properties(f'R{{"{reward}"}}max=? [F "end"]')[0]
    result = stormpy.model_checking(model, goal, extract_scheduler=True)
    scheduler = result.get_scheduler()
    choices = [scheduler.get_choice(state).get_deterministic_choice() for state in range(model.nr_states)]
    first = model.initial_states[0]
    accuracy = 1e-6
    if result.has_lower_bounds() and result.has_upper_bounds():
        accuracy = result.get_upper_bound(first) - result.get_lower_bound(first)
    return choices, result.get_value(first), max(0.0, accuracy)


def main(model_file, policy_file):
    if model_file.endswith(".drn"):
        found = check(model_file)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            drn = Path(scratch) / "model.drn"
            write_drn(drn, alidade_model.read(model_file))
            found = check(drn)
    choices, value, accuracy = found
    alidade_model.write_choices(policy_file, choices, value, accuracy, f"stormpy {stormpy.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
