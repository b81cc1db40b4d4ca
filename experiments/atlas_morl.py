#!/usr/bin/env python3
"""The atlas against MORL-Baselines' linear support where both can be had: a known model, and no loss allowed.

    PYTHONPATH=build/dev/python build/experiments/morl/bin/python3 experiments/atlas_morl.py [--quick] [--seconds N] [--only NAME]

Both are to find the convex coverage set: the values of policies of which each is the best one for some weights. Linear support
(Roijers; pip install morl-baselines) asks a planner at corner weights; here the planner is the library's own, so that what
differs is the search. Both are compared with exact planning at many weights, and with each other: largest difference of the best
weighted value, and of the extreme points. The models have one base model, so there is nothing to learn: random ones, and the
warehouse's learned model taken for the truth. Linear support solves a linear program, by cvxpy, for every corner in every
round, so that it is given a limit; where it did not end, what it has found by then is compared.

As published, linear support rounds values to four digits before it enumerates corners, and takes weights for the same that differ
by less than 1e-5 of their size: constants in its code, so that it cannot be exact beyond them. For a comparison to 1e-6 its module
is given a numpy whose `round` keeps twelve digits and whose `allclose` tells apart what differs by 1e-10, and corners are tried
unless its linear program says that nothing beyond the accuracy of that program can be gained there. Nothing else of it is
touched. Each model is shown both ways, `sharp` and `published`.
"""

import argparse
import contextlib
import io
import sys
import time
import types

import numpy as np
from scipy.optimize import linprog

import alidade


