"""Runs on disk, and experiments that others run."""

from ._core import (
    AskGoal,
    AskTell,
    Asked,
    Experiment,
    ExperimentAim,
    ExperimentRecord,
    ExploredRun,
    KeptPlan,
    LedgerStatus,
    LoadedRun,
    Replay,
    Run,
    RunResult,
    StoredEpisode,
    Told,
    ToldPart,
)
from .error import RunRefused

__all__ = [
    "AskGoal",
    "AskTell",
    "Asked",
    "Experiment",
    "ExperimentAim",
    "ExperimentRecord",
    "ExploredRun",
    "KeptPlan",
    "LedgerStatus",
    "LoadedRun",
    "Replay",
    "Run",
    "RunRefused",
    "RunResult",
    "StoredEpisode",
    "Told",
    "ToldPart",
]
