"""What can be wrong: the exceptions of the library."""

from __future__ import annotations

__all__ = [
    "BrokenInvariant",
    "CommandFailed",
    "CommandStopped",
    "ImpossibleTransition",
    "InvalidArgument",
    "ModelContradiction",
    "RunRefused",
    "SystemFailed",
]


class InvalidArgument(ValueError):
    """A caller's mistake: the message names the value, where it is, and what is allowed."""


class RunRefused(InvalidArgument):
    """A folder that cannot be used as the run that was asked for."""

    #: Why: missing, foreign, damaged, unknown, busy, replaced, forbidden or taken.
    fault: str = "unknown"


class ModelContradiction(RuntimeError):
    """The data contradict the model: a fact about the world, not a mistake of the caller."""


class ImpossibleTransition(ModelContradiction):
    """A transition that was seen and that no base model can produce."""

    step: int
    state: int
    action: int
    #: The state that followed.
    successor: int


class BrokenInvariant(AssertionError):
    """A promise of the library that does not hold: please report it."""


class SystemFailed(RuntimeError):
    """A system that cannot go on. What it has reported before is kept."""


class CommandFailed(RuntimeError):
    """A planner's command that failed or took too long."""


class CommandStopped(RuntimeError):
    """A planner's command that was killed because somebody asked for it."""
