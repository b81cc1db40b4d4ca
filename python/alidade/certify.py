"""What is certain about plans on the real system."""

from ._core import (
    Contradiction,
    Contribution,
    Knowledge,
    Misfit,
    ModelFit,
    PriceOfRobustness,
    RewardCertificate,
    RewardFreeCertificate,
    RobustPlan,
    certify_reward,
    certify_rewards,
    check_model,
    robust_plan,
    value_bounds,
)

__all__ = [
    "Contradiction",
    "Contribution",
    "Knowledge",
    "Misfit",
    "ModelFit",
    "PriceOfRobustness",
    "RewardCertificate",
    "RewardFreeCertificate",
    "RobustPlan",
    "certify_reward",
    "certify_rewards",
    "check_model",
    "robust_plan",
    "value_bounds",
]
