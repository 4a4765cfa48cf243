"""What the paper claims about Four Rooms, what was measured, and whether it holds.

A composed policy is *identical* to optimal when it earns the optimum from every start, and *very
close* when its mean return is at most the cost of one step, 0.1, below the optimum.  The paper does
not say what it means by "very close".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taskalgebra import files
from taskalgebra.experiments.efficient import ONE_TASK, OURS
from taskalgebra.experiments.record import Result, Table
from taskalgebra.experiments.sample_counts import EXTENDED, PLAIN

CLOSE = 0.1
"""The cost of one step."""
CONSTANT = 1.25
"""A factor is constant when its largest and smallest value differ by no more than this."""
LINEAR = 0.995
"""R² above which a line is a good description."""


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, held against what was measured."""

    where: str
    claim: str
    measured: str
    holds: bool


def judge(results: Mapping[str, Result]) -> list[Claim]:
    """All claims about Four Rooms, in the paper's order, and one of ours."""
    return [
        *_rewards(results["rewards"]),
        *_composition(results["composition"]),
        *_sixteen(results["optimal_sixteen"]),
        *_samples(results["samples"]),
        *_n_tasks(results["n_tasks"]),
        *_forty(results["forty_goals"], results["layout"], results["optimal_forty"]),
        *_dense_composition(results["composition"]),
        *_relaxed(results["relaxed"]),
        *_slips(results["slips"]),
        *_table_1(results["layout"]),
        *_ours(results["efficient"]),
    ]


def save(claims: Sequence[Claim], directory: Path) -> None:
    """Write `claims.csv` and `claims.json`."""
    rows = [(c.where, c.claim, c.measured, "yes" if c.holds else "no") for c in claims]
    table = Table.of_rows(("where", "claim", "measured", "holds"), rows)
    files.replace(directory / "claims.csv", table.to_csv().encode())
    text = json.dumps([asdict(claim) for claim in claims], indent=2, ensure_ascii=False)
    files.replace(directory / "claims.json", f"{text}\n".encode())


def _rewards(result: Result) -> list[Claim]:
    table, low = result.table, result.config["r_empty"]
    outside = table["conjunction"] == low
    paid = float((table["average"][outside] > low).mean())
    return [
        Claim(
            "Fig. 1",
            "Averaging rewards, unlike ∧, pays in regions that are not in the intersection.",
            f"outside the intersection, ∧ pays in 0 %, the average in {100 * paid:.0f} % of the "
            f"plane",
            paid > 0,
        )
    ]


def _composition(result: Result) -> list[Claim]:
    errors = result.tables["composition_errors"].where(rewards="sparse")
    worst = float(errors["largest_error"].max())
    return [
        Claim(
            "Fig. 2",
            "Extended values of L and T are learned optimally; ∨, ∧, xor and nor of them are "
            "optimal without further learning.",
            f"largest |Q̄ − Q̄*| over the six tables: {worst:.1g}",
            worst <= 1e-9,
        )
    ]


def _sixteen(result: Result) -> list[Claim]:
    table = result.table
    seeds, tasks = len(table.distinct("seed")), len(table.distinct("task"))
    optimal = int(table["optimal"].sum())
    return [
        Claim(
            "Section 4.2",
            "Having trained on two tasks only, the agent can solve 16 tasks.",
            f"{optimal:,} of {table.n_rows:,} composed policies ({seeds} seeds × {tasks} tasks) "
            f"are optimal from every start",
            tasks == 16 and optimal == table.n_rows,
        )
    ]


def _totals(result: Result, learner: str) -> NDArray[np.float64]:
    """[tasks], the mean over runs of the samples after 1, 2, … tasks."""
    rows = result.table.where(learner=learner)
    per_task = rows["steps"].reshape(-1, len(rows.distinct("run"))).mean(axis=1)
    total: NDArray[np.float64] = np.cumsum(per_task)
    return total


def _linearity(total: NDArray[np.float64]) -> float:
    """R² of the best straight line through the totals."""
    tasks = np.arange(1, total.size + 1)
    return float(np.corrcoef(tasks, total)[0, 1] ** 2)


