"""Gymnasium: tables as base models, environments as the real system, learned models as environments.

Needs the extra ``alidade[gym]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alidade.gym.system import GymSystem, gym_system
from alidade.gym.tables import GymTable, from_gym, kernels_of, problem_from_gym, tables_of
from alidade.gym.vector import VectorGymSystem

if TYPE_CHECKING:
    from alidade.gym.learned_env import LearnedEnv

__all__ = [
    "GymSystem",
    "GymTable",
    "LearnedEnv",
    "VectorGymSystem",
    "from_gym",
    "gym_system",
    "kernels_of",
    "problem_from_gym",
    "tables_of",
]


def __getattr__(name: str) -> Any:
    # It derives from a class of Gymnasium, which is imported only when it is wanted.
    if name == "LearnedEnv":
        from alidade.gym.learned_env import LearnedEnv

        return LearnedEnv
    raise AttributeError(f"module 'alidade.gym' has no attribute {name!r}")
