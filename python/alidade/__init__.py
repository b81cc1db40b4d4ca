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

from . import _core
from ._core import (
    AskTell,
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
    Run,
    Shape,
    SimulatedSystem,
    StartLaw,
    TransitionModel,
    algorithms,
    backward_induction,
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
from . import audit, certify, confidence, environment, error, explore, io, model, plan, problem, random, run, theory
from .plan import CertifiedPlan

# Work that was interrupted ends, and is stored, before the interpreter does.
_atexit.register(_core._wait_for_abandoned_work)

__all__ = [
    "AskTell",
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
    "certify",
    "certify_reward",
    "certify_rewards",
    "confidence",
    "environment",
    "error",
    "evaluate",
    "explore",
    "export_model",
    "families",
    "io",
    "learn",
    "load_problem",
    "make_builtin",
    "make_planner",
    "model",
    "occupancy",
    "plan",
    "planners",
    "problem",
    "random",
    "robust_plan",
    "run",
    "simulate",
    "theory",
]
