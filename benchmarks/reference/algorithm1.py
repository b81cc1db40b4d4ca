#!/usr/bin/env python3
"""The sharpened Algorithm 1 as one would first write it in numpy.

Everything is recomputed in every episode: the inverse Gram matrices, the widths of all pairs by trying every
vertex, the projection, the policy. It is the yardstick for speed, and an independent voice on certificates.

    algorithm1.py --episodes N --seed s [--style loops|batched] [--json]

`loops` goes through steps, states and actions as the algorithm is printed, with all vertices of one pair in
one product. `batched` does all pairs of a step in one product: what one would arrive at after tuning.

The problem is a garnet: every pair has the same number of random successors, common to all base models; base
rows are Dirichlet(concentration), the true weights Dirichlet(1) a step. Steps are 0 .. H-1; the value after
step h lies in [0, H-1-h], so the last step is never learned.
"""

import argparse
import itertools
import json
import time

import numpy as np


class Garnet:
    """Base kernels phi[s, a, j, i] = P_i(successor[s, a, j] | s, a) and the true weights."""

    def __init__(self, states, actions, features, horizon, successors, concentration, seed):
        rng = np.random.default_rng(seed)
        self.S, self.A, self.d, self.H, self.m = states, actions, features, horizon, successors
        self.successor = np.array([[rng.choice(states, successors, replace=False) for _ in range(actions)]
                                   for _ in range(states)])
        rows = rng.dirichlet(np.full(successors, concentration), size=(states, actions, features))
        self.phi = np.swapaxes(rows, 2, 3)
        self.weights = rng.dirichlet(np.ones(features), size=horizon)

    def transition(self, rng, h, s, a):
        """Position of the next state among the successors of (s, a)."""
        p = self.phi[s, a] @ self.weights[h]
        return rng.choice(self.m, p=p / p.sum())


def project_onto_simplex(centre, metric):
    """argmin of (w - centre)' metric (w - centre) over the simplex, by the primal active set: walk towards the
    optimum of the free weights, fix the first that reaches zero, free one whose multiplier is negative."""
    d = len(centre)
    target = metric @ centre
    w, free = np.full(d, 1 / d), np.ones(d, dtype=bool)
    while True:
        n = int(free.sum())
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = metric[np.ix_(free, free)]
        system[:n, n] = system[n, :n] = 1
        solution = np.linalg.solve(system, np.append(target[free], 1.0))
        goal = np.zeros(d)
        goal[free] = solution[:n]
        if goal.min() < 0:
            step = np.where(goal < 0, w / np.where(goal < 0, w - goal, 1), np.inf)
            first = step.argmin()
            w = w + step[first] * (goal - w)
            w[first], free[first] = 0, False
            continue
        w = goal
        multiplier = np.where(free, 0, metric @ w - target + solution[n])
        if multiplier.min() >= -1e-9 * (1 + np.abs(target).max()):
            return w
        free[multiplier.argmin()] = True


class Algorithm1:
    """Ridge regression in the tangent space of the simplex: weights = centre + N z, N'1 = 0."""

    def __init__(self, problem, delta=0.1, ridge=0.25):
        self.problem, self.delta, self.ridge = problem, delta, ridge
        d = problem.d
        self.centre = np.full(d, 1 / d)
        # Orthonormal columns that sum to zero.
        self.N = np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, : d - 1]]))[0][:, 1:]
        self.psi = problem.phi @ self.N
        self.vertices = np.array(list(itertools.product((0.0, 1.0), repeat=problem.m)))
        learned = problem.H - 1
        self.gram = np.array([ridge * np.eye(d - 1)] * learned)
        self.moment = np.zeros((learned, d - 1))

    def width(self, s, a, inverse):
        """argmax over V in {0,1}^m of |psi_V(s,a)| in the metric of the inverse [paper, Alg. 1 line 8]."""
        points = self.vertices @ self.psi[s, a]
        norms = np.sqrt(np.einsum("vi,ij,vj->v", points, inverse, points))
        best = norms.argmax()
        return norms[best], self.vertices[best]

    def radius(self, h):
        """Noise one half, all of delta over the H-1 learned steps, bias sqrt(ridge (1 - 1/d))."""
        p = self.problem
        logdet = np.linalg.slogdet(self.gram[h] / self.ridge)[1]
        return (0.5 * np.sqrt(logdet + 2 * np.log((p.H - 1) / self.delta))
                + np.sqrt(self.ridge * (1 - 1 / p.d)))

    def estimate(self, h):
        """The projected weights and the radius left about them (Pythagoras)."""
        z = np.linalg.solve(self.gram[h], self.moment[h])
        unconstrained = self.centre + self.N @ z
        # Any weight on the direction 1 will do: the simplex fixes it.
        metric = self.N @ self.gram[h] @ self.N.T + np.ones((self.problem.d, self.problem.d))
        w = project_onto_simplex(unconstrained, metric)
        residual = self.N.T @ (w - unconstrained)
        return w, np.sqrt(max(0.0, self.radius(h) ** 2 - residual @ self.gram[h] @ residual))

    def plan(self):
        """E_h = max_a min{H-1-h, (H-1-h) min(1, radius * width) + P~ E_{h+1}} and its greedy policy."""
        p = self.problem
        E = np.zeros(p.S)
        policy = np.zeros((p.H - 1, p.S), dtype=int)
        achieved = np.zeros((p.H - 1, p.S, p.A, p.m))
        for h in reversed(range(p.H - 1)):
            steps_after = p.H - 1 - h
            weights, radius = self.estimate(h)
            inverse = np.linalg.inv(self.gram[h])
            now = np.zeros(p.S)
            for s in range(p.S):
                most = -1.0
                for a in range(p.A):
                    width, achieved[h, s, a] = self.width(s, a, inverse)
                    onward = (p.phi[s, a] @ weights) @ E[p.successor[s, a]]
                    # Ties of clipped values are decided by the unclipped ones.
                    unclipped = steps_after * radius * width + onward
                    if unclipped > most:
                        most, policy[h, s] = unclipped, a
                    now[s] = max(now[s], min(steps_after, steps_after * min(1, radius * width) + onward))
            E = now
        return 2 * E[0], policy, achieved

    def episode(self, rng, policy, achieved):
        p = self.problem
        s = 0
        for h in range(p.H - 1):
            a = policy[h, s]
            j = p.transition(rng, h, s, a)
            V = achieved[h][s, a]
            x = V @ self.psi[s, a]
            self.gram[h] += np.outer(x, x)
            self.moment[h] += x * (V[j] - V @ (p.phi[s, a] @ self.centre))
            s = p.successor[s, a, j]


