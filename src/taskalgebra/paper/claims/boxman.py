"""What the paper claims about Boxman, what was measured, and whether it holds.

A composed agent *acts optimally* when every episode earns the optimum.  It is *close* to it when
its mean return is at most the cost of one step below, as for Four Rooms.  By touch, where even
exact values do not always compose to the optimum, agents are also compared with what those compose
to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from taskalgebra.paper.claims.verdicts import CLOSE, FAR, Claim, Verdict, judged
from taskalgebra.paper.results.labels import FIXED, TOUCH
from taskalgebra.paper.results.record import Result

LARGE = 0.5
"""A dip in values is large when it is at least as deep as the cost of five steps."""
OR, AND, XOR = "blue | square", "blue & square", "blue ^ square"
PAPER = "paper"
"""The name of the paper's network in results."""


Row = dict[str, Any]


def _all(rows: list[Row], good: Callable[[Row], bool]) -> tuple[Verdict, str]:
    """The verdict of a claim about several tasks, one per row, and which of them are the reason."""
    bad = [row["task"] for row in rows if not good(row)]
    n, total = len(rows) - len(bad), len(rows)
    if not rows:
        return Verdict.of(0, 0), "The tasks that it speaks of were not measured."
    return Verdict.of(n, total), f"True of {n} of {total} tasks; not of {', '.join(bad)}."


def _named(rows: list[Row], *tasks: str) -> list[Row]:
    """The rows of the tasks that a claim names; a task that was not measured has nothing else."""
    found = {row["task"]: row for row in rows}
    return [found.get(task, {"task": task}) for task in tasks]


def _episodes(rows: list[Row], of: str = "episodes") -> str:
    """How many episodes were played of every task."""
    counts = sorted({row["episodes"] for row in rows}) or [0]
    return f"{' to '.join(f'{n:,}' for n in counts[:: max(1, len(counts) - 1)])} {of}"


def _near(what: str) -> Callable[[Row], bool]:
    """Whether a task earns this on average, to within a step."""
    return lambda row: "mean" in row and bool(row["mean"] >= row[what] - CLOSE)


def extended_values(result: Result) -> Iterator[Claim]:
    """Fig. 4: values of the base tasks against exact ones."""
    errors = result.tables["boxman_values_errors"].where(setting=FIXED)
    n_goals = result.tables["boxman_values_objects"].where(setting=FIXED).n_rows
    base = [row for row in errors.rows() if " " not in row["task"]]
    yield judged(
        "Fig. 4",
        "The agent learns how to achieve all goals, and how desirable each of them is.",
        "; ".join(
            f"{row['task']}: |V̄ − V̄*| over cells and {n_goals} goals is "
            f"{row['mean_error']:.3f} on average, at most {row['largest_error']:.3f}"
            for row in base
        ),
        *_all(base, lambda row: row["largest_error"] <= CLOSE),
    )


def composition(returns: Result) -> Iterator[Claim]:
    """Fig. 5: compositions from every start."""
    rows = _named(returns.table.where(setting=FIXED, kind="composed").rows(), OR, AND, XOR)
    yield judged(
        "Fig. 5",
        "By composing extended values of blue and square, we can act optimally in OR, AND and "
        "XOR with no further learning.",
        "; ".join(
            f"{row['task']}: {row.get('optimal_episodes', 0)} of {row.get('episodes', 0)} starts "
            f"optimal"
            for row in rows
        ),
        *_all(rows, lambda row: row.get("optimal_episodes") == row.get("episodes", 0) > 0),
    )


def _summary(row: Row) -> str:
    if "mean" not in row:
        return f"{row['task']} was not played"
    failed = f", {row['failures']} of {row['episodes']} failed" if row["failures"] else ""
    return f"{row['task']} {row['mean']:.3f} of {row['optimum']:.3f}{failed}"


def returns(result: Result, setting: str, where: str) -> Iterator[Claim]:
    """Fig. 6 and the footnote on random objects: mean returns of a setting."""
    rows, near = result.table.where(setting=setting).rows(), _near("optimum")
    yield judged(
        where,
        "Composed tasks earn on average what the best policy earns, to within a step, as do "
        "the base tasks.",
        f"{_episodes(rows, 'starts' if setting == FIXED else 'episodes')}: "
        + "; ".join(_summary(row) for row in rows),
        *_all(rows if {row["kind"] for row in rows} == {"base", "composed"} else [], near),
    )


def dips(result: Result) -> Iterator[Claim]:
    """By touch an agent that has touched one object can no longer reach another.

    Only values that were learned count: those of objects that the network met in training.
    """
    rows = result.tables["boxman_values_touched"].where(setting=TOUCH).rows()
    depths = [row["beside"] - row["after"] for row in rows if row["met"]]
    good = sum(depth >= LARGE for depth in depths)
    fall = f"falls by at least {min(depths):.2f}" if depths else "was never learned"
    yield judged(
        "Supplement, Figs. 11 to 13",
        "Where touching ends the episode, other objects can no longer be reached: extended "
        "values show large dips.",
        f"of {len(rows)} pairs of objects that one base task wants, {len(depths)} were met in "
        f"training; where the one is touched, the value of the other {fall}",
        Verdict.of(good, len(rows)),
        f"In {len(rows) - good} of {len(rows)} pairs the value was not learned or falls by less "
        f"than {LARGE:.1f}, the cost of five steps.",
    )


