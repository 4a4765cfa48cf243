"""The records: what was measured, what is asked of it, and what others published.

A *score* is what a publication reports beside success and steps, such as a sum of discounted
rewards, or the median return where episodes do not end; numbers that are not known are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array

PLANNED = "planned"
TABLES = "tables, Algorithm 1"
FEW_STEPS = "tables, few steps"
NETWORK = "network"
AT_OPTIMUM, NOT_SHORT, UNKNOWN = "at the optimum", "not short of it", "the optimum is not known"
REFUSED = "refused"
ROUNDING = 1e-9


@final
@dataclass(frozen=True)
class Published:
    """What others report for a task."""

    world: str
    task: str
    method: str
    success: float = math.nan
    steps: float = math.nan
    score: float = math.nan
    source: str = ""


@final
@dataclass(frozen=True)
class Measured:
    """One task, played by agents of one learning or planning."""

    world: str
    task: str
    formula: str
    values: str
    """How values were got: one of the four words above."""
    seed: int
    budget: int
    """The steps that learning was given; 0 without a limit."""
    learning_steps: int
    """The steps of the environment that learning took, all tables together."""
    episodes: int
    success: float
    best_success: float
    steps: float
    """The mean over episodes that succeed."""
    best_steps: float
    """The mean of the fewest steps, over episodes in which success is possible."""
    score: float
    best_score: float
    short: int
    """Episodes that fail or take longer than the best would from the same start; −1: not known."""
    bound: str = ""
    """What the best figures are, in words, where they are not the optimum."""
    refused: int = 0
    """Episodes that were not begun, since their world or their task was refused."""

    @classmethod
    def of(
        cls,
        taken: ArrayLike,
        fewest: ArrayLike | None,
        *,
        world: str,
        task: str,
        formula: str,
        values: str,
        seed: int = 0,
        budget: int = 0,
        learning_steps: int = 0,
        score: Callable[[Array], float] = lambda steps: math.nan,
        refused: int = 0,
    ) -> Measured:
        """Sum up episodes.

        Args:
            taken: the steps of each; ∞ where it failed.
            fewest: those of the best from the same start; ∞ where nobody succeeds; None where the
                best is not known.
            world: its name.
            task: its name.
            formula: of the task.
            values: how values were got.
            seed: of learning.
            budget: the steps that learning was given.
            learning_steps: those that it took.
            score: from the steps of all episodes to a score.
            refused: episodes that were not begun.
        """
        own = np.asarray(taken, np.float64)
        best = None if fewest is None else np.asarray(fewest, np.float64)
        return cls(
            world=world,
            task=task,
            formula=formula,
            values=values,
            seed=seed,
            budget=budget,
            learning_steps=learning_steps,
            episodes=own.size,
            success=_share(own),
            best_success=math.nan if best is None else _share(best),
            steps=_mean(own),
            best_steps=math.nan if best is None else _mean(best),
            score=score(own),
            best_score=math.nan if best is None else score(best),
            short=-1 if best is None else int((own > best).sum()),
            refused=refused,
        )

    @classmethod
    def scored(
        cls,
        score: float,
        best: float,
        *,
        world: str,
        task: str,
        formula: str,
        values: str,
        episodes: int,
        success: float = math.nan,
        bound: str = "",
    ) -> Measured:
        """Episodes that do not end by themselves, and are worth what they pay.

        Args:
            score: of all episodes.
            best: the same of the best agent, or of another one.
            world: its name.
            task: its name.
            formula: of the task.
            values: how values were got.
            episodes: how many.
            success: the share of episodes that avoid what must be avoided; NaN if nothing must.
            bound: what `best` is, where it is not the optimum.
        """
        return cls(
            world=world,
            task=task,
            formula=formula,
            values=values,
            seed=0,
            budget=0,
            learning_steps=0,
            episodes=episodes,
            success=success,
            best_success=math.nan if math.isnan(success) else 1.0,
            steps=math.nan,
            best_steps=math.nan,
            score=score,
            best_score=best,
            short=-1,
            bound=bound,
        )


def _share(steps: Array) -> float:
    """Of episodes that succeed."""
    return float(np.isfinite(steps).mean()) if steps.size else math.nan


def _mean(steps: Array) -> float:
    """Over the episodes that succeed."""
    won = steps[np.isfinite(steps)]
    return float(won.mean()) if won.size else math.nan


@final
@dataclass(frozen=True)
class Summary:
    """One task over all seeds: means, and counts."""

    world: str
    task: str
    formula: str
    seeds: int
    episodes: int
    success: float
    best_success: float
    steps: float
    best_steps: float
    score: float
    best_score: float
    short: int
    bound: str = ""
    refused: int = 0

    @classmethod
    def of(cls, rows: Sequence[Measured]) -> Summary:
        """Sum up the rows of one task."""

        def mean(name: str) -> float:
            return float(np.mean([getattr(row, name) for row in rows]))

        first = rows[0]
        known = all(row.short >= 0 for row in rows)
        return cls(
            first.world,
            first.task,
            first.formula,
            seeds=len(rows),
            episodes=sum(row.episodes for row in rows),
            success=mean("success"),
            best_success=mean("best_success"),
            steps=mean("steps"),
            best_steps=mean("best_steps"),
            score=mean("score"),
            best_score=mean("best_score"),
            short=sum(row.short for row in rows) if known else -1,
            bound=first.bound,
            refused=sum(row.refused for row in rows),
        )

    @property
    def verdict(self) -> str:
        """At the optimum, or by how much it falls short."""
        if self.episodes == 0:
            return REFUSED
        if self.short == 0:
            return AT_OPTIMUM
        lacks = []
        lost = self.best_success - self.success
        if lost > ROUNDING:
            lacks.append(f"{lost:.3f} of success")
        more = self.steps / self.best_steps - 1
        if more > ROUNDING:
            lacks.append(f"{100 * more:.1f} % more steps")
        less = 1 - self.score / self.best_score if self.best_score else math.nan
        if less > ROUNDING:
            lacks.append(f"{100 * less:.1f} % of the score")
        if lacks:
            return f"short by {', '.join(lacks)}"
        if self.short > 0:
            return f"short in {self.short} of {self.episodes} episodes"
        known = [self.best_success, self.best_steps, self.best_score]
        return UNKNOWN if all(map(math.isnan, known)) else NOT_SHORT


@final
@dataclass(frozen=True, eq=False)
class Entry:
    """A part of the report: some tasks, and values that were got in one way."""

    name: str
    title: str
    values: str
    measure: Callable[[bool], Iterable[Measured]]
    """Measure all tasks; the argument says whether at toy size."""
    bar: str
    """What is asked for, in words."""
    most_lost: float = 0.0
    """By how much success may be below the best."""
    most_steps: float = 1.0
    """How many times as many steps as the best episodes may take."""
    least_score: float = 0.0
    """The share of the best score that is asked for."""
    no_more_steps: Mapping[str, float] = field(default_factory=dict)
    """The most steps of tasks, by name, such as those of others where the best is not known."""
    score: str = ""
    """What the score is."""
    extras: tuple[str, ...] = ()
    """Extras of the library that it needs."""
    aside: bool = False
    """Whether a run of all parts leaves it out where an extra is not installed."""

    def reaches(self, one: Measured) -> bool:
        """Whether what was measured reaches the bar; what is not known is not asked for.

        Nothing is reached where nothing was played.
        """
        if one.episodes == 0:
            return False
        best = 1.0 if math.isnan(one.best_success) else one.best_success
        within = one.success >= best - self.most_lost - ROUNDING
        late = one.steps > one.best_steps * self.most_steps + ROUNDING
        low = one.score < one.best_score * self.least_score - ROUNDING
        if self.most_lost == 0.0 and self.most_steps == 1.0 and one.short > 0:
            return False
        late = late or one.steps > self.no_more_steps.get(one.task, math.inf)
        return (math.isnan(one.success) or within) and not late and not low

    def shown(self, rows: Iterable[Measured]) -> list[Measured]:
        """The rows of the smallest budget from which on all reach the bar; else of the largest."""
        found = list(rows)
        budgets = sorted({row.budget for row in found}, reverse=True)
        chosen = budgets[0]
        for budget in budgets:
            if not all(self.reaches(row) for row in found if row.budget == budget):
                break
            chosen = budget
        return [row for row in found if row.budget == chosen]


def summaries(rows: Iterable[Measured]) -> list[Summary]:
    """One for each task, in the order in which they come."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for row in rows:
        groups.setdefault((row.world, row.task), []).append(row)
    return [Summary.of(group) for group in groups.values()]


@final
@dataclass(frozen=True)
class Shown:
    """A part that was run."""

    entry: Entry
    measured: tuple[Measured, ...]
    seconds: float
    cpu_seconds: float
    quick: bool = False  # at toy size
    kept: bool = False

    @cached_property
    def rows(self) -> list[Measured]:
        """Those of one budget: the smallest from which on all reach the bar, if there is one."""
        return self.entry.shown(self.measured)

    @cached_property
    def tasks(self) -> list[Summary]:
        """The rows, summed up over seeds."""
        return summaries(self.rows)

    @property
    def ok(self) -> bool:
        """Whether every task reaches the bar, with every seed."""
        return all(self.entry.reaches(row) for row in self.rows)
