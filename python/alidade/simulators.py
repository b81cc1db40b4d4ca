"""Base models from simulators that can only be drawn from, with the sampling error as part of the misspecification."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from alidade.problem import sampled_law_error

if TYPE_CHECKING:
    from alidade.model import Grid
    from alidade.problem import Problem

Kernel = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]
Simulator = Callable[[Any, int, np.random.Generator], Any]
"""``simulate(state, action, random)`` returns the next state. All randomness must come from ``random``."""


@dataclass(frozen=True)
class SampledModels:
    """Base models that were sampled, and how far they may be from the simulators that they stand for.

    With probability 1 - ``failure_probability``, for every simulator, state (or point of a cell) and action at once, the true
    law of the next state (or cell) is within ``misspecification`` of the kernel's row, in total variation. A system that mixes the
    simulators is then within it of the same mixture of the kernels.
    """

    kernels: list[Kernel]
    """One a simulator, as (data, indices, indptr), row s*A+a."""
    names: list[str]
    states: int
    actions: int
    samples: int
    """Draws of each row."""
    cell_variation: float
    """What a cell hides: claimed by the caller. Zero for finite states."""
    law_error: float
    """What sampling and smoothing add: proved, unless its failure probability strikes."""
    failure_probability: float
    """Add it to delta: certificates hold with probability 1 - delta - this."""

    @property
    def misspecification(self) -> float:
        """zeta: ``cell_variation + law_error``."""
        return self.cell_variation + self.law_error

    def delta_for(self, total: float) -> float:
        """The delta to explore with, for all that is certified to hold with probability 1 - ``total``."""
        if not self.failure_probability < total < 1:
            raise ValueError(f"total is {total}; must be above {self.failure_probability:g}, which the sampling takes, and below 1")
        return total - self.failure_probability

    def problem(self, horizon: int, **options: Any) -> Problem:
        """The problem over these base models; ``options`` go to :class:`alidade.Problem`.

        A ``misspecification`` among them is added: for a system that is not quite a mixture of the simulators.
        """
        from alidade.model import FeatureMap
        from alidade.problem import Problem

        zeta = self.misspecification + float(options.pop("misspecification", 0.0))
        if not zeta < 1:
            raise ValueError(f"the misspecification is {zeta:.3g}, at 1 or more nothing can be certified; take more samples or finer cells")
        features = FeatureMap.from_base_kernels(self.kernels, names=self.names, states=self.states, normalise=True)
        return Problem(features, horizon=horizon, misspecification=zeta, **options)

    def __repr__(self) -> str:
        return (
            f"<{len(self.kernels)} sampled base models over {self.states} states and {self.actions} actions: "
            f"misspecification {self.misspecification:.3g}, failure probability {self.failure_probability:g}>"
        )


def base_models_from_simulators(
    simulators: Iterable[Simulator],
    cells: Union[Grid, int],
    *,
    actions: int,
    samples: int = 10_000,
    cell_variation: float | None = None,
    successors: int | None = None,
    failure: float = 1e-3,
    smoothing: float = 0.0,
    vectorised: bool = False,
    from_centre: bool = False,
    seed: int = 0,
    names: Iterable[str] | None = None,
) -> SampledModels:
    """Samples base models from simulators.

    ``cells`` is a :class:`alidade.Grid`, whose cells are the states, or a number of states. For every simulator, state and
    action, ``samples`` next states are drawn, from points that are uniform in the cell (``from_centre``: from its centre).
    A simulator is a function ``simulate(state, action, random)``; with ``vectorised`` it gets an array of states (samples,),
    or of points (samples, dimensions), and returns as many.

    How far the kernels may be off is a number, :attr:`SampledModels.misspecification`, of two parts:

    - ``cell_variation``, for grids: a bound, which you have to know, of the total variation between the law of the next cell
      from any point of a cell and the average over the cell (its centre), for every simulator and action;
      :func:`alidade.problem.shift_variation` gives one for additive disturbances. Zero claims that cells hide nothing.
    - the sampling error: n draws of a law over m cells are within sqrt((m-1)/n)/2 + sqrt(log(N/failure)/(2n)) of it, for all N rows at
      once, with probability 1 - ``failure``. ``successors``, if you know that no law has more than so many possible next
      states, takes the place of m; it is refused where more were seen.

    A next state that no draw reached is impossible in the model, and exploration takes reaching it for a contradiction.
    ``smoothing`` mixes that share of a uniform law over all states into every row, so that nothing is impossible, and is
    added to the error. Draws depend on ``seed``, the simulator's place, state and action, and on nothing else.

    >>> import numpy as np
    >>> from alidade.simulators import base_models_from_simulators
    >>> walk = lambda p: lambda states, action, random: np.clip(states + np.where(random.random(len(states)) < p, 1, -1), 0, 4)
    >>> base_models_from_simulators([walk(0.2), walk(0.7)], 5, actions=1, successors=2, vectorised=True)
    <2 sampled base models over 5 states and 1 actions: misspecification 0.0265, failure probability 0.001>
    """
    drawn = list(simulators)
    grid = None if isinstance(cells, (int, np.integer)) else cells
    states = int(cells) if grid is None else int(grid.cells)  # type: ignore[arg-type]
    if not drawn or actions < 1 or states < 1 or samples < 1:
        raise ValueError(f"{len(drawn)} simulators, {states} states, {actions} actions, {samples} samples; each must be at least 1")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing is {smoothing}; must be at least 0 and less than 1")
    if successors is not None and not 1 <= successors <= states:
        raise ValueError(f"successors is {successors}; must be 1 to {states}")
    if grid is None:
        cell_variation = cell_variation or 0.0
    if cell_variation is None or not 0 <= cell_variation < 1:
        raise ValueError(
            f"cell_variation is {cell_variation}; a grid needs a number from 0 to 1: how far, in total variation, laws from points of "
            "one cell are from the cell's (0 claims that they are the same)"
        )
    labels = [getattr(each, "__name__", "simulator").strip("<>") for each in drawn] if names is None else list(names)
    labels = [f"{label} {i}" if labels.count(label) > 1 else label for i, label in enumerate(labels)]
    sampler = _Sampler(grid, states, actions, samples, vectorised, from_centre, seed)
    kernels = [sampler.kernel(i, each, labels[i], successors, smoothing) for i, each in enumerate(drawn)]
    error = sampled_law_error(samples, successors or states, states * actions * len(drawn), failure)
    return SampledModels(kernels, labels, states, actions, samples, cell_variation, min(1.0, error + smoothing), failure)


@dataclass(frozen=True)
class _Sampler:
    grid: Any
    states: int
    actions: int
    samples: int
    vectorised: bool
    from_centre: bool
    seed: int

    def kernel(self, base: int, simulate: Simulator, name: str, successors: int | None, smoothing: float) -> Kernel:
        data: list[npt.NDArray[np.float64]] = []
        targets: list[npt.NDArray[np.int64]] = []
        offsets = [0]
        for pair in range(self.states * self.actions):
            counts = self._draw(base, simulate, name, pair)
            seen = int(np.count_nonzero(counts))
            if successors is not None and seen > successors:
                s, a = divmod(pair, self.actions)
                raise ValueError(f"{name}: state {s}, action {a} led to {seen} states, successors claims {successors} at most")
            law = (1 - smoothing) * (counts / self.samples) + smoothing / self.states
            reached = np.flatnonzero(law)
            data.append(law[reached])
            targets.append(reached)
            offsets.append(offsets[-1] + len(reached))
        return np.concatenate(data), np.concatenate(targets).astype(np.int64), np.array(offsets, dtype=np.int64)

    def _draw(self, base: int, simulate: Simulator, name: str, pair: int) -> npt.NDArray[np.int64]:
        """How often each state followed."""
        state, action = divmod(pair, self.actions)
        key = np.array([self.seed, base * self.states * self.actions + pair], dtype=np.uint64)
        random = np.random.Generator(np.random.Philox(key=key))
        begin = self._points(state, random)
        if self.vectorised:
            ends = np.asarray(simulate(begin, action, random))
        else:
            one = begin if self.grid is not None else begin.tolist()
            ends = np.array([simulate(point, action, random) for point in one])
        if len(ends) != self.samples:
            raise ValueError(f"{name}: {len(ends)} next states for {self.samples} samples")
        if self.grid is not None:
            next_states = np.asarray(self.grid.cells_of(ends.reshape(self.samples, -1).astype(np.float64)))
        else:
            next_states = ends.astype(np.int64)
            if (next_states != ends).any() or next_states.min() < 0 or next_states.max() >= self.states:
                wrong = ends[(next_states != ends) | (next_states < 0) | (next_states >= self.states)][0]
                raise ValueError(f"{name}: state {state}, action {action} led to {wrong}; must be 0 to {self.states - 1}")
        return np.bincount(next_states, minlength=self.states)

    def _points(self, state: int, random: np.random.Generator) -> npt.NDArray[Any]:
        if self.grid is None:
            return np.full(self.samples, state, dtype=np.int64)
        if self.from_centre:
            return np.tile(np.asarray(self.grid.centre(state)), (self.samples, 1))
        lower, upper = np.array([tuple(side) for side in self.grid.bounds(state)]).T
        points: npt.NDArray[np.float64] = lower + random.random((self.samples, len(lower))) * (upper - lower)
        return points
