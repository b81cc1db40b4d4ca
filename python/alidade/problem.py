"""Problems: what is known of a system before it is tried."""

from ._core import (
    Inspection,
    Problem,
    StepInspection,
    aggregate,
    families,
    load_problem,
    make_builtin,
    one_hot_linear,
    problem_hash,
    random_reward,
    reach_reward,
    sampled_law_error,
    shift_variation,
    single_state_reward,
)

__all__ = [
    "Inspection",
    "Problem",
    "StepInspection",
    "aggregate",
    "families",
    "load_problem",
    "make_builtin",
    "one_hot_linear",
    "problem_hash",
    "random_reward",
    "reach_reward",
    "sampled_law_error",
    "shift_variation",
    "single_state_reward",
]