def _samples(result: Result) -> list[Claim]:
    plain, extended = _totals(result, PLAIN), _totals(result, EXTENDED)
    ratio = extended / plain
    line = min(_linearity(plain), _linearity(extended))
    return [
        Claim(
            "Fig. 3a",
            "More samples are needed to learn extended than regular value functions.",
            f"{extended[-1]:,.0f} against {plain[-1]:,.0f} steps for 16 tasks",
            bool((extended > plain).all()),
        ),
        Claim(
            "Fig. 3a",
            "Both scale linearly in the number of tasks.",
            f"R² of a line: {_linearity(plain):.4f} regular, {_linearity(extended):.4f} extended",
            line >= LINEAR,
        ),
        Claim(
            "Fig. 3a",
            "They differ only by a constant factor.",
            f"factor {ratio[-1]:.2f} after 16 tasks; between {ratio[1:].min():.2f} and "
            f"{ratio[1:].max():.2f} after 2 to 16",
            bool(ratio[1:].max() <= CONSTANT * ratio[1:].min()),
        ),
    ]


def _n_tasks(result: Result) -> list[Claim]:
    table = result.table
    counted = table["algebra_counted"] >= 0
    agree = all(
        np.array_equal(table[name][counted], table[f"{name}_counted"][counted])
        for name in ("disjunction", "algebra")
    )
    most = int(table["learned"][counted].max())
    n = table["algebra_counted"][counted].max()
    return [
        Claim(
            "Fig. 3b",
            "From K tasks, disjunction solves 2^K − 1 and the Boolean algebra 2^(2^K).",
            f"counted for K = 1 to {most}, where the algebra has {n:,}: both formulas "
            f"{'agree' if agree else 'DISAGREE'}",
            agree,
        )
    ]


def _base_tasks_of(goals: Table) -> list[str]:
    """The base tasks of a table of labels, which must tell all goals apart."""
    names = [name for name in goals if name not in ("goal", "row", "column")]
    labels = np.stack([goals[name] for name in names], axis=1)
    if len(np.unique(labels, axis=0)) != goals.n_rows:
        raise ValueError(f"the base tasks {names} do not tell {goals.n_rows} goals apart")
    return names


def _forty(forty: Result, layout: Result, optimal: Result) -> list[Claim]:
    plain, extended = _totals(forty, PLAIN), _totals(forty, EXTENDED)
    needed = {k: len(_base_tasks_of(layout.tables[f"layout_{k}_goals"])) for k in (4, 40)}
    formula = {k: math.floor(math.log2(k)) + 1 for k in needed}
    solved, n = int(optimal.table["optimal"].sum()), optimal.table.n_rows
    return [
        Claim(
            "Fig. 3c",
            "With 40 goals only 7 base tasks must be learned, as opposed to 40 for disjunction.",
            f"{needed[40]} suffice: they tell all 40 goals apart, 5 could tell 32; the 7 of the "
            f"caption is one more than the formula of the text gives",
            needed[40] == 7,
        ),
        Claim(
            "Section 4.2",
            "For K goals, ⌊log₂ K⌋ + 1 base tasks are needed.",
            "; ".join(f"K = {k}: formula {formula[k]}, needed {needed[k]}" for k in needed)
            + "; ⌈log₂ K⌉ is right, and the paper itself uses 2 for 4",
            formula == needed,
        ),
        Claim(
            "Fig. 3c",
            "With 40 goals, extended values need fewer samples for all tasks than regular values.",
            f"{extended[-1]:,.0f} steps for {extended.size} tasks against {plain[-1]:,.0f} for "
            f"{plain.size}: {plain[-1] / extended[-1]:.1f} times fewer",
            bool(extended[-1] < plain[-1]),
        ),
        Claim(
            "Section 4.2",
            "Any of the 2^40 tasks is composed optimally from the base tasks.",
            f"{solved:,} of {n:,} random goal sets, from {needed[40]} learned tables, are optimal "
            f"from every start",
            solved == n,
        ),
    ]


