"""What the paper claims about Four Rooms in its main part, what was measured, and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from taskalgebra.paper.claims.verdicts import FAR, Claim, Verdict, judged
from taskalgebra.paper.results.labels import ADDED, EXTENDED, ONE_TASK, OURS, PAPER, PLAIN
from taskalgebra.paper.results.record import Result, Table


def rewards(result: Result) -> Iterator[Claim]:
    """Fig. 1: what ∧ pays where the average pays too."""
    table, r_empty = result.table, result.config["r_empty"]
    outside = ~((table["left"] > r_empty) & (table["down"] > r_empty))
    both, average = (
        int((table[name][outside] > r_empty).sum()) for name in ("conjunction", "average")
    )
    n = int(outside.sum())
    yield judged(
        "Fig. 1",
        "Averaging rewards, unlike ∧, pays in regions that are not in the intersection.",
        f"of the plane outside the intersection, ∧ pays in {_percent(both, n)}, the average in "
        f"{_percent(average, n)}",
        both == 0 < average,
        "∧ pays outside the intersection too."
        if both
        else "The average pays nowhere outside the intersection either.",
    )


def _percent(some: int, n: int) -> str:
    return f"{100 * some / n:.0f} %" if n else "nothing"


def composition(result: Result) -> Iterator[Claim]:
    """Fig. 2: composed tables against planned ones."""
    errors = result.tables["composition_errors"].where(rewards="sparse")
    worst, n = float(errors["largest_error"].max(initial=0.0)), errors.n_rows
    yield judged(
        "Fig. 2",
        "Extended values of L and T are learned optimally; ∨, ∧, xor and nor of them are "
        "optimal without further learning.",
        f"largest |Q̄ − Q̄*| over {n} tables: {worst:.1g}",
        worst <= 1e-9 and n == 6,
        f"A table differs from the planned one by more than 1e-9, or there are not six: {n}.",
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
        f"{table.n_rows - optimal:,} of {table.n_rows:,} policies of {tasks} tasks lose; there "
        f"are 16 tasks.",
    )


def n_tasks(result: Result) -> Iterator[Claim]:
    """Fig. 3b: both formulas against the count."""
    table = result.table
    rows = [row for row in table.rows() if row["algebra_counted"] >= 0]
    formulas: dict[str, Callable[[int], int]] = {
        "disjunction": lambda k: 2**k - 1,
        "algebra": lambda k: 2 ** (2**k),
    }
    agree = bool(rows) and all(
        row["learned"] in range(9)  # beyond, nothing is counted
        and row[name] == row[f"{name}_counted"] == formula(row["learned"])
        for row in rows
        for name, formula in formulas.items()
    )
    learned = ", ".join(str(row["learned"]) for row in rows) or "none"
    n = max((row["algebra_counted"] for row in rows), default=0)
    yield judged(
        "Fig. 3b",
        "From K tasks, disjunction solves 2^K − 1 and the Boolean algebra 2^(2^K).",
        f"counted for K = {learned}, where the algebra has up to {n:,}: both formulas "
        f"{'agree' if agree else 'DISAGREE'}",
        agree,
        "A formula and the count differ, or nothing was counted.",
    )


def _base_tasks_of(goals: Table, n_goals: int) -> int | None:
    """How many base tasks of a table of labels are needed to tell this many goals apart.

    None if they do not tell them apart.  Those that can be left out are not counted.
    """
    names = [name for name in goals if name not in ("goal", "row", "column")]

    def apart(some: list[str]) -> bool:
        labels = np.stack([goals[name] for name in some] or [np.zeros(goals.n_rows)], axis=1)
        return len(np.unique(labels, axis=0)) == n_goals

    if not apart(names):
        return None
    for name in tuple(names):
        others = [other for other in names if other != name]
        names = others if apart(others) else names
    return len(names)


def n_base_tasks(layout: Result) -> Iterator[Claim]:
    """Fig. 3c and Section 4.2: how many base tasks tell the goals apart."""
    needed = {k: _base_tasks_of(layout.tables[f"layout_{k}_goals"], k) for k in (4, 40)}
    formula = {k: math.floor(math.log2(k)) + 1 for k in needed}
    least = {k: math.ceil(math.log2(k)) for k in needed}
    many = needed[40]
    few = many is not None and FAR * many <= 40
    yield judged(
        "Fig. 3c",
        "With 40 goals only 7 base tasks must be learned, as opposed to 40 for disjunction.",
        "the base tasks do not tell 40 goals apart"
        if many is None
        else f"{many} suffice: they tell all 40 goals apart, and none of them can be left out",
        Verdict.HOLDS if many == 7 else Verdict.PART if few else Verdict.FAILS,
        f"Far fewer than 40 are needed, but the number is {many}. The 7 of the caption is neither "
        f"this nor what the formula of the text gives, {formula[40]}."
        if few
        else "Far fewer than 40 base tasks do not suffice.",
    )
    yield judged(
        "Section 4.2",
        "For K goals, ⌊log₂ K⌋ + 1 base tasks are needed.",
        "; ".join(f"K = {k}: formula {formula[k]}, needed {n}" for k, n in needed.items()),
        Verdict.HOLDS if needed == formula else Verdict.PART if needed == least else Verdict.FAILS,
        "The number is logarithmic in K, but it is ⌈log₂ K⌉. The formula gives one too many "
        "where K is a power of two; the paper itself uses 2 base tasks for 4 goals."
        if needed == least
        else f"Needed are neither these nor ⌈log₂ K⌉, {least}.",
    )


def _for_all_tasks(result: Result, learner: str) -> tuple[float, int, int]:
    """The mean over runs of the samples for all tasks together, their number, and that of runs."""
    rows = result.table.where(learner=learner)
    runs, tasks = len(rows.distinct("run")), len(rows.distinct("task"))
    return float(rows["steps"].sum()) / max(1, runs), tasks, runs


def forty_goals(result: Result) -> Iterator[Claim]:
    """Fig. 3c: samples of both learners with 40 goals."""
    plain, n_plain, _ = _for_all_tasks(result, PLAIN)
    extended, n_extended, runs = _for_all_tasks(result, EXTENDED)
    measured = f"{extended:,.0f} steps for {n_extended} tasks against {plain:,.0f} for {n_plain}, "
    measured += f"the mean of {runs} runs"
    if 0 < extended < plain:
        measured += f": {plain / extended:.1f} times fewer"
    yield judged(
        "Fig. 3c",
        "With 40 goals, extended values need fewer samples for all tasks than regular values.",
        measured,
        0 < extended < plain and n_plain == 40,
        "They do not need fewer, or not all tasks were learned.",
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
    one = result.table.where(kind=PAPER, idea=ONE_TASK)["steps"]
    many, single = (float(some.sum()) / max(1, some.size) for some in (steps, one))
    most, within = int(steps.max(initial=0)), int((steps <= 2000).sum())
    yield judged(
        "Ours: fewer samples",
        "All 2^40 tasks of the 40-goal world are mastered exactly in at most 2,000 steps.",
        f"at most {most:,} steps in each of {steps.size} runs, {many:,.0f} on average; plain "
        f"Q-learning needs {single:,.0f} on average for one single-goal task",
        within == steps.size > 0,
        f"{steps.size - within} of {steps.size} runs need more.",
    )
