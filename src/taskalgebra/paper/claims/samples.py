"""Fig. 3a: what the paper claims about samples for many tasks, and the verdicts.

Every statement is about tasks, so that the order in which they are learned and drawn does not
matter.  Costs scale *linearly* where a task costs the same however many were learned before it, and
about the same as any other task: the total then is a line in every order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.record import Result
from taskalgebra.paper.results.resampling import FEWEST, interval

ALIKE = 1.15
"""Numbers are alike when none is more than this times the median, or the median more than this
times it."""
TREND = 0.01
"""A cost has no trend when each task learned before surely changes it by no more than this."""
ENDS = {"false", "true"}
SLOW = (
    " Values below 0, where tables start, are learned slowly: those of goals that a task does not "
    "desire. Regular values have them only in false, extended ones in all tasks but true."
)


def _costs(result: Result, learner: str, tasks: list[str]) -> tuple[Array, Array]:
    """[runs, tasks], the samples of each task, and how many tasks were learned before it."""
    rows = result.table.where(learner=learner)
    runs = sorted(rows.distinct("run"))
    found = {(row["run"], row["task"]): (row["steps"], row["position"]) for row in rows.rows()}
    if not found or len(found) != rows.n_rows:
        raise ValueError(f"{learner} has no rows, or two of one run and task")
    cells = np.array([[found[run, task] for task in tasks] for run in runs], np.float64)
    return cells[..., 0], cells[..., 1]


def _alike(values: Array) -> BoolArray:
    """Which values are those of the median task."""
    middle = np.median(values)
    alike: BoolArray = (values <= ALIKE * middle) & (middle <= ALIKE * values)
    return alike


def _trend(steps: Array, before: Array) -> tuple[float, float]:
    """How much more a task costs for each task learned before it: an interval over runs.

    Costs are relative to the mean of the same task, so that an easy task is no trend wherever it
    comes.
    """
    relative = steps / steps.mean(axis=0)
    centred = before - before.mean(axis=1, keepdims=True)
    low, high = interval((centred * relative).sum(axis=1) / (centred**2).sum(axis=1))
    return float(low), float(high)


def _over_orders(costs: Array, other: Array, n_tasks: int) -> tuple[float, float]:
    """The smallest and the largest Σ other / Σ costs after this many tasks, over all orders."""
    sets = np.array(list(itertools.combinations(range(costs.size), n_tasks)))
    ratios = other[sets].sum(axis=1) / costs[sets].sum(axis=1)
    return float(ratios.min()), float(ratios.max())


def samples(result: Result) -> Iterator[Claim]:
    """More samples for extended values; both linear; a constant factor."""
    tasks = result.table.distinct("task")
    (plain, plain_before), (extended, extended_before) = (
        _costs(result, learner, tasks) for learner in (PLAIN, EXTENDED)
    )
    each, other = plain.mean(axis=0), extended.mean(axis=0)
    n, half = len(tasks), len(tasks) // 2
    more = int((interval(extended - plain)[0] > 0).sum())
    yield judged(
        "Fig. 3a",
        "More samples are needed to learn extended than regular value functions.",
        f"{other.sum():,.0f} against {each.sum():,.0f} steps for {n} tasks; more for {more} of "
        f"{n} tasks",
        Verdict.of(more, n),
        f"{n - more} of {n} tasks need no more.",
    )
    trends = {
        "regular": _trend(plain, plain_before),
        "extended": _trend(extended, extended_before),
    }
    enough = len(plain) >= FEWEST
    flat = enough and all(-TREND <= low and high <= TREND for low, high in trends.values())
    bent = enough and any(low > TREND or high < -TREND for low, high in trends.values())
    alike = _alike(each) & _alike(other)
    odd = _named(tasks, ~alike, lambda t: f"{each[t]:,.0f} and {other[t]:,.0f}")
    lines = " and ".join(
        f"{low:.0%} to {high:.0%} {name}"
        for name, costs in (("regular", each), ("extended", other))
        for low, high in [_over_orders(np.full(n, costs.mean()), costs, half)]
    )
    equal = Verdict.of(int(alike.sum()), n)
    yield judged(
        "Fig. 3a",
        "Both scale linearly in the number of tasks.",
        f"each task learned before changes the cost of a task by "
        f"{' and '.join(f'{_percent(*ends)} ({name})' for name, ends in trends.items())}; "
        f"a task costs {_span(each, ',.0f')} regular and {_span(other, ',.0f')} extended steps, "
        f"{alike.sum()} of {n} both within a factor {ALIKE} of the median{odd}; over all "
        f"orders the total after {half} tasks is {lines} of what a line gives",
        equal if flat or equal is Verdict.FAILS else Verdict.FAILS if bent else Verdict.PART,
        f"Each task learned before changes the cost of a task by more than {TREND:.0%}."
        if bent
        else f"{n - alike.sum()} of {n} tasks do not cost what the others cost, so that the total "
        f"is a line only without them; what a task costs depends on the task."
        if flat or equal is Verdict.FAILS
        else f"The runs are too few to tell that each task learned before changes the cost of a "
        f"task by no more than {TREND:.0%}.",
    )
    factor = other / each
    constant = _alike(factor)
    odd = _named(tasks, ~constant, lambda t: f"{factor[t]:.2f}")
    ends = "; ".join(
        f"{low:.2f} to {high:.2f} after {k}"
        for k in (n // 4, n // 2)
        for low, high in [_over_orders(each, other, k)]
    )
    yield judged(
        "Fig. 3a",
        "They differ only by a constant factor.",
        f"factor per task: {_span(factor, '.2f')}, for {constant.sum()} of {n} within a factor "
        f"{ALIKE} of the median, {np.median(factor):.2f}{odd}; of the totals, over all orders: "
        f"{ends}; "
        f"{other.sum() / each.sum():.2f} after all {n}",
        Verdict.of(int(constant.sum()), n),
        f"For {n - constant.sum()} of {n} tasks the factor is more than {ALIKE} times larger or "
        f"smaller than the median."
        + (
            SLOW if {t for t, same in zip(tasks, constant, strict=True) if not same} <= ENDS else ""
        ),
    )


def _named(tasks: list[str], these: BoolArray, figure: Callable[[int], str]) -> str:
    """The tasks that are exceptions, each with its figure; nothing if there are none."""
    named = [f"{tasks[t]} ({figure(int(t))})" for t in np.flatnonzero(these)]
    return f", not {', '.join(named)}" if named else ""


def _span(values: Array, how: str) -> str:
    return f"{values.min():{how}} to {values.max():{how}}"


def _percent(low: float, high: float) -> str:
    return f"{100 * low:+.1f} to {100 * high:+.1f} %"
