"""What other seeds would have given: runs drawn again with replacement (Efron's bootstrap).

What no run met is in no resample either: a loss that strikes once in 1,000 runs is not seen in 60.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array

RESAMPLES = 2000
LEVEL = 0.95
"""How much of the resamples an interval holds, and how many must agree on a verdict."""
FEWEST = 20
"""Runs below which a resample says too little to decide."""


def resampled_means(values: ArrayLike) -> Array:
    """The mean over as many runs, drawn at random, for each resample: `[runs, …]` → `[2000, …]`."""
    runs = np.asarray(values, np.float64)
    means: Array = np.tensordot(_weights(len(runs)), runs, axes=1)
    return means


@cache
def _weights(n: int) -> Array:
    """[2000, n], how often each run is drawn, over n."""
    drawn = (np.random.default_rng(0).random((RESAMPLES, n)) * n).astype(np.int64)
    weights = np.zeros((RESAMPLES, n))
    np.add.at(weights, (np.arange(RESAMPLES)[:, None], drawn), 1 / n)
    return weights


def interval(values: ArrayLike) -> tuple[Array, Array]:
    """The ends of the 95 % interval of the mean over runs: `[runs, …]` → `[…]` and `[…]`."""
    tail = (1 - LEVEL) / 2
    low, high = (
        np.quantile(resampled_means(values), (tail, 1 - tail), axis=0).round(12) + 0.0
    )  # not −0
    return low, high
