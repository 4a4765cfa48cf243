"""Episodes of one task, and their summary."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import NO_GOAL

NORMAL_95 = 1.959963984540054
"""95 % of a normal distribution lie within this many deviations."""


@dataclass(frozen=True)
class Evaluation:
    """The outcome of some episodes of one task.

    An episode succeeds when it ends in a goal that the task wants (`Task.wanted`), so none of the
    empty task does.  A step is one action; the last, in the absorbing state, is paid the terminal
    reward and counts like any other.  `optimal_return` is the mean of V*_M over the same starts:
    what the best policy earns on average, or NaN if not known.
    """

    episodes: int
    mean_return: float
    standard_error: float
    optimal_return: float
    success_rate: float
    unfinished: int  # episodes cut off at the step limit
    mean_steps: float
    note: str = ""  # why agents may not end in desired goals (`Task.remarks`)
    exact: bool = False  # whether these are expectations, for which nothing was played
    violations: float = 0.0  # the mean number of goals entered that should have been avoided
    certificate: str = ""  # what the agent loses, exactly, in a line; "" where that is not known

    @property
    def score(self) -> float:
        """The mean return as a share of the optimal one; NaN if that is 0 or not known.

        It is meaningful where the optimum is above 0.
        """
        return self.mean_return / self.optimal_return if self.optimal_return else np.nan

    @property
    def n_success(self) -> int:
        """How many episodes succeeded."""
        return round(self.success_rate * self.episodes)

    @property
    def success_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the probability of success.

        With p the success rate of n episodes and z = 1.96, its ends are
        (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n).  Of exact figures both ends are p.
        """
        n, p, z = self.episodes, self.success_rate, NORMAL_95
        if self.exact:
            return p, p
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
        scale = 1 + z * z / n
        low, high = (middle - half) / scale, (middle + half) / scale
        return max(0.0, min(p, low)), min(1.0, max(p, high))  # whatever the rounding

    def __str__(self) -> str:
        """One line with the figures."""
        many = f"{100 * self.unfinished / self.episodes:.1f} %" if self.exact else self.unfinished
        cut = f", {many} cut off" if self.unfinished else ""
        known = not np.isnan(self.optimal_return)
        played = "exact" if self.exact else f"{self.episodes} episodes"
        optimal = f" (optimal {self.optimal_return:.3f})" if known else ""
        wrong = f", {self.violations:.2f} violations" if self.violations else ""
        return (
            f"return {self.mean_return:.3f}{optimal}, success "
            f"{100 * self.success_rate:.1f} %, {self.mean_steps:.1f} steps{wrong}, "
            f"{played}{cut}{self.certificate and f'; {self.certificate}'}"
            f"{self.note and f'; {self.note}'}"
        )


class Episodes(NamedTuple):
    """Episodes one by one, each array `[N]`."""

    returns: Array
    steps: LongArray
    goals: LongArray  # in which they ended; −1 where they were cut off
    optimal_returns: Array  # NaN where not known


def summary(task: Task, episodes: Episodes) -> Evaluation:
    """The figures of some episodes."""
    ended = episodes.goals != NO_GOAL
    return figures(episodes, ended, ended & task.wanted[episodes.goals])


def figures(episodes: Episodes, ended: BoolArray, succeeded: BoolArray) -> Evaluation:
    """The figures of some episodes, of which these ended before the limit, and these succeeded."""
    n = episodes.returns.size
    optimal = float(episodes.optimal_returns.mean())
    return Evaluation(
        episodes=n,
        mean_return=float(episodes.returns.mean()),
        standard_error=float(episodes.returns.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        optimal_return=np.nan if np.isnan(optimal) else optimal,
        success_rate=float(succeeded.sum() / n),
        unfinished=int((~ended).sum()),
        mean_steps=float(episodes.steps.mean()),
    )
