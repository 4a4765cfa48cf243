"""What a policy of a finite world loses from every start: exactly, and at most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.planning.bounds import upper_bound
from taskalgebra.planning.policies import policy_values
from taskalgebra.theory.certificate import LOST, Loss
from taskalgebra.worlds.finite import FiniteMDP


def loss_of(
    mdp: FiniteMDP,
    steps: Array,
    terminal: Array,
    actions: LongArray,
    *,
    scale: float,
    starts: LongArray | IntArray | None = None,
    optimum: Callable[[], Array] | None = None,
    name: Callable[[int], str] | None = None,
    cells: LongArray | None = None,
) -> Loss:
    """What a policy earns from every start, and how far that is from the optimum.

    Args:
        mdp: the world.
        steps: `[S, A]`, what steps pay.
        terminal: `[G]`, what goals pay.
        actions: `[S]`, the policy.
        scale: the largest reward.
        starts: states; by default those of the world.
        optimum: plans V*, `[S]`; called only if the bound leaves something to find out.
        name: a state in words.
        cells: `[S, 2]`, of states on a map; by default those of the world.
    """
    returns = policy_values(mdp, steps, terminal, actions)
    bound = upper_bound(mdp, steps, terminal, actions, returns)
    given = mdp.starts if starts is None else starts
    return at_starts(
        given,
        returns,
        bound.values,
        optimum,
        name or mdp.state_name,
        residual=bound.residual,
        sweeps=bound.sweeps,
        scale=scale,
        cells=mdp.cells if cells is None else cells,
    )


def at_starts(
    starts: LongArray | IntArray,
    returns: Array,
    upper: Array,
    optimum: Callable[[], Array] | None,
    name: Callable[[int], str],
    *,
    residual: float = 0.0,
    sweeps: int = 0,
    scale: float = 1.0,
    cells: LongArray | None = None,
) -> Loss:
    """The loss from some starts, from values of all states."""
    states, counts = np.unique(starts, return_counts=True)
    own, high = returns[states], upper[states]
    best = None
    if (own >= high - LOST * scale).all():
        best = np.maximum(own, high) if residual else own
    elif optimum is not None:
        best = np.maximum(optimum()[states], own)
    with np.errstate(invalid="ignore"):
        short = (high if best is None else best) - own
    worst = int(states[np.nanargmax(np.where(np.isnan(short), -np.inf, short))])
    return Loss(
        states.astype(np.int64),
        counts / counts.sum(),
        own,
        high,
        best,
        name(worst),
        residual,
        sweeps,
        scale,
        None if cells is None else cells[states],
    )
