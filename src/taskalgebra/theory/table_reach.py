"""G(s:g, a), the return to every goal, read off tables of Q̄.

    G(s:g, a) = Q̄_U(s, g, a) − r_U(g)  (Corollary 1)

Where every way to g leads through another goal, Q̄_U holds the penalty r̄_MIN of ending there
(Definition 2).  It is so low that no real way costs as much, so that these entries can be told, and
G is −∞ there.  In a stochastic world the penalty is mild and mixed with the values of other ends,
so that there the graph of possible steps says which goals can be reached.

Learned tables hold the 0 with which learning began where a step was never tried.  Q̄_U and Q̄_∅ are
then both 0, which no way gives: what the goal pays is between them.  G is −∞ there, too.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.content import ByContent
from taskalgebra.theory.reach import Reach
from taskalgebra.theory.tables import TableBounds, TabularQ
from taskalgebra.worlds import graph
from taskalgebra.worlds.finite import FiniteMDP


@final
class TableReach(ByContent, Reach):
    """The returns that tables hold."""

    def __init__(self, bounds: TableBounds, r_bar_min: float) -> None:
        """Take Q̄_U and the penalty that is in it."""
        self.bounds, self.r_bar_min = bounds, r_bar_min
        self.observation_ndim = bounds.observation_ndim

    def returns(self, observations: Any) -> Array:
        """Rows of the table of returns, `[B, G, A]`."""
        rows: Array = self.table[self.bounds.states(observations)]
        return rows

    def paying(self, goal_reward: Array) -> TabularQ:
        """Q̄(s, g, a) = G(s:g, a) + r(g) as a table, which acts quicker than a sum on demand."""
        return TabularQ(self.table + goal_reward[:, None], self.bounds)

    @cached_property
    def table(self) -> Array:
        """[S, G, A].

        Raises:
            ValueError: the penalty is too mild to be told from a long way.
        """
        best, worst = self.bounds.tables.universal, self.bounds.tables.empty
        returns: Array = best - self.bounds.space.r_universal[:, None]
        untried = (best == 0.0) & (worst == 0.0)
        space = self.bounds.space
        if space.finite and not space.mdp.deterministic:
            lost = ~_possible(space.mdp)
        else:
            lost = returns < self._lowest()
        returns[untried | lost] = -np.inf
        returns.setflags(write=False)
        return returns

    def _lowest(self) -> float:
        """Below every return to a goal, and above every return with the penalty in it."""
        space = self.bounds.space
        penalised = self.r_bar_min - float(space.r_universal.min())
        if not space.finite:
            return penalised / 2
        dearest = float(min(space.mdp.step_reward.min(), 0.0))
        lowest = dearest * (space.mdp.n_states + 1)
        if penalised >= lowest:  # the diameter says more, and takes longer to find
            lowest = dearest * (space.mdp.diameter + 1)
        if penalised >= lowest:
            raise ValueError(
                f"these values were made with the penalty r̄_MIN = {self.r_bar_min:g}, which cannot "
                f"be told from a way of {space.mdp.diameter} steps; tasks with time need the one "
                f"of Definition 2: solve or learn without r_bar_min"
            )
        return (penalised + lowest) / 2


def _possible(mdp: FiniteMDP) -> BoolArray:
    """[S, G, A], whether a goal may be reached after an action, and no other goal before it."""
    able = graph.steps_to(mdp.predecessors, mdp.goals) >= 0
    after = np.logical_or.reduceat(able[:, mdp.successor], mdp.offset[:-1], axis=1)
    found = after.reshape(mdp.n_goals, mdp.n_states, mdp.n_actions)
    return np.ascontiguousarray(found.transpose(1, 0, 2))
