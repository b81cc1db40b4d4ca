"""Files: problems, rewards, policies, episodes, and models of other tools."""

from ._core import (
    export_model,
    load_problem,
    model_formats,
    read_episodes,
    read_policy,
    read_reward,
    read_tabular,
    write_policy,
    write_reward,
    write_tabular,
)

__all__ = [
    "export_model",
    "load_problem",
    "model_formats",
    "read_episodes",
    "read_policy",
    "read_reward",
    "read_tabular",
    "write_policy",
    "write_reward",
    "write_tabular",
]