def _dense_composition(result: Result) -> list[Claim]:
    table = result.table
    sparse, dense = (table.where(rewards=kind) for kind in ("sparse", "dense"))
    difference = np.abs(sparse["v"] - dense["v"])
    errors = result.tables["composition_errors"].where(rewards="dense")
    lost = [
        f"{row['panel']} in {row['starts'] - row['optimal_starts']} of {row['starts']} cells"
        for row in errors.rows()
        if row["optimal_starts"] < row["starts"]
    ]
    return [
        Claim(
            "Supplement, Fig. 2 with dense rewards",
            "The value functions are very similar to those of the sparse setting.",
            f"|V_dense − V_sparse| is {difference.mean():.2f} on average and at most "
            f"{difference.max():.2f}, of a range of {np.ptp(sparse['v']):.1f}; but policies fail: "
            f"{' and '.join(lost) or 'none'}",
            not lost,
        )
    ]


def _closeness(rows: Table) -> tuple[int, int, list[str]]:
    """How many tasks are identical to optimal, how many very close, and the others in words."""
    identical = rows["optimal_runs"] == rows["runs"]
    close = (rows["gap"] <= CLOSE) & ~identical
    far = [
        f"{row['task']} (mean {row['mean']:.2f} of {row['optimum']:.2f}"
        + (f", {100 * row['failure_rate']:.1f} % fail)" if row["failure_rate"] > 0 else ")")
        for row, good in zip(rows.rows(), identical | close, strict=True)
        if not good
    ]
    return int(identical.sum()), int(close.sum()), far


def _relaxed(result: Result) -> list[Claim]:
    claims = []
    for variant in result.table.distinct("variant"):
        rows = result.table.where(variant=variant)
        identical, close, far = _closeness(rows)
        exact = variant == "sparse, same"
        measured = f"{identical} of {rows.n_rows} tasks identical, {close} within one step"
        if far:
            measured += f"; far: {', '.join(far)}"
        claims.append(
            Claim(
                f"Supplement, {variant}",
                "Extended values learned in the theoretically optimal manner are indeed optimal."
                if exact
                else "For the majority of the tasks, policies are identical or very close to "
                "optimal.",
                measured,
                identical == rows.n_rows if exact else 2 * (identical + close) > rows.n_rows,
            )
        )
    return claims


def _slips(result: Result) -> list[Claim]:
    claims = []
    for variant in result.table.distinct("variant"):
        rows = result.table.where(variant=variant)
        identical, close, far = _closeness(rows)
        measured = f"{identical} of {rows.n_rows} tasks identical, {close} within one step"
        if far:
            measured += f"; far: {', '.join(far)}"
        claims.append(
            Claim(
                f"Supplement, {variant}",
                "Composed policies are identical or very close to optimal.",
                measured,
                not far,
            )
        )
    return claims


def _table_1(layout: Result) -> list[Claim]:
    goals = layout.tables["layout_4_goals"]
    wanted = {
        name: {g for g, one in zip(goals["goal"].tolist(), goals[name], strict=True) if one}
        for name in ("top", "left")
    }
    return [
        Claim(
            "Supplement, Table 1",
            "Labels for four goals give the base tasks x₁ = {top-right, top-left} and x₂ = "
            "{bottom-left, top-left}.",
            "; ".join(f"{name} = {{{', '.join(sorted(s))}}}" for name, s in wanted.items()),
            wanted == {"top": {"top_left", "top_right"}, "left": {"top_left", "bottom_left"}},
        )
    ]


def _ours(result: Result) -> list[Claim]:
    """The paper's conclusion asks for fewer samples; this is our answer, not a claim of theirs."""
    steps = result.table.where(kind="added", idea=OURS)["steps"]
    one = result.table.where(kind="paper", idea=ONE_TASK)["steps"].mean()
    return [
        Claim(
            "Ours, not in the paper",
            "All 2^40 tasks of the 40-goal world are mastered exactly in at most 2,000 steps.",
            f"{steps.mean():,.0f} ± {steps.std():,.0f} steps over {steps.size} runs; plain "
            f"Q-learning needs {one:,.0f} for one single-goal task",
            bool(steps.mean() <= 2000),
        )
    ]
