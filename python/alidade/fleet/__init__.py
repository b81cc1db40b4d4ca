"""Fleets of simulators: the experiments of a run on any ``concurrent.futures.Executor``.

The driver, which calls :func:`explore`, alone writes the run, through its ledger; workers may die, be late, or answer twice.
"""

from alidade.fleet.driver import FleetFailed, FleetReport, explore
from alidade.fleet.pool import process_pool
from alidade.fleet.rewards import RewardRow, plan_rewards

__all__ = ["FleetFailed", "FleetReport", "RewardRow", "explore", "plan_rewards", "process_pool"]
