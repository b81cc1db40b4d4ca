"""What objects show in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Atlas, Exploration, Knowledge, Problem, Run


def _rows(rows: dict[str, Any]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows.items())
    return f"<table>{lines}</table>"


def _claim(knowledge: Knowledge) -> dict[str, Any]:
    certificate = knowledge.certificate
    bound = "vacuous: it says nothing yet" if certificate.vacuous else f"{certificate.bound:.4g} of {knowledge.shape.horizon}"
    return {
        "episodes": f"{knowledge.episodes:,}",
        "any reward: loss at most": bound,
        "with probability": f"{1 - certificate.failure_probability:g}",
        "by": certificate.method,
    }


def problem_html(problem: Problem) -> str:
    states, actions, horizon = problem.shape
    return _rows(
        {
            "problem": problem.name or "unnamed",
            "states": states,
            "actions": actions,
            "horizon": horizon,
            "base models": "linear MDP" if problem.is_linear else ", ".join(problem.features.names),
            "weights": "one set for all steps" if problem.homogeneous else "of each step",
            "rewards": ", ".join(problem.rewards) or "none named",
        }
    )


def knowledge_html(knowledge: Knowledge) -> str:
    return _rows(_claim(knowledge))


def exploration_html(exploration: Exploration) -> str:
    return _rows({"problem": exploration.problem.name or "unnamed", **_claim(exploration.knowledge)})


def atlas_html(atlas: Atlas) -> str:
    bound = "vacuous for some of them" if atlas.vacuous else f"{atlas.loss_bound:.4g} of {atlas.horizon}"
    return _rows(
        {
            "atlas of": ", ".join(each.name + (" (minimised)" if each.minimised else "") for each in atlas.objectives),
            "any weighting: loss at most": bound,
            "any reward at all: loss at most": f"{atlas.reward_free:.4g}",
            "with probability": f"{1 - atlas.failure_probability:g}",
            "policies": f"{len(atlas.policies)}, in {len(atlas.cells)} cells",
            "limited by": atlas.limit,
        }
    )


def run_html(run: Run) -> str:
    rows: dict[str, Any] = {"run": run.folder, "problem": run.source, **run.options}
    result = run.result
    if result is not None:
        rows |= {
            "episodes": f"{result.episodes:,}",
            "any reward: loss at most": f"{result.reward_free:.4g} of {run.problem.shape.horizon}",
            "ended by": result.stopped,
        }
    contradiction = run.contradiction
    if contradiction is not None:
        rows["the data CONTRADICT the model"] = contradiction.what
    return _rows(rows)
