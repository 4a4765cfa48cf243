"""The limit of a linear iteration, from a few of its vectors: reduced rank extrapolation.

x_{k+1} = M x_k + c creeps where M has eigenvalues near 1.  If the changes x_{k+1} − x_k are made of
few modes, some combination of them vanishes, and the same combination of the vectors is the limit
(Mešina 1977; Eddy 1979).
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.compiled import kernel

NOTHING = 2.0**-46
"""A change this small, beside what it was before the others were taken off, is a rounding error."""


@kernel
def limit(history: Array) -> Array:
    """Σ γ_k x_k with Σ γ_k = 1 and the least |Σ γ_k (x_{k+1} − x_k)|, of the vectors `[K + 1, n]`.

    With the changes U = Q R, γ ∝ R⁻¹ R⁻ᵀ 1 (Sidi 1991); if one change is a combination of those
    before it, the combination that vanishes.  U is far from orthogonal, so that what comes out
    depends on how sums are rounded; here they are added in one order, on every machine.
    """
    n_changes, n = history.shape[0] - 1, history.shape[1]
    q, r = np.empty((n_changes, n)), np.zeros((n_changes, n_changes))
    used = n_changes
    vanishes = False
    for k in range(n_changes):
        whole = 0.0
        for i in range(n):
            q[k, i] = history[k + 1, i] - history[k, i]
            whole += q[k, i] * q[k, i]
        for _ in range(2):  # what is left of the others after once is a rounding error
            for j in range(k):
                along = 0.0
                for i in range(n):
                    along += q[j, i] * q[k, i]
                for i in range(n):
                    q[k, i] -= along * q[j, i]
                r[j, k] += along
        size = 0.0
        for i in range(n):
            size += q[k, i] * q[k, i]
        if not size > NOTHING**2 * whole:
            used, vanishes = k + 1, True
            break
        r[k, k] = np.sqrt(size)
        for i in range(n):
            q[k, i] /= r[k, k]
    share = np.ones(used)
    if vanishes:  # R γ = 0
        _solve(r, used - 1, -r[: used - 1, used - 1], share)
    else:
        for k in range(used):  # Rᵀ y = 1, then R γ = y
            for j in range(k):
                share[k] -= r[j, k] * share[j]
            share[k] /= r[k, k]
        _solve(r, used, share.copy(), share)
    total = share.sum()
    found: Array = history[0].copy()
    if not abs(total) > 0.0:  # changes that stay as they are
        found[:] = history[-1]
        return found
    ahead = 1.0
    for k in range(used - 1):
        ahead -= share[k] / total
        for i in range(n):
            found[i] += ahead * (history[k + 1, i] - history[k, i])
    return found


@kernel
def _solve(r: Array, n: int, right: Array, found: Array) -> None:
    """R x = b for the first n rows of an upper triangle, into the first n numbers of `found`."""
    for k in range(n - 1, -1, -1):
        rest = right[k]
        for j in range(k + 1, n):
            rest -= r[k, j] * found[j]
        found[k] = rest / r[k, k]
