"""What each theorem asks for, and guarantees, before any data are seen."""

from ._core import (
    base_model_norm_bound,
    bernstein_episodes,
    bernstein_guarantee,
    hoeffding_episodes,
    hoeffding_guarantee,
    hoeffding_radius,
    lower_bound_episodes,
    sharp_episodes,
    sharp_guarantee,
)

__all__ = [
    "base_model_norm_bound",
    "bernstein_episodes",
    "bernstein_guarantee",
    "hoeffding_episodes",
    "hoeffding_guarantee",
    "hoeffding_radius",
    "lower_bound_episodes",
    "sharp_episodes",
    "sharp_guarantee",
]