def touch(result: Result) -> Iterator[Claim]:
    """Fig. 14: returns by touch, against the optimum and exact composition."""
    rows = result.table.where(setting=TOUCH).rows()
    found = [row for row in rows if row["kind"] == "composed"]
    composed = _named(found, "purple | blue", AND, XOR)
    verdict, bad = _all(composed, _near("optimum"))
    ceiling = ", ".join(f"{row['task']} {row['score_of_exact']:.3f}" for row in found)
    reached = ", ".join(f"{row['task']} {row['score_to_exact']:.3f}" for row in found)
    yield judged(
        "Supplement, Fig. 14",
        "Extended values can still be used for zero-shot composition when terminal states "
        "differ between tasks: composed tasks earn the optimum, to within a step.",
        f"{_episodes(rows)}: " + "; ".join(_summary(row) for row in rows),
        verdict,
        f"{bad} Even exact values of the base tasks do not "
        f"always compose to the optimum here; they earn these shares of it: {ceiling}.",
    )
    yield _approximation(found)
    yield judged(
        "Ours: Fig. 14 against exact composition",
        "Networks earn what exact values of the base tasks compose to, to within a step.",
        f"exact values compose to these shares of the optimum: {ceiling}; networks reach of "
        f"that: {reached}",
        *_all(composed, _near("exact_composition")),
    )


def _approximation(composed: list[Row]) -> Claim:
    """What networks lose, against what is lost by composing exact values."""
    anyway = sum(row["optimum"] - row["exact_composition"] for row in composed)
    networks = sum(row["exact_composition"] - row["mean"] for row in composed)
    names = sorted({row["network"] for row in composed})
    theirs = names == [PAPER]
    other = f", here of another network than the paper's: {', '.join(names) or 'none'}"
    far = networks > 0.0 and networks >= FAR * anyway
    part = networks > max(0.0, anyway)
    return judged(
        "Supplement, end of the section on function approximation",
        "Errors due to the violated assumptions are far outweighed by errors due to "
        f"function approximation{'' if theirs else other}.",
        f"return lost by composing exact values, summed over {len(composed)} composed tasks: "
        f"{anyway:.3f}; networks lose {abs(networks):.3f} "
        f"{'more' if networks >= 0.0 else 'less'}",
        Verdict.HOLDS if far else Verdict.PART if part else Verdict.FAILS,
        _outweighed(anyway, networks)
        + ("" if theirs else " This says nothing of the paper's own network."),
    )


def _outweighed(anyway: float, networks: float) -> str:
    """Why errors of networks do not far outweigh those of the violated assumptions."""
    if networks <= 0.0:
        return "These networks lose nothing beyond what the violation does."
    times = networks / anyway if anyway > 0.0 else math.inf
    return (
        f"The networks lose {times:.1f} times what the violation does; "
        f"it is called far where it is {FAR:.0f} times or more. The better the networks, the less "
        f"this is so."
    )


def trajectories(result: Result) -> Iterator[Claim]:
    """Fig. 15: where trajectories by touch end."""
    episodes = result.tables["boxman_trajectories_episodes"].where(setting=TOUCH)
    ended: list[Row] = [
        {"task": task, "success": episodes.where(task=task)["success"]}
        for task in ("purple | blue", AND, XOR)
    ]
    yield judged(
        "Supplement, Fig. 15",
        "Composed values lead the agent to what is purple or blue, to blue squares, and to "
        "what is blue or square but not both.",
        "; ".join(
            f"{row['task']}: {row['success'].sum()} of {row['success'].size} trajectories end there"
            for row in ended
        ),
        *_all(ended, lambda row: row["success"].size > 0 and bool(row["success"].all())),
    )


def subsets(result: Result) -> Iterator[Claim]:
    """Not a claim of the paper, which shows three compositions."""
    table = result.tables["boxman_subsets"]
    parts = []
    for setting in table.distinct("setting"):
        rows = table.where(setting=setting)
        optimal, episodes = int(rows["optimal_episodes"].sum()), int(rows["episodes"].sum())
        parts.append(
            f"{setting}: worst of {rows.n_rows} tasks {rows['score'].min():.4f} of its optimum, "
            f"{optimal:,} of {episodes:,} episodes optimal, {int(rows['failures'].sum())} failed"
        )
    good = int((table["mean"] >= table["optimum"] - CLOSE).sum())
    yield judged(
        "Ours: all goal sets",
        "Three base tasks compose to every set of objects, 63 tasks, from pixels.",
        "; ".join(parts),
        Verdict.of(good, 63 * len(parts)),
        f"{good} of {63 * len(parts)} earn their optimum to within a step.",
    )
