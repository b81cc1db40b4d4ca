"""Planning: built-in planners, and any other as one."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Callable, Optional, Protocol, Union

from . import _layouts
from ._core import (
    Evaluation,
    Interval,
    Knowledge,
    Measurement,
    OptimalPlan,
    Plan,
    Policy,
    Reward,
    RewardCertificate,
    TransitionModel,
    backward_induction,
    certify_reward,
    evaluate,
    make_planner,
    measure,
    occupancy,
    planners,
    robust_plan,
)
from .error import InvalidArgument

__all__ = [
    "CertifiedPlan",
    "Evaluation",
    "Measurement",
    "OptimalPlan",
    "Plan",
    "Planner",
    "backward_induction",
    "evaluate",
    "make_planner",
    "measure",
    "occupancy",
    "plan",
    "planners",
    "policy_from",
    "pymdptoolbox",
    "quantecon",
]


class Planner(Protocol):
    """Any object with this method is a planner. So is any callable (P, R, H) -> policy."""

    def plan(self, model: TransitionModel, reward: Reward) -> Any:
        """A Plan, a Policy, or an array (H, S) or (S,) of actions, (H, S, A) or (S, A) of probabilities."""


@dataclass(frozen=True)
class CertifiedPlan:
    """A plan, and what is certain about it on the real system.

    Nothing that the planner says is believed: its policy is evaluated again.
    """

    policy: Policy
    certificate: RewardCertificate
    measured: Measurement
    planner: str

    @property
    def value(self) -> Interval:
        """Contains the policy's true value, with probability 1 - delta."""
        return self.certificate.value

    @property
    def loss_bound(self) -> float:
        """What the policy loses against the best one on the real system, at most."""
        return self.certificate.loss_bound

    def __repr__(self) -> str:
        low, high = self.value
        return f"<plan by {self.planner}: value in [{low:.6g}, {high:.6g}], loss at most {self.loss_bound:.4g}>"

    def _repr_html_(self) -> str:
        low, high = self.value
        rows = {
            "planner": escape(self.planner),
            "true value in": f"[{low:.6g}, {high:.6g}]",
            "loss at most": f"{self.loss_bound:.4g}",
            "value in the model": f"{self.measured.value:.6g} (best {self.measured.optimal:.6g})",
            "probability": f"{1 - self.certificate.failure_probability:g}",
        }
        return "<table>" + "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in rows.items()) + "</table>"


def policy_from(answer: Any, model: TransitionModel) -> Plan:
    """What a planner returned as a Plan: it may be one, a Policy, or an array."""
    if isinstance(answer, Plan):
        return answer
    return Plan(answer if isinstance(answer, Policy) else Policy(answer, model.shape))


def plan(
    knowledge: Knowledge,
    reward: Any,
    planner: Union[str, Planner, Callable[[Any, Any, int], Any]] = "backward-induction",
    *,
    threads: int = 0,
) -> CertifiedPlan:
    """A plan for a reward, certified; Knowledge.plan says what a planner is.

    >>> import alidade, numpy as np
    >>> exploration = alidade.Exploration("builtin:riverswim?length=4&horizon=6", seed=1)
    >>> exploration.run(episodes=5_000)
    'budget'
    >>> def stay(P, R, H):
    ...     return np.zeros(R.shape[1], dtype=int)
    >>> exploration.knowledge.plan([0, 0, 0, 1.0], stay).planner
    'stay'
    """
    model = knowledge.model
    wanted = reward if isinstance(reward, Reward) else Reward(reward, model.shape)
    found, name = _planned(knowledge, model, wanted, planner, threads)
    measured = measure(model, wanted, found)
    certificate = certify_reward(knowledge, wanted, found.policy, threads)
    return CertifiedPlan(found.policy, certificate, measured, name)


def _planned(knowledge: Knowledge, model: TransitionModel, reward: Reward, planner: Any, threads: int) -> tuple[Plan, str]:
    if isinstance(planner, str):
        if planner == "robust":
            return Plan(robust_plan(knowledge, reward, threads=threads).policy), planner
        return make_planner(planner).plan(model, reward), planner
    name = getattr(planner, "__name__", type(planner).__name__)
    if hasattr(planner, "plan"):
        return policy_from(planner.plan(model, reward), model), name
    if not callable(planner):
        raise InvalidArgument(f"the planner is a {name}; must be a name, a callable (P, R, H), or have plan(model, reward)")
    import numpy as np

    shape = model.shape
    rewards = np.broadcast_to(reward.values, (shape.horizon, shape.states, shape.actions))
    return policy_from(planner(_layouts.to_arrays(model), rewards, shape.horizon), model), name


class _QuantEcon:
    """Plans with QuantEcon's DiscreteDP, one step at a time, because a step may have its own law."""

    __name__ = "quantecon"

    def plan(self, model: TransitionModel, reward: Reward) -> Plan:
        import warnings

        import numpy as np
        from quantecon.markov.ddp import DiscreteDP, backward_induction as solve

        states, actions, horizon = model.shape
        s_indices, a_indices = np.repeat(np.arange(states), actions), np.tile(np.arange(actions), states)
        choices: list[Any] = []
        values = np.zeros(states)
        for h in reversed(range(horizon)):
            law = model.to_arrays("sas_csr", step=h)
            earned = reward.values if reward.stationary else reward.values[h]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a discount of 1 is only bad without a horizon
                problem = DiscreteDP(np.ravel(earned), law, 1.0, s_indices, a_indices)
            found, policy = solve(problem, 1, values)
            values = found[0]
            choices.append(policy[0])
        start = model.start.to_array(states)
        return Plan(Policy(np.array(choices[::-1]), model.shape), float(start @ values), 0.0)


class _PyMdpToolbox:
    """Plans with pymdptoolbox' FiniteHorizon, one step at a time as well."""

    __name__ = "pymdptoolbox"

    def plan(self, model: TransitionModel, reward: Reward) -> Plan:
        import contextlib
        import io

        import numpy as np
        from mdptoolbox.mdp import FiniteHorizon

        states, actions, horizon = model.shape
        values = np.zeros(states)
        choices: list[Any] = []
        for h in reversed(range(horizon)):
            transitions = model.to_arrays("ass", step=h)
            earned = np.array(reward.values if reward.stationary else reward.values[h])
            with contextlib.redirect_stdout(io.StringIO()):  # it warns of a discount of 1, which a horizon makes harmless
                step = FiniteHorizon(transitions, earned, 1.0, 1, h=values)
            step.run()
            values = np.asarray(step.V[:, 0])
            choices.append(np.asarray(step.policy[:, 0]))
        start = model.start.to_array(states)
        return Plan(Policy(np.array(choices[::-1]), model.shape), float(start @ values), 0.0)


#: QuantEcon as a planner: ``knowledge.plan(reward, alidade.plan.quantecon)``; needs the package quantecon.
quantecon: Planner = _QuantEcon()
#: pymdptoolbox as a planner; needs the package pymdptoolbox.
pymdptoolbox: Planner = _PyMdpToolbox()
