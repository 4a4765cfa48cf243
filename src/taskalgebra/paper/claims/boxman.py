"""What the paper claims about Boxman, what was measured, and whether it holds.

A composed agent *acts optimally* when every episode earns the optimum.  It is *close* to it when
its mean return is at most the cost of one step below, as for Four Rooms.  By touch, where even
exact values do not always compose to the optimum, agents are also compared with what those compose
to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taskalgebra.paper.claims.verdicts import CLOSE, Claim, Verdict, judged
from taskalgebra.paper.results.labels import FIXED, TOUCH
from taskalgebra.paper.results.record import Result

FAR = 2.0
"""One loss far outweighs another when it is this many times as large."""


Row = dict[str, Any]


def _all(rows: list[Row], good: Callable[[Row], bool]) -> tuple[Verdict, str]:
    """The verdict of a claim about several tasks, one per row, and which of them are the reason."""
    bad = [row["task"] for row in rows if not good(row)]
    n, total = len(rows) - len(bad), len(rows)
    return Verdict.of(n, total), f"True of {n} of {total} tasks; not of {', '.join(bad)}."


def _near(what: str) -> Callable[[Row], bool]:
    """Whether a task earns this on average, to within a step."""
    return lambda row: bool(row["mean"] >= row[what] - CLOSE)


def extended_values(result: Result) -> Iterator[Claim]:
    """Fig. 4: values of the base tasks against exact ones."""
    errors = result.tables["boxman_values_errors"].where(setting=FIXED)
    base = [row for row in errors.rows() if " " not in row["task"]]
    yield judged(
        "Fig. 4",
        "The agent learns how to achieve all goals, and how desirable each of them is.",
        "; ".join(
            f"{row['task']}: |V̄ − V̄*| over cells and all six goals is "
            f"{row['mean_error']:.3f} on average, at most {row['largest_error']:.3f}"
            for row in base
        ),
        *_all(base, lambda row: row["largest_error"] <= CLOSE),
    )


def composition(returns: Result) -> Iterator[Claim]:
    """Fig. 5: compositions from every start."""
    rows = returns.table.where(setting=FIXED, kind="composed").rows()
    yield judged(
        "Fig. 5",
        "By composing extended values of blue and square, we can act optimally in OR, AND and "
        "XOR with no further learning.",
        "; ".join(
            f"{row['task']}: {row['optimal_episodes']} of {row['episodes']} starts optimal"
            for row in rows
        ),
        *_all(rows, lambda row: row["optimal_episodes"] == row["episodes"]),
    )


def _summary(row: Row) -> str:
    failed = f", {row['failures']} of {row['episodes']} failed" if row["failures"] else ""
    return f"{row['task']} {row['mean']:.3f} of {row['optimum']:.3f}{failed}"


def returns(result: Result, setting: str, where: str) -> Iterator[Claim]:
    """Fig. 6 and the footnote on random objects: mean returns of a setting."""
    rows = result.table.where(setting=setting).rows()
    yield judged(
        where,
        "Composed tasks earn on average what the best policy earns, to within a step, as do "
        "the base tasks.",
        f"{rows[0]['episodes']:,} {'starts' if setting == FIXED else 'episodes'}: "
        + "; ".join(_summary(row) for row in rows),
        *_all(rows, _near("optimum")),
    )


def dips(result: Result) -> Iterator[Claim]:
    """By touch an agent cannot reach an object that its task does not desire."""
    objects = result.tables["boxman_values_objects"].where(setting=TOUCH).rows()
    base = [task for task in result.table.where(setting=TOUCH).distinct("task") if " " not in task]
    desired: list[float] = []
    others: list[float] = []
    for task in base:
        cells = result.table.where(setting=TOUCH, task=task)
        for row in objects:
            best = float(cells[f"learned {row['object']}"].max())
            (desired if task in row["wanted_by"].split(" ; ") else others).append(best)
    yield judged(
        "Supplement, Figs. 11 to 13",
        "Where touching ends the episode, other objects can no longer be reached: extended "
        "values show large dips.",
        f"of three base tasks, the best value of an object that is wanted is at least "
        f"{min(desired):.2f}; of the others at most {max(others):.2f}",
        min(desired) > max(others),
        "Some object that is not wanted seems as good as one that is.",
    )


def touch(result: Result) -> Iterator[Claim]:
    """Fig. 14: returns by touch, against the optimum and exact composition."""
    rows = result.table.where(setting=TOUCH).rows()
    composed = [row for row in rows if row["kind"] == "composed"]
    verdict, bad = _all(rows, _near("optimum"))
    ceiling = ", ".join(f"{row['task']} {row['score_of_exact']:.3f}" for row in composed)
    reached = ", ".join(f"{row['task']} {row['score_to_exact']:.3f}" for row in composed)
    lost_anyway = sum(row["optimum"] - row["exact_composition"] for row in composed)
    lost_by_networks = sum(row["exact_composition"] - row["mean"] for row in composed)
    far_outweighs = lost_by_networks >= FAR * lost_anyway
    yield judged(
        "Supplement, Fig. 14",
        "Extended values can still be used for zero-shot composition when terminal states "
        "differ between tasks: composed tasks earn the optimum, to within a step.",
        f"{rows[0]['episodes']:,} episodes: " + "; ".join(_summary(row) for row in rows),
        verdict,
        f"{bad} Even exact values of the base tasks do not "
        f"always compose to the optimum here; they earn these shares of it: {ceiling}.",
    )
    yield judged(
        "Supplement, end of the section on function approximation",
        "Errors due to the violated assumptions are far outweighed by errors due to "
        "function approximation.",
        f"return lost by composing exact values, summed over {len(composed)} composed tasks: "
        f"{lost_anyway:.3f}; networks lose {abs(lost_by_networks):.3f} "
        f"{'more' if lost_by_networks >= 0.0 else 'less'}",
        Verdict.HOLDS
        if far_outweighs
        else Verdict.PART
        if lost_by_networks > lost_anyway
        else Verdict.FAILS,
        _outweighed(lost_anyway, lost_by_networks),
    )
    yield judged(
        "Ours: Fig. 14 against exact composition",
        "Networks earn what exact values of the base tasks compose to, to within a step.",
        f"exact values compose to these shares of the optimum: {ceiling}; networks reach of "
        f"that: {reached}",
        *_all(composed, _near("exact_composition")),
    )


def _outweighed(lost_anyway: float, lost_by_networks: float) -> str:
    """Why errors of networks do not far outweigh those of the violated assumptions."""
    if lost_anyway <= 0.0:
        return "Nothing is lost."
    if lost_by_networks <= 0.0:
        return "These networks lose nothing beyond what the violation does."
    return (
        f"The networks lose {lost_by_networks / lost_anyway:.1f} times what the violation does; "
        f"it is called far where it is {FAR:.0f} times or more. The better the networks, the less "
        f"this is so."
    )


def trajectories(result: Result) -> Iterator[Claim]:
    """Fig. 15: where trajectories by touch end."""
    episodes = result.tables["boxman_trajectories_episodes"].where(setting=TOUCH)
    ended: list[Row] = [
        {"task": task, "success": episodes.where(task=task)["success"]}
        for task in episodes.distinct("task")
    ]
    yield judged(
        "Supplement, Fig. 15",
        "Composed values lead the agent to what is purple or blue, to blue squares, and to "
        "what is blue or square but not both.",
        "; ".join(
            f"{row['task']}: {row['success'].sum()} of {row['success'].size} trajectories end there"
            for row in ended
        ),
        *_all(ended, lambda row: bool(row["success"].all())),
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
