"""What a run says, for people: one page, or single figures of it. docs/report.md says what is on the page."""

import os

from ._core import Run

__all__ = ["figure", "page"]


def page(run: Run, path: str | os.PathLike[str] | None = None, *, target: float | None = None) -> str:
    """The run's report as one HTML page, which is also written to ``path`` if there is one: ``run.report``."""
    return run.report(path, target=target)


def figure(run: Run, kind: str, *, format: str = "vega-lite", number: int = 0) -> str:
    """One figure of the report, as a Vega-Lite specification or an "svg" picture: ``run.figure``."""
    return run.figure(kind, format=format, number=number)
