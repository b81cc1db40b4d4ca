"""What the data leave possible."""

from ._core import (
    ConfidenceSet,
    LearnedLinear,
    LearnedMixture,
    LearnedModel,
    LearnedRows,
)

__all__ = [
    "ConfidenceSet",
    "LearnedLinear",
    "LearnedMixture",
    "LearnedModel",
    "LearnedRows",
]
