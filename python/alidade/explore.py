"""Exploring without a reward, in memory."""

from ._core import (
    Exploration,
    Progress,
    algorithms,
    confidence_sets,
    learn,
)

__all__ = [
    "Exploration",
    "Progress",
    "algorithms",
    "confidence_sets",
    "learn",
]