class SharpNumpy:
    """numpy, but that what was rounded to a few digits keeps twelve, and what is within 1e-10 alone is the same."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def round(values, decimals=0):
        return np.round(values, decimals=max(decimals, 12))

    @staticmethod
    def allclose(one, other):
        return np.allclose(one, other, rtol=0, atol=1e-10)


def linear_support(sharp):
    """The class, without torch: its module imports torch for annotations of agents that it does not use."""
    if "torch" not in sys.modules:
        try:
            import torch  # noqa: F401
        except ImportError:
            torch, nn = types.ModuleType("torch"), types.ModuleType("torch.nn")
            torch.nn, nn.Module, torch.device, torch.Tensor = nn, object, object, object
            sys.modules.update({"torch": torch, "torch.nn": nn})
    from morl_baselines.multi_policy.linear_support import linear_support as module

    module.np = SharpNumpy() if sharp else np
    return module.LinearSupport


class Known:
    """A model that is known, and objectives."""

    def __init__(self, name, law, horizon, start, rewards):
        self.name, self.rewards = name, rewards
        self.problem = alidade.Problem([law], horizon=horizon, truth=[1.0], start=start, homogeneous=True)
        self.model = self.problem.true_model()
        self.count = len(rewards)

    def plan(self, weights):
        """An optimal policy for the weights, its value, and its value of each objective."""
        reward = np.clip(sum(w * np.asarray(r) for w, r in zip(weights, self.rewards.values())), 0, 1)
        plan = alidade.backward_induction(self.model, reward)
        return plan.value, np.array([alidade.evaluate(self.model, plan.policy, r).value for r in self.rewards.values()])


def by_atlas(known):
    exploration = alidade.Exploration(known.problem)
    exploration.run(episodes=1)
    knowledge = exploration.knowledge
    began = time.perf_counter()
    atlas = knowledge.atlas(known.rewards, loss=0, shortest_edge=1e-7, threads=1)
    seconds = time.perf_counter() - began
    return np.array([list(plan.model_values.values()) for plan in atlas.policies]), seconds, atlas


def by_linear_support(known, limit, sharp):
    support = linear_support(sharp)(num_objectives=known.count, epsilon=-1e-6 if sharp else 0.0, verbose=False)
    began, plans = time.perf_counter(), 0
    with contextlib.redirect_stdout(io.StringIO()):
        while time.perf_counter() - began < limit:
            weights = support.next_weight()
            if support.ended():
                break
            support.add_solution(known.plan(weights)[1], weights)
            plans += 1
    return np.array(support.ccs), time.perf_counter() - began, plans, support.ended()


def extreme(values, room=1e-7):
    """Those that are better than all others for some weights, by more than `room`."""
    kept = []
    for v in values:  # of equals the first
        if not any(np.abs(v - u).max() <= 1e-9 for u in kept):
            kept.append(v)
    kept = np.array(kept)
    best = []
    for i, v in enumerate(kept):
        others = np.delete(kept, i, axis=0)
        if len(others) == 0:
            return kept
        # max t: w (v - u) >= t for all others u
        count = kept.shape[1]
        found = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.hstack([others - v, np.ones((len(others), 1))]),
            b_ub=np.zeros(len(others)),
            A_eq=[np.append(np.ones(count), 0.0)],
            b_eq=[1.0],
            bounds=[(0, 1)] * count + [(None, None)],
        )
        if -found.fun > room:
            best.append(v)
    return np.array(best)


def farthest(points, others):
    """The largest distance from a point to the nearest of the others."""
    return max(np.abs(others - p).max(axis=1).min() for p in points)


def compare(known, weights, limit, sharp):
    atlas_values, atlas_seconds, atlas = by_atlas(known)
    support_values, support_seconds, plans, ended = by_linear_support(known, limit, sharp)
    draws = np.random.default_rng(5).dirichlet(np.ones(known.count), size=weights)
    # Corners of the atlas's cells are where plans change, so that misses would show there first.
    tried = np.vstack([draws, atlas.corners[:weights]])
    best = np.array([known.plan(w)[0] for w in tried])
    short = [float((best - (tried @ values.T).max(axis=1)).max()) for values in (atlas_values, support_values)]
    apart = float(np.abs((tried @ atlas_values.T).max(axis=1) - (tried @ support_values.T).max(axis=1)).max())
    ours, theirs = extreme(atlas_values), extreme(support_values)
    points = max(farthest(ours, theirs), farthest(theirs, ours))
    print(
        f"| {known.name}, {'sharp' if sharp else 'published'} | {known.count} | {len(ours)}, {len(theirs)} | {apart:.1e} | {points:.1e} | {short[0]:.1e}, {short[1]:.1e} "
        f"| {atlas.loss_bound:.1e} ({atlas.limit}) | {atlas.certificates}, {plans} | {atlas_seconds:.2f}, {support_seconds:.1f}{'' if ended else ' (not ended)'} |",
        flush=True,
    )
    return apart if ended else 0.0, short[0]


def models(quick):
    sizes = [(3, 2, 3, 2), (3, 2, 3, 3)] if quick else [(3, 2, 3, 2), (4, 2, 4, 2), (6, 3, 4, 2), (3, 2, 3, 3), (4, 2, 3, 3), (3, 2, 3, 4)]
    for seed, (states, actions, horizon, count) in enumerate(sizes):
        draws = np.random.default_rng(seed)
        law = draws.dirichlet(np.full(states, 0.5), size=(states, actions))
        rewards = {f"objective {i + 1}": draws.random((states, actions)) for i in range(count)}
        yield Known(f"random, {states} states, {actions} actions, {horizon} steps", law, horizon, 0, rewards)
    problem = alidade.make_builtin("builtin:inventory?seed=1")
    exploration = alidade.Exploration(problem, seed=1)
    exploration.run(episodes=1_000 if quick else 10_000)
    model, shape = exploration.knowledge.model, problem.shape
    law = model.to_arrays("sas", step=0)
    start = model.start.to_array(shape.states)
    for names in [("service-level", "holding-cost"), ("service-level", "holding-cost", "balanced")]:
        yield Known("warehouse, learned", law, shape.horizon, start, {name: problem.rewards[name].values for name in names})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer models and weights")
    parser.add_argument("--seconds", type=float, help="that linear support is given, a model [120; 20 with --quick]")
    parser.add_argument("--only", default="", help="models whose name has this")
    options = parser.parse_args()
    weights, limit = (200, 20) if options.quick else (2_000, 120)
    limit = options.seconds or limit
    linear_support(True)  # importing it takes seconds
    print("Of each pair of numbers the first is the atlas's, the second linear support's.\n")
    print(
        "| model | objectives | extreme points | best weighted value, apart | extreme points, apart | short of exact planning "
        "| atlas: loss at most | certificates, plans | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    chosen = [known for known in models(options.quick) if options.only in known.name]
    found = {sharp: [compare(known, weights, limit, sharp) for known in chosen] for sharp in (True, False)}
    apart = max(each[0] for each in found[True])
    short = max(each[1] for each in found[True] + found[False])
    print(f"\nWhere both ended, sharp, the best weighted values are the same to {apart:.1e}; the atlas is short of exact planning by {short:.1e}.")
    return 0 if max(apart, short) <= 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
