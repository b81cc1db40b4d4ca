"""Certificates against the truth, where that is known."""

from ._core import (
    AtlasAudit,
    AuditResult,
    MemberAttack,
    attack_members,
    audit,
    audit_atlas,
    true_loss,
)

__all__ = [
    "AtlasAudit",
    "AuditResult",
    "MemberAttack",
    "attack_members",
    "audit",
    "audit_atlas",
    "true_loss",
]
