"""Kernels as other libraries lay them out: shapes of MDPtoolbox, QuantEcon, POMDPs.jl and SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._table import Table
from .error import InvalidArgument

if TYPE_CHECKING:
    from ._core import Counts, TransitionModel

LAYOUTS = ("sas", "ass", "sas_csr", "ass_csr", "julia", "layered")


def to_arrays(model: TransitionModel, layout: str = "sas", step: Optional[int] = None) -> Any:
    """The transitions of a model; TransitionModel.to_arrays says in which layouts."""
    if layout not in LAYOUTS:
        raise InvalidArgument(f"layout is '{layout}'; must be one of {', '.join(LAYOUTS)}")
    if layout == "layered":
        return _layered(model)
    if step is not None or model.homogeneous or model.shape.horizon == 1:
        return _one_step(model, layout, 0 if step is None else step)
    return [_one_step(model, layout, h) for h in range(model.shape.horizon)]


def _one_step(model: TransitionModel, layout: str, step: int) -> Any:
    import numpy as np

    states, actions, _ = model.shape
    data, indices, indptr = model.probabilities(step), model.successors.targets, model.successors.offsets
    if layout == "sas_csr":
        return _csr(data, indices, indptr, (states * actions, states))
    if layout == "ass_csr":
        rows = _csr(data, indices, indptr, (states * actions, states))
        return [rows[a::actions] for a in range(actions)]
    rows = np.zeros((states * actions, states))
    rows[np.repeat(np.arange(states * actions), np.diff(indptr)), indices] = data
    dense = rows.reshape(states, actions, states)
    if layout == "sas":
        return dense
    if layout == "ass":
        return np.ascontiguousarray(dense.transpose(1, 0, 2))
    return np.ascontiguousarray(dense.transpose(2, 1, 0))


def _csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    import numpy as np
    from scipy.sparse import csr_matrix

    # Successors are ascending and distinct: SciPy need not look. Its positions are of one type, which is that of the
    # successors where they fit, so that neither these nor the probabilities are copied.
    if len(indices) < 2**31:
        indptr = indptr.astype(np.int32)
    matrix = csr_matrix((data, indices, indptr), shape=shape, copy=False)
    matrix.has_sorted_indices = True
    return matrix


def _layered(model: TransitionModel) -> Any:
    """One stationary model: state h*S+s is state s at step h, the last one is the end; CSR (states, actions rows)."""
    import numpy as np
    from scipy.sparse import csr_matrix

    states, actions, horizon = model.shape
    total = horizon * states + 1
    pairs = states * actions
    data, rows, columns = [], [], []
    row_of = np.repeat(np.arange(pairs), np.diff(model.successors.offsets))
    for h in range(horizon - 1):
        data.append(model.probabilities(h))
        rows.append(h * pairs + row_of)
        columns.append((h + 1) * states + model.successors.targets.astype(np.int64))
    last = np.arange((horizon - 1) * pairs, total * actions)
    data.append(np.ones(len(last)))
    rows.append(last)
    columns.append(np.full(len(last), total - 1))
    return csr_matrix(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=(total * actions, total)
    )


def rows_from(kernel: Any, layout: str) -> Any:
    """One kernel in another layout as rows s*A+a."""
    import numpy as np

    if layout == "ass":
        if isinstance(kernel, (list, tuple)) and hasattr(kernel[0], "tocsr"):
            from scipy.sparse import vstack

            actions, states = len(kernel), kernel[0].shape[0]
            by_action = vstack([matrix.tocsr() for matrix in kernel]).tocsr()
            order = np.arange(actions * states).reshape(actions, states).T.ravel()
            return by_action[order]
        array = np.asarray(kernel)
        if array.ndim != 3:
            raise InvalidArgument(f"a base model has shape {array.shape}; must be (actions, states, states)")
        return array.transpose(1, 0, 2)
    if layout == "julia":
        array = np.asarray(kernel)
        if array.ndim != 3:
            raise InvalidArgument(f"a base model has shape {array.shape}; must be T[s', a, s]")
        return array.transpose(2, 1, 0)
    raise InvalidArgument(f"layout is '{layout}'; must be sas, ass or julia")


def seen(counts: Counts, step: Optional[int] = None) -> Table:
    """What was counted, as a table."""
    import numpy as np

    steps = range(counts.shape.horizon - 1) if step is None else [step]
    parts = [counts._seen(h) for h in steps]
    rows = np.concatenate(parts) if parts else np.zeros((0, 4), dtype=np.int64)
    at = np.repeat(np.array(list(steps), dtype=np.int64), [len(part) for part in parts])
    return Table(step=at, state=rows[:, 0], action=rows[:, 1], successor=rows[:, 2], count=rows[:, 3])
