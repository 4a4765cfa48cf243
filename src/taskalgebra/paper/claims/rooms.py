"""What the paper claims about Four Rooms in its main part, what was measured, and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.results.labels import ADDED, EXTENDED, ONE_TASK, OURS, PAPER, PLAIN
from taskalgebra.paper.results.record import Result, Table


def rewards(result: Result) -> Iterator[Claim]:
    """Fig. 1: what ∧ pays where the average pays too."""
    table, r_empty = result.table, result.config["r_empty"]
    outside = table["conjunction"] == r_empty
    paid = float((table["average"][outside] > r_empty).mean())
    yield judged(
        "Fig. 1",
        "Averaging rewards, unlike ∧, pays in regions that are not in the intersection.",
        f"of the plane outside the intersection, ∧ pays in 0 %, the average in {100 * paid:.0f} %",
        paid > 0,
        "The average pays nowhere outside the intersection either.",
    )


def composition(result: Result) -> Iterator[Claim]:
    """Fig. 2: composed tables against planned ones."""
    errors = result.tables["composition_errors"].where(rewards="sparse")
    worst = float(errors["largest_error"].max())
    yield judged(
        "Fig. 2",
        "Extended values of L and T are learned optimally; ∨, ∧, xor and nor of them are "
        "optimal without further learning.",
        f"largest |Q̄ − Q̄*| over the six tables: {worst:.1g}",
        worst <= 1e-9,
        "A table differs from the planned one by more than 1e-9.",
    )


def sixteen_tasks(result: Result) -> Iterator[Claim]:
    """Section 4.2: two learned tasks, 16 solved."""
    table = result.table
    seeds, tasks = len(table.distinct("seed")), len(table.distinct("task"))
    optimal = int(table["optimal"].sum())
    yield judged(
        "Section 4.2",
        "Having trained on two tasks only, the agent can solve 16 tasks.",
        f"{optimal:,} of {table.n_rows:,} composed policies ({seeds} seeds × {tasks} tasks) "
        f"are optimal from every start",
        Verdict.of(optimal, table.n_rows) if tasks == 16 else Verdict.FAILS,
        f"{table.n_rows - optimal:,} of {table.n_rows:,} policies of {tasks} tasks lose.",
    )


def _totals(result: Result, learner: str) -> NDArray[np.float64]:
    """[tasks], the mean over runs of the samples after 1, 2, … tasks."""
    rows = result.table.where(learner=learner)
    per_task = rows["steps"].reshape(-1, len(rows.distinct("run"))).mean(axis=1)
    return np.cumsum(per_task, dtype=np.float64)


def n_tasks(result: Result) -> Iterator[Claim]:
    """Fig. 3b: both formulas against the count."""
    table = result.table
    counted = table["algebra_counted"] >= 0
    agree = all(
        np.array_equal(table[name][counted], table[f"{name}_counted"][counted])
        for name in ("disjunction", "algebra")
    )
    most = int(table["learned"][counted].max())
    n = table["algebra_counted"][counted].max()
    yield judged(
        "Fig. 3b",
        "From K tasks, disjunction solves 2^K − 1 and the Boolean algebra 2^(2^K).",
        f"counted for K = 1 to {most}, where the algebra has {n:,}: both formulas "
        f"{'agree' if agree else 'DISAGREE'}",
        agree,
        "A formula and the count differ.",
    )


def _base_tasks_of(goals: Table) -> list[str]:
    """The base tasks of a table of labels, which must tell all goals apart."""
    names = [name for name in goals if name not in ("goal", "row", "column")]
    labels = np.stack([goals[name] for name in names], axis=1)
    if len(np.unique(labels, axis=0)) != goals.n_rows:
        raise ValueError(f"the base tasks {names} do not tell {goals.n_rows} goals apart")
    return names


def n_base_tasks(layout: Result) -> Iterator[Claim]:
    """Fig. 3c and Section 4.2: how many base tasks tell the goals apart."""
    needed = {k: len(_base_tasks_of(layout.tables[f"layout_{k}_goals"])) for k in (4, 40)}
    formula = {k: math.floor(math.log2(k)) + 1 for k in needed}
    right = sum(formula[k] == needed[k] for k in needed)
    yield judged(
        "Fig. 3c",
        "With 40 goals only 7 base tasks must be learned, as opposed to 40 for disjunction.",
        f"{needed[40]} suffice: they tell all 40 goals apart, where one fewer tell only "
        f"{2 ** (needed[40] - 1)}",
        Verdict.HOLDS if needed[40] == 7 else Verdict.PART,
        f"Far fewer than 40 are needed, but the number is {needed[40]}. The 7 of the "
        f"caption is neither needed nor what the formula of the text gives, {formula[40]}.",
    )
    yield judged(
        "Section 4.2",
        "For K goals, ⌊log₂ K⌋ + 1 base tasks are needed.",
        "; ".join(f"K = {k}: formula {formula[k]}, needed {needed[k]}" for k in needed),
        Verdict.HOLDS if right == len(needed) else Verdict.PART,
        "The number is logarithmic in K, but it is ⌈log₂ K⌉. The formula gives one too many "
        "where K is a power of two; the paper itself uses 2 base tasks for 4 goals.",
    )


def forty_goals(result: Result) -> Iterator[Claim]:
    """Fig. 3c: samples of both learners with 40 goals."""
    plain, extended = _totals(result, PLAIN), _totals(result, EXTENDED)
    yield judged(
        "Fig. 3c",
        "With 40 goals, extended values need fewer samples for all tasks than regular values.",
        f"{extended[-1]:,.0f} steps for {extended.size} tasks against {plain[-1]:,.0f} for "
        f"{plain.size}: {plain[-1] / extended[-1]:.1f} times fewer",
        bool(extended[-1] < plain[-1]),
        "They need more.",
    )


def any_of_forty(result: Result) -> Iterator[Claim]:
    """Section 4.2: random tasks of all 2^40."""
    solved, n = int(result.table["optimal"].sum()), result.table.n_rows
    yield judged(
        "Section 4.2",
        "Any of the 2^40 tasks is composed optimally from the base tasks.",
        f"{solved:,} of {n:,} random goal sets, composed from learned tables, are optimal from "
        f"every start",
        Verdict.of(solved, n),
        f"{n - solved:,} of {n:,} policies lose.",
    )


def fewer_samples(result: Result) -> Iterator[Claim]:
    """The paper's conclusion asks for fewer samples; this is our answer, not a claim of theirs."""
    steps = result.table.where(kind=ADDED, idea=OURS)["steps"]
    one = result.table.where(kind=PAPER, idea=ONE_TASK)["steps"].mean()
    yield judged(
        "Ours: fewer samples",
        "All 2^40 tasks of the 40-goal world are mastered exactly in at most 2,000 steps.",
        f"{steps.mean():,.0f} ± {steps.std():,.0f} steps over {steps.size} runs; plain "
        f"Q-learning needs {one:,.0f} for one single-goal task",
        bool(steps.mean() <= 2000),
        "The mean is above 2,000 steps.",
    )
