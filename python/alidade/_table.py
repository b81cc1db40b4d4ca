"""Tables: plain dictionaries of arrays that can show themselves."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from ._core import AskTell


class Table(Dict[str, Any]):
    """A dictionary of arrays of one length: the columns of a table.

    >>> import alidade, numpy as np
    >>> alidade.Table(episodes=np.array([1, 2]), bound=np.array([5.0, 4.5]))
    <table of 2 rows: episodes, bound>
    """

    @property
    def rows(self) -> int:
        return len(next(iter(self.values()))) if self else 0

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame; pandas must be installed."""
        import numpy as np
        import pandas

        return pandas.DataFrame({name: np.asarray(column) for name, column in self.items()})

    def __repr__(self) -> str:
        return f"<table of {self.rows} rows: {', '.join(self)}>"

    def _repr_html_(self, most: int = 20) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self)
        shown = [i for i in range(self.rows) if i < most // 2 or i >= self.rows - most // 2]
        lines = []
        for place, i in enumerate(shown):
            if place and i != shown[place - 1] + 1:
                lines.append(f'<tr><td colspan="{len(self)}">… {i - shown[place - 1] - 1} rows …</td></tr>')
            lines.append("<tr>" + "".join(f"<td>{_cell(column[i])}</td>" for column in self.values()) + "</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def experiments(desk: AskTell) -> Table:
    """Every experiment of a run as a table."""
    import numpy as np

    log = desk.log()
    names = "id kind state deployment attempt first_episode episodes told worker reason asked due".split()
    return Table({name: np.array([getattr(record, name) for record in log]) for name in names})
