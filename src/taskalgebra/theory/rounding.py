"""What float64 can tell apart: when two values are equal, and which rewards are lost in rounding.

A value G + r_M(g) is rounded in proportion to the largest number that it is made of.  Values closer
than `TIE` times that number are taken as equal (`theory.policy`).  Where a step costs no more than
that, going on and standing still are equal too, and an agent may stand still forever.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.theory.findings import APART, Finding
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.returns import costs

TIE = 1e-14
"""Values closer than TIE · max(scale, |best|), about 50 rounding errors, are equal."""
TOLERANCE = 5e-11
"""The error of values in stochastic worlds, relative to the largest reward: 1e-10 in the paper."""
LARGEST, SMALLEST = float(np.finfo(np.float64).max), float(np.finfo(np.float64).smallest_normal)


class Lost(NamedTuple):
    """A step, or the difference of two goals, that is lost beside the other rewards."""

    amount: float
    below: float  # amounts up to this are lost
    pair: tuple[int, int] | None  # the state and the action; None if goals cannot be told apart


def scale_of(mdp: FiniteMDP, r_empty: Array, r_universal: Array) -> float:
    """The size of the largest reward."""
    paid = (mdp.step_reward, r_empty, r_universal)  # steps in goals pay 0
    return float(max(max(-one.min(initial=0.0), one.max(initial=0.0)) for one in paid))


def tie(mdp: FiniteMDP, scale: float, largest: float | None) -> float:
    """The largest difference that may count as a tie, from the largest return if it is known.

    In a stochastic world it is the error of values, which is larger.
    """
    if not mdp.deterministic:
        return 2 * TOLERANCE * scale
    if largest is None:
        return TIE * scale * (mdp.n_states + 1)
    return TIE * (scale + largest)


def of_episode(mdp: FiniteMDP, tie: float) -> float:
    """What an agent may lose to ties in an episode."""
    return 4 * tie * mdp.n_states


def lost(mdp: FiniteMDP, r_empty: Array, r_universal: Array, largest: float | None) -> Lost | None:
    """The first reward that rounding or the rule for ties makes meaningless, if there is one.

    A cycle of n steps whose costs add up to no more than n ties may be followed forever.  So each
    step must cost more than one tie; if some cost nothing, the others more than S ties.  Ties of a
    whole episode add up, so goals must differ by more than that.
    """
    scale = scale_of(mdp, r_empty, r_universal)
    one = tie(mdp, scale, largest)
    smallest, apart = 2 * one, float((r_universal - r_empty)[r_universal > r_empty].min())
    if apart <= of_episode(mdp, one):
        return Lost(apart, of_episode(mdp, one), None)
    cost, rounding = costs(mdp, mdp.step_reward)
    usual = mdp.ending & ~mdp.is_goal
    free = (cost <= rounding) & usual[:, None]
    paid = (cost > rounding) & usual[:, None]
    if free.any():
        smallest *= mdp.n_states
    small = paid & (cost <= smallest)
    if not small.any():
        return None
    s, a = (int(i) for i in np.argwhere(small)[0])
    return Lost(float(cost[s, a]), smallest, (s, a))


def same_reward(one: float, other: float) -> bool:
    """Whether an environment pays the same, but for rounding: some pay differences of float32.

    >>> same_reward(0.3, 0.1 + 0.2), same_reward(0.3, 0.3001)
    (True, False)
    """
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)


def out_of_range(mdp: FiniteMDP, r_empty: Array, r_universal: Array) -> bool:
    """Whether sums of rewards overflow, or ties are too small to be numbers."""
    scale = scale_of(mdp, r_empty, r_universal)
    return scale > LARGEST / (8.0 * (mdp.n_states + 1)) or TIE * scale < SMALLEST


def told_apart(
    mdp: FiniteMDP, r_empty: Array, r_universal: Array, largest: float | None
) -> Finding:
    """Whether float64 can tell the rewards of a space apart."""
    paper = "float64"
    scale = scale_of(mdp, r_empty, r_universal)
    if out_of_range(mdp, r_empty, r_universal):
        detail = (
            f"the largest reward is {scale:g}, so that sums or differences leave the range of "
            f"float64; count rewards in another unit"
        )
        return Finding(APART, paper, False, detail)
    found = lost(mdp, r_empty, r_universal, largest)
    if found is None:
        return Finding(APART, paper, True, "no reward is lost in rounding beside another")
    if found.pair is None:
        what, offender = f"r_U − r_∅ = {found.amount:g}", {}
    else:
        s, a = found.pair
        what = f"{mdp.action_names[a]} in {mdp.state_name(s)} costs {found.amount:g}"
        offender = {"state": s, "action": a}
    detail = (
        f"{what}, but with rewards of up to {scale:g} amounts below {found.below:.1e} are lost in "
        f"rounding, and an agent may stand still forever; choose rewards of more similar size"
    )
    return Finding(APART, paper, False, detail, offender)
