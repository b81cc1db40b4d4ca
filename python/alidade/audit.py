"""Certificates against the truth, where that is known."""

from ._core import (
    AuditResult,
    audit,
    true_loss,
)

__all__ = [
    "AuditResult",
    "audit",
    "true_loss",
]
