"""The files that `alidade plan --planner cmd:...` exchanges with a planner, for planners in Python.

    model = alidade_model.read("model.json")     # or model.npz
    alidade_model.write_policy("policy.json", actions, value=3.2, accuracy=0.0, planner="mine")

docs/planners.md describes both files. Needs numpy and scipy.
"""

import json

import numpy as np
import scipy.sparse


class Model:
    """A model of H steps, S states and A actions with its reward.

    transitions[h] is a SciPy CSR matrix of shape (S*A, S): row s*A+a is the law of the next state.
    rewards has shape (H, S, A), start is the law of the first state.
    """

    def __init__(self, transitions, rewards, start):
        self.transitions, self.rewards, self.start = transitions, rewards, start
        self.horizon, self.states, self.actions = rewards.shape

    def value(self, first_values):
        """The value at the start, from the values of the states at step 0."""
        return float(self.start @ np.asarray(first_values))

    def by_action(self, h):
        """A matrices of shape (S, S): the law of the next state after each action at step h."""
        return [self.transitions[h][a::self.actions] for a in range(self.actions)]

    def unrolled(self):
        """The model as one that does not know of time: (transitions, rewards, first, end).

        State h*S+s is state s at step h; every action of the last step leads to state `end` = H*S, which earns
        nothing and leads to itself by every action. A start law over several states adds the state H*S+1, from
        which every action is drawn from that law; `first` is where an episode begins. transitions is a CSR
        matrix of shape (n*A, n), rewards has shape (n, A).
        """
        layer, end = self.states * self.actions, self.horizon * self.states
        first = int(np.argmax(self.start))
        spread = np.count_nonzero(self.start) > 1
        n = end + 1 + spread
        blocks = []
        for h in range(self.horizon - 1):
            law = self.transitions[h].tocoo()
            blocks.append((law.data, law.row + h * layer, law.col + (h + 1) * self.states))
        last = (end - self.states) * self.actions
        to_end = np.arange(last, last + layer + self.actions)
        blocks.append((np.ones(len(to_end)), to_end, np.full(len(to_end), end)))
        if spread:
            first = end + 1
            targets = np.flatnonzero(self.start)
            for a in range(self.actions):
                row = np.full(len(targets), first * self.actions + a)
                blocks.append((self.start[targets], row, targets))
        data, rows, columns = (np.concatenate(part) for part in zip(*blocks))
        transitions = scipy.sparse.csr_matrix((data, (rows, columns)), shape=(n * self.actions, n))
        transitions.eliminate_zeros()
        rewards = np.zeros((n, self.actions))
        rewards[:end] = self.rewards.reshape(end, self.actions)
        return transitions, rewards, first, end

    def folded(self, choices):
        """The policy, H rows of S actions, from one choice for each state of the unrolled model."""
        return np.asarray(choices)[:self.horizon * self.states].reshape(self.horizon, self.states)


def read(path):
    """The model of a file written with --planner-format json or npz."""
    return _read_npz(path) if str(path).endswith(".npz") else _read_json(path)


def _read_json(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if document.get("format") != "alidade-model" or document.get("version") != 1:
        raise SystemExit(f"{path}: not an alidade-model of version 1")
    S, A, H = document["states"], document["actions"], document["horizon"]
    offsets, targets = np.array(document["offsets"]), np.array(document["targets"])
    # What all steps share is there once.
    laws = [scipy.sparse.csr_matrix((np.array(law, dtype=float), targets, offsets), shape=(S * A, S))
            for law in document["probabilities"]]
    rewards = np.array(document["rewards"], dtype=float).reshape(-1, S, A)
    start = np.zeros(S)
    for state, probability in document["start"]:
        start[state] += probability
    return Model(laws * H if len(laws) == 1 else laws, np.broadcast_to(rewards, (H, S, A)), start)


def _read_npz(path):
    with np.load(path) as arrays:
        rewards, start = arrays["rewards"], arrays["start"]
        H, S, A = rewards.shape
        law = scipy.sparse.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]),
                                      shape=(H * S * A, S))
    return Model([law[h * S * A:(h + 1) * S * A] for h in range(H)], rewards, start)


def write_policy(path, actions, value=None, accuracy=None, planner=None):
    """Writes H rows of S actions, with what the planner claims."""
    _write(path, {"policy": np.asarray(actions, dtype=int).tolist()}, value, accuracy, planner)


def write_choices(path, choices, value=None, accuracy=None, planner=None):
    """Writes one choice for each state of the unrolled model, with what the planner claims."""
    _write(path, {"choices": [int(choice) for choice in choices]}, value, accuracy, planner)


def _write(path, document, value, accuracy, planner):
    claims = {"value": value, "accuracy": accuracy, "planner": planner}
    document.update({name: claim for name, claim in claims.items() if claim is not None})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
        file.write("\n")
