"""The library's random streams, for NumPy: the same address gives the same words in C++ and in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

PURPOSES = {
    "instance": 1,
    "simulation": 2,
    "splitting": 3,
    "ties": 4,
    "audit": 5,
    "test": 6,
    "width": 7,
    "aggregation": 8,
    "tree-search": 9,
    "reward": 10,
    "starts": 11,
    "system": 12,
}


def stream(seed: int, purpose: str = "test", episode: int = 0, step: int = 0) -> np.random.Generator:
    """The stream (seed, purpose, episode, step) as a NumPy generator, from its second block of four words on."""
    import numpy as np

    key = np.array([seed, PURPOSES[purpose]], dtype=np.uint64)
    counter = np.array([0, step, episode, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))
