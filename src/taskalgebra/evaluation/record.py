"""Episodes of one task, and their summary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.content import ByContent
from taskalgebra.evaluation.rows import Columns, frame, kept, plain, records
from taskalgebra.evaluation.shown import ShownEvaluation
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import flag
from taskalgebra.worlds.finite import NO_GOAL

if TYPE_CHECKING:
    from pandas import DataFrame

NORMAL_95 = 1.959963984540054
"""95 % of a normal distribution lie within this many deviations."""
LUCK = 5e-4
"""A mean return that is further from the optimum than it is printed is shown with its error."""


class Episodes(NamedTuple):
    """Episodes one by one, each array `[N]`."""

    returns: Array
    steps: LongArray
    goals: LongArray  # in which they ended; −1 where they were cut off
    optimal_returns: Array  # NaN where not known


def _no_numbers() -> Array:
    return kept(np.empty(0))


def _no_counts() -> LongArray:
    return kept(np.empty(0, np.int64))


def _no_flags() -> BoolArray:
    return kept(np.empty(0, np.bool_))


@dataclass(frozen=True, eq=False)
class Evaluation(ShownEvaluation, ByContent):
    """The outcome of some episodes of one task.

    An episode succeeds when it ends in a goal that the task wants (`Task.wanted`), so none of the
    empty task does.  A step is one action; the last, in the absorbing state, is paid the terminal
    reward and counts like any other.  `optimal_return` is the mean of V*_M over the same starts:
    what the best policy earns on average, or NaN if not known.

    Arrays hold the episodes one by one, `[N]`, up to a million of them, and `to_frame()` is their
    table: what each returned, how many steps it took, whether it succeeded, whether it was cut off
    at the step limit, the number of the goal in which it ended or −1 (tasks with time have no
    such), and V*_M of its start, or NaN.  They are empty where the figures are exact.
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
    violations: float = 0.0  # the mean number of avoided goals entered, or of formulas violated
    certificate: str = ""  # what the agent loses, exactly, in a line; "" where that is not known
    returns: Array = field(default_factory=_no_numbers, repr=False)
    steps: LongArray = field(default_factory=_no_counts, repr=False)
    success: BoolArray = field(default_factory=_no_flags, repr=False)
    cut_off: BoolArray = field(default_factory=_no_flags, repr=False)
    goals: LongArray = field(default_factory=_no_counts, repr=False)
    goal_names: tuple[str, ...] = field(default=(), repr=False)
    optimal_returns: Array = field(default_factory=_no_numbers, repr=False)

    @property
    def score(self) -> float:
        """The mean return as a share of the optimal one; NaN if that is 0 or not known.

        It is meaningful where the optimum is above 0.
        """
        return self.mean_return / self.optimal_return if self.optimal_return else np.nan

    @property
    def by_chance(self) -> bool:
        """Whether the mean return is off a known optimum, in episodes that were played.

        In a stochastic world that may be luck, good or bad; the standard error says how much.
        """
        return abs(self.mean_return - self.optimal_return) > LUCK and self.standard_error > 0

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

    @property
    def columns(self) -> Columns:
        """The episodes, by column: return, steps, success, cut_off, goal, optimal_return.

        There is no goal of tasks with time, and no optimum where it is not known.
        """
        found: dict[str, Any] = {
            "return": self.returns,
            "steps": self.steps,
            "success": self.success,
            "cut_off": self.cut_off,
        }
        if self.goal_names:
            names = self.goal_names
            found["goal"] = [None if g == NO_GOAL else names[g] for g in self.goals.tolist()]
        if not np.isnan(self.optimal_returns).all():
            found["optimal_return"] = self.optimal_returns
        return found

    def to_dict(self, *, rows: bool = True) -> dict[str, Any]:
        """The figures by name, ready for JSON: plain numbers, and None for those not known.

        Args:
            rows: whether to add the episodes, as `rows`: one dictionary per episode.
        """
        flag(rows, "rows")
        found = {name: plain(getattr(self, name)) for name in FIGURES}
        return {**found, "rows": records(self.columns)} if rows else found

    def to_frame(self) -> DataFrame:
        """The episodes as a pandas table, one row each; it has no rows if the figures are exact.

        Raises:
            ImportError: pandas is not installed.
        """
        return frame(self.columns)

    def __str__(self) -> str:
        """One line with the figures; ± is the standard error, if the return is off the optimum."""
        many = f"{100 * self.unfinished / self.episodes:.1f} %" if self.exact else self.unfinished
        cut = f", {many} cut off" if self.unfinished else ""
        known = not np.isnan(self.optimal_return)
        chance = f" ± {self.standard_error:.3f}" if self.by_chance else ""
        played = "exact" if self.exact else f"{self.episodes} episodes"
        optimal = f" (optimal {self.optimal_return:.3f})" if known else ""
        wrong = f", {self.violations:.2f} violations" if self.violations else ""
        return (
            f"return {self.mean_return:.3f}{chance}{optimal}, success "
            f"{100 * self.success_rate:.1f} %, {self.mean_steps:.1f} steps{wrong}, "
            f"{played}{cut}{self.certificate and f'; {self.certificate}'}"
            f"{self.note and f'; {self.note}'}"
        )


FIGURES = (
    "episodes",
    "mean_return",
    "standard_error",
    "optimal_return",
    "success_rate",
    "unfinished",
    "mean_steps",
    "note",
    "exact",
    "violations",
    "certificate",
)
"""What an evaluation says of all its episodes together."""


def summary(task: Task, episodes: Episodes) -> Evaluation:
    """The figures of some episodes."""
    ended = episodes.goals != NO_GOAL
    found = figures(episodes, ended, ended & task.wanted[episodes.goals])
    return replace(found, goals=kept(episodes.goals), goal_names=tuple(task.space.goal_names))


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
        returns=kept(episodes.returns),
        steps=kept(episodes.steps),
        success=kept(succeeded),
        cut_off=kept(~ended),
        optimal_returns=kept(episodes.optimal_returns),
    )
