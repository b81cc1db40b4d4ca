"""Models, policies, rewards and what was counted: include/alidade/model."""

from ._core import (
    Counts,
    Episode,
    FeatureMap,
    Grid,
    Interval,
    MixtureModel,
    PairFeatures,
    Policy,
    Reward,
    Shape,
    StartLaw,
    SuccessorMap,
    TransitionModel,
)

__all__ = [
    "Counts",
    "Episode",
    "FeatureMap",
    "Grid",
    "Interval",
    "MixtureModel",
    "PairFeatures",
    "Policy",
    "Reward",
    "Shape",
    "StartLaw",
    "SuccessorMap",
    "TransitionModel",
]
