"""Learn a system once, without a reward; then plan for any reward, with a certificate.

>>> import alidade
>>> problem = alidade.make_builtin("builtin:inventory?capacity=6")
>>> exploration = alidade.Exploration(problem, seed=1)
>>> exploration.run(episodes=20_000)
'budget'
>>> plan = exploration.knowledge.plan(problem.rewards["service-level"])
>>> plan.loss_bound < 0.1
True

The modules mirror the library's: ``problem``, ``model``, ``environment``, ``explore``, ``confidence``, ``certify``,
``plan``, ``audit``, ``theory``, ``io`` (files and formats) and ``run``; what is used most is here.
"""

import atexit as _atexit
import importlib as _importlib
import typing as _typing

from . import _core
from ._core import (
    AskTell,
    Atlas,
    CommandSystem,
    Counts,
    Episode,
    Exploration,
    FeatureMap,
    Grid,
    Interval,
    Knowledge,
    MixtureModel,
    PairFeatures,
    Plan,
    Policy,
    Problem,
    Progress,
    Reward,
    RewardCertificate,
    RewardFreeCertificate,
    RewardClass,
    Run,
    Shape,
    SimulatedSystem,
    StartLaw,
    TransitionModel,
    algorithms,
    backward_induction,
    certify_class,
    certify_near,
    certify_reward,
    certify_rewards,
    evaluate,
    export_model,
    families,
    learn,
    load_problem,
    make_builtin,
    make_planner,
    occupancy,
    planners,
    robust_plan,
    simulate,
    version as __version__,
)
from ._table import Table
from .error import (
    BrokenInvariant,
    CommandFailed,
    CommandStopped,
    ImpossibleTransition,
    InvalidArgument,
    ModelContradiction,
    RunRefused,
    SystemFailed,
)
from . import audit, certify, confidence, environment, error, explore, io, model, plan, problem, random, report, run, theory
from .plan import CertifiedPlan

if _typing.TYPE_CHECKING:
    from . import fleet, gym, logs, plot, simulators, tracking
    from .gym import LearnedEnv, from_gym, gym_system, problem_from_gym
    from .simulators import base_models_from_simulators

_LATER = {
    "LearnedEnv": "gym",
    "base_models_from_simulators": "simulators",
    "from_gym": "gym",
    "gym_system": "gym",
    "problem_from_gym": "gym",
}


def __getattr__(name: str) -> _typing.Any:
    # What is built on other packages, or takes time to import, is imported when it is wanted.
    if name in _LATER:
        return getattr(_importlib.import_module("." + _LATER[name], __name__), name)
    if name in ("fleet", "gym", "logs", "plot", "simulators", "tracking"):
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'alidade' has no attribute {name!r}")


# Work that was interrupted ends, and is stored, before the interpreter does.
_atexit.register(_core._wait_for_abandoned_work)

__all__ = [
    "AskTell",
    "Atlas",
    "BrokenInvariant",
    "CertifiedPlan",
    "CommandFailed",
    "CommandStopped",
    "CommandSystem",
    "Counts",
    "Episode",
    "Exploration",
    "FeatureMap",
    "Grid",
    "ImpossibleTransition",
    "Interval",
    "InvalidArgument",
    "Knowledge",
    "LearnedEnv",
    "MixtureModel",
    "ModelContradiction",
    "PairFeatures",
    "Plan",
    "Policy",
    "Problem",
    "Progress",
    "Reward",
    "RewardCertificate",
    "RewardFreeCertificate",
    "RewardClass",
    "Run",
    "RunRefused",
    "Shape",
    "SimulatedSystem",
    "StartLaw",
    "SystemFailed",
    "Table",
    "TransitionModel",
    "__version__",
    "algorithms",
    "audit",
    "backward_induction",
    "base_models_from_simulators",
    "certify",
    "certify_class",
    "certify_near",
    "certify_reward",
    "certify_rewards",
    "confidence",
    "environment",
    "error",
    "evaluate",
    "explore",
    "export_model",
    "families",
    "fleet",
    "from_gym",
    "gym",
    "gym_system",
    "io",
    "learn",
    "load_problem",
    "logs",
    "make_builtin",
    "make_planner",
    "model",
    "occupancy",
    "plan",
    "planners",
    "plot",
    "problem",
    "problem_from_gym",
    "random",
    "report",
    "robust_plan",
    "run",
    "simulate",
    "simulators",
    "theory",
    "tracking",
]
