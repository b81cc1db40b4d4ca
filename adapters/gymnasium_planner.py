#!/usr/bin/env python3
"""Plans by value iteration over the `P` dictionary of Gymnasium's toy-text environments: P[s][a] lists
(probability, next state, reward, terminated).

    alidade plan RUN --reward R --planner 'cmd:python3 adapters/gymnasium_planner.py {model} {policy}'

The model is unrolled, so that state h*S+s is state s at step h, and a step after the horizon is terminated. This
is what tutorials do with `env.unwrapped.P`; any solver written for that dictionary can take the place of
`value_iteration`. Exact up to rounding after H+1 sweeps, because the unrolled model has no cycles.
"""

import json
import sys

import alidade_model


def dictionary_of(model):
    """P and initial_state_distrib of the unrolled model."""
    S, A, end = model.states, model.actions, model.horizon * model.states
    P = {end: {a: [(1.0, end, 0.0, True)] for a in range(A)}}
    for h in range(model.horizon):
        law, last = model.transitions[h], h + 1 == model.horizon
        for s in range(S):
            P[h * S + s] = {}
            for a in range(A):
                reward = float(model.rewards[h, s, a])
                begin, stop = law.indptr[s * A + a], law.indptr[s * A + a + 1]
                P[h * S + s][a] = [(1.0, end, reward, True)] if last else [
                    (float(law.data[i]), int((h + 1) * S + law.indices[i]), reward, False)
                    for i in range(begin, stop)]
    return P, list(model.start) + [0.0] * (end + 1 - S)


def value_iteration(P):
    """The values of all states and a best action in each, without discount."""
    def worth(branches, values):
        return sum(p * (reward + (0.0 if terminated else values[following]))
                   for p, following, reward, terminated in branches)

    values = dict.fromkeys(P, 0.0)
    while True:
        swept = {s: max(worth(branches, values) for branches in P[s].values()) for s in P}
        if swept == values:
            break
        values = swept
    return values, {s: max(P[s], key=lambda a: worth(P[s][a], values)) for s in P}


def read(path):
    """P and initial_state_distrib of a file of --planner-format gym, or of an alidade model."""
    if not path.endswith(".npz"):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if "P" in document:
            P = {int(s): {int(a): branches for a, branches in actions.items()}
                 for s, actions in document["P"].items()}
            return P, document["initial_state_distrib"]
    return dictionary_of(alidade_model.read(path))


def main(model_file, policy_file):
    P, start = read(model_file)
    values, actions = value_iteration(P)
    value = sum(probability * values[s] for s, probability in enumerate(start))
    alidade_model.write_choices(policy_file, [actions[s] for s in range(len(P))], value, 0.0, "value iteration")


if __name__ == "__main__":
    main(*sys.argv[1:])
