"""Files: problems, rewards, policies, episodes, atlases, and models of other tools."""

from ._core import (
    export_model,
    load_problem,
    model_formats,
    read_atlas,
    read_episodes,
    read_policy,
    read_reward,
    read_tabular,
    write_policy,
    write_reward,
    write_tabular,
)
from .logs import Episodes, episodes_from

__all__ = [
    "Episodes",
    "episodes_from",
    "export_model",
    "load_problem",
    "model_formats",
    "read_atlas",
    "read_episodes",
    "read_policy",
    "read_reward",
    "read_tabular",
    "write_policy",
    "write_reward",
    "write_tabular",
]
