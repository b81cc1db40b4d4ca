"""Progress bars, where tqdm is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from ._core import Progress


class Bar:
    """A bar of tqdm that is told where an exploration stands."""

    def __init__(self, tqdm: Any, episodes: int) -> None:
        self._bar = tqdm(total=episodes, unit=" episodes", unit_scale=True)

    def __call__(self, progress: Progress) -> None:
        self._bar.set_postfix_str(f"certificate {progress.certificate:.4g}", refresh=False)
        self._bar.update(progress.episodes - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def bar(episodes: int) -> Optional[Bar]:
    """A bar for so many episodes; None where tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return Bar(tqdm, episodes)
