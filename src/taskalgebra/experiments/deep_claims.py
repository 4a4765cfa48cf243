"""What the paper claims about Boxman, what was measured, and whether it holds.

A composed agent *acts optimally* when every episode earns the optimum.  It is *close* to it when
its mean return is at most the cost of one step below, as for Four Rooms (`claims`).  By touch,
where even exact values do not always compose to the optimum, agents are also held against what
those compose to.
"""

from __future__ import annotations

from collections.abc import Mapping

from taskalgebra.experiments.boxman_settings import FIXED, RANDOM, TOUCH
from taskalgebra.experiments.claims import CLOSE, Claim
from taskalgebra.experiments.record import Result, Table


def judge(results: Mapping[str, Result]) -> list[Claim]:
    """All claims about Boxman, in the paper's order, and one of ours."""
    values, returns = results["boxman_values"], results["boxman_returns"]
    return [
        *_extended_values(values),
        *_optimal(returns, values),
        *_returns(returns.table, FIXED, "Fig. 6"),
        *_returns(returns.table, RANDOM, "Supplement, random objects by pick-up"),
        *_dips(values),
        *_different(returns.table),
        *_subsets(returns.tables["boxman_subsets"]),
    ]


def _extended_values(result: Result) -> list[Claim]:
    errors = result.tables["boxman_values_errors"].where(setting=FIXED)
    base = [row for row in errors.rows() if " " not in row["task"]]
    return [
        Claim(
            "Fig. 4",
            "The agent learns how to achieve all goals, and how desirable each of them is.",
            "; ".join(
                f"{row['task']}: |V̄ − V̄*| over cells and all six goals is "
                f"{row['mean_error']:.3f} on average, at most {row['largest_error']:.3f}"
                for row in base
            ),
            all(row["largest_error"] <= CLOSE for row in base),
        )
    ]


def _optimal(returns: Result, values: Result) -> list[Claim]:
    rows = returns.table.where(setting=FIXED, kind="composed").rows()
    return [
        Claim(
            "Fig. 5",
            "By composing extended values of blue and square, we can act optimally in OR, AND and "
            "XOR with no further learning.",
            "; ".join(
                f"{row['task']}: {row['optimal_episodes']} of {row['episodes']} starts optimal"
                for row in rows
            ),
            all(row["optimal_episodes"] == row["episodes"] for row in rows),
        )
    ]


def _summary(row: dict[str, object]) -> str:
    failed = f", {row['failures']} of {row['episodes']} failed" if row["failures"] else ""
    return f"{row['task']} {row['mean']:.3f} of {row['optimum']:.3f}{failed}"


def _returns(table: Table, setting: str, where: str) -> list[Claim]:
    rows = table.where(setting=setting).rows()
    return [
        Claim(
            where,
            "Composed tasks earn on average what the best policy earns, to within a step, as do "
            "the base tasks.",
            f"{rows[0]['episodes']:,} {'starts' if setting == FIXED else 'episodes'}: "
            + "; ".join(_summary(row) for row in rows),
            all(row["mean"] >= row["optimum"] - CLOSE for row in rows),
        )
    ]


def _dips(result: Result) -> list[Claim]:
    """By touch an agent cannot reach an object that its task does not want."""
    objects = result.tables["boxman_values_objects"].where(setting=TOUCH).rows()
    base = [task for task in result.table.where(setting=TOUCH).distinct("task") if " " not in task]
    wanted: list[float] = []
    others: list[float] = []
    for task in base:
        cells = result.table.where(setting=TOUCH, task=task)
        for row in objects:
            best = float(cells[f"learned {row['object']}"].max())
            (wanted if task in row["wanted_by"].split(" ; ") else others).append(best)
    return [
        Claim(
            "Supplement, extended values by touch",
            "Where touching ends the episode, other objects can no longer be reached: extended "
            "values show large dips.",
            f"of three base tasks, the best value of an object that is wanted is at least "
            f"{min(wanted):.2f}; of the others at most {max(others):.2f}",
            min(wanted) > max(others),
        )
    ]


def _different(table: Table) -> list[Claim]:
    rows = table.where(setting=TOUCH).rows()
    composed = [row for row in rows if row["kind"] == "composed"]
    ceiling = ", ".join(f"{row['task']} {row['score_of_exact']:.3f}" for row in composed)
    reached = ", ".join(f"{row['task']} {row['score_to_exact']:.3f}" for row in composed)
    return [
        Claim(
            "Supplement, returns by touch",
            "Extended values can still be used for zero-shot composition when terminal states "
            "differ between tasks.",
            f"{rows[0]['episodes']:,} episodes: " + "; ".join(_summary(row) for row in rows),
            all(row["mean"] >= row["optimum"] - CLOSE for row in rows),
        ),
        Claim(
            "Supplement, returns by touch, against exact composition",
            "The same, with the loss of learning told from the loss of composing: networks earn "
            "what exact values of the base tasks compose to, to within a step.",
            f"exact values compose to these shares of the optimum: {ceiling}; networks reach of "
            f"that: {reached}",
            all(row["mean"] >= row["exact_composition"] - CLOSE for row in composed),
        ),
    ]


def _subsets(table: Table) -> list[Claim]:
    """Not a claim of the paper, which shows three compositions."""
    parts, holds = [], True
    for setting in table.distinct("setting"):
        rows = table.where(setting=setting)
        optimal, episodes = int(rows["optimal_episodes"].sum()), int(rows["episodes"].sum())
        parts.append(
            f"{setting}: worst of {rows.n_rows} tasks {rows['score'].min():.4f} of its optimum, "
            f"{optimal:,} of {episodes:,} episodes optimal, {int(rows['failures'].sum())} failed"
        )
        holds &= rows.n_rows == 63 and bool((rows["mean"] >= rows["optimum"] - CLOSE).all())
    return [
        Claim(
            "Ours, not in the paper",
            "Three base tasks compose to every set of objects, 63 tasks, from pixels.",
            "; ".join(parts),
            holds,
        )
    ]