class BatchedAlgorithm1(Algorithm1):
    """The same numbers with all pairs of a step in one product."""

    def __init__(self, problem, **options):
        super().__init__(problem, **options)
        # psi sums to zero over the successors, so V and 1 - V are alike: fix V of the first successor at 0.
        self.vertices = self.vertices[: len(self.vertices) // 2]

    def widths(self, half):
        points = self.vertices @ (self.psi @ half)
        norms = np.einsum("savp,savp->sav", points, points)
        best = norms.argmax(axis=2)
        return np.sqrt(norms.max(axis=2)), self.vertices[best]

    def plan(self):
        p = self.problem
        E = np.zeros(p.S)
        policy = np.zeros((p.H - 1, p.S), dtype=int)
        achieved = [None] * (p.H - 1)
        for h in reversed(range(p.H - 1)):
            steps_after = p.H - 1 - h
            weights, radius = self.estimate(h)
            width, achieved[h] = self.widths(np.linalg.cholesky(np.linalg.inv(self.gram[h])))
            onward = np.einsum("saj,saj->sa", p.phi @ weights, E[p.successor])
            policy[h] = (steps_after * radius * width + onward).argmax(axis=1)
            Q = np.minimum(steps_after, steps_after * np.minimum(1, radius * width) + onward)
            E = Q.max(axis=1)
        return 2 * E[0], policy, achieved


STYLES = {"loops": Algorithm1, "batched": BatchedAlgorithm1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the learner")
    parser.add_argument("--problem-seed", type=int, default=11)
    parser.add_argument("--states", type=int, default=20)
    parser.add_argument("--actions", type=int, default=4)
    parser.add_argument("--features", type=int, default=5)
    parser.add_argument("--horizon", type=int, default=5)
    parser.add_argument("--successors", type=int, default=8)
    parser.add_argument("--concentration", type=float, default=0.3)
    parser.add_argument("--style", choices=STYLES, default="loops")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    problem = Garnet(options.states, options.actions, options.features, options.horizon, options.successors,
                     options.concentration, options.problem_seed)
    learner = STYLES[options.style](problem)
    rng = np.random.default_rng(options.seed)
    began, began_cpu = time.perf_counter(), time.process_time()
    certificate = np.inf
    for _ in range(options.episodes):
        bound, policy, achieved = learner.plan()
        certificate = min(certificate, bound)
        learner.episode(rng, policy, achieved)
    certificate = min(certificate, learner.plan()[0])
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu

    result = {"episodes": options.episodes, "seed": options.seed, "certificate": certificate,
              "seconds": seconds, "ms_per_episode": 1e3 * seconds / options.episodes,
              "cpu_ms_per_episode": 1e3 * cpu / options.episodes}
    if options.json:
        print(json.dumps(result))
    else:
        print(f"{options.episodes} episodes, {result['ms_per_episode']:.3f} ms an episode "
              f"({result['cpu_ms_per_episode']:.3f} ms of CPU), certificate {certificate:.4f}")


if __name__ == "__main__":
    main()
