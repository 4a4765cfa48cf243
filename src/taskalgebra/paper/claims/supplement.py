"""What the supplement claims about Four Rooms, what was measured, and the verdicts.

A composed policy is *identical* to optimal when it earns the optimum from every start, and *very
close* when its mean return is at most the cost of one step, 0.1, below the optimum.  The paper does
not say what it means by "very close", nor by "very similar" values: here their mean difference is
at most a tenth of their range.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from taskalgebra.paper.claims.verdicts import CLOSE, Claim, Verdict, judged
from taskalgebra.paper.results.labels import CORRECTED, PRINTED
from taskalgebra.paper.results.record import Result, Table

EXACT = 1e-9
SIMILAR = 0.1
"""Values are similar when their mean difference is at most this share of their range."""


def algorithm(result: Result) -> Iterator[Claim]:
    """Fig. 7: both updates at the end of learning."""
    last = int(result.table["episode"].max(initial=0))
    found = {(row["update"], row["episode"]): row["largest_error"] for row in result.table.rows()}
    errors = defaultdict(lambda: math.nan, found)
    episodes = result.table.distinct("episode") or [0]
    middle = min(episodes, key=lambda episode: abs(episode - last / 2))
    exact = {update: errors[update, last] <= EXACT for update in (PRINTED, CORRECTED)}
    grows = errors[PRINTED, last] > errors[PRINTED, middle]
    yield judged(
        "Supplement, Fig. 7 (Algorithm 1)",
        "Goal-oriented Q-learning learns extended value functions.",
        f"largest |Q̄ − Q̄*| after {middle} and {last} episodes: as printed "
        f"{errors[PRINTED, middle]:,.0f} and {errors[PRINTED, last]:,.0f}; with one term added "
        f"{errors[CORRECTED, middle]:.1g} and {errors[CORRECTED, last]:.1g}",
        Verdict.HOLDS if exact[PRINTED] else Verdict.PART if exact[CORRECTED] else Verdict.FAILS,
        f"As printed {'it diverges' if grows else 'its values are not exact'}: where an episode "
        f"ends in another goal, δ ← r̄_MIN lacks − Q(s, g, a). With that term it learns the exact "
        f"values."
        if exact[CORRECTED]
        else "The values are not exact when learning ends, with either update.",
    )


def dense_composition(result: Result) -> Iterator[Claim]:
    """Fig. 8: values and policies with dense rewards."""
    table = result.table
    sparse, dense = (table.where(rewards=kind) for kind in ("sparse", "dense"))
    difference = np.abs(sparse["v"] - dense["v"])
    width = float(np.ptp(sparse["v"]))
    errors = result.tables["composition_errors"].where(rewards="dense").rows()
    lost = [
        f"{row['panel']} in {row['starts'] - row['optimal_starts']} of {row['starts']} cells"
        for row in errors
        if row["optimal_starts"] < row["starts"]
    ]
    similar = difference.mean() <= SIMILAR * width
    yield judged(
        "Supplement, Fig. 8",
        "With dense rewards the value functions are very similar to those of the sparse setting.",
        f"|V_dense − V_sparse| is {difference.mean():.2f} on average and at most "
        f"{difference.max():.2f}, of a range of {width:.1f}; policies that are not optimal: "
        f"{' and '.join(lost) or 'none'}",
        Verdict.of(len(errors) - len(lost), len(errors)) if similar else Verdict.FAILS,
        f"The values are alike, yet {len(lost)} of {len(errors)} policies fail: dense rewards "
        f"break Assumption 1(iii), and a small difference is enough to turn an arrow."
        if similar
        else f"The values differ by more than a tenth of their range; {len(lost)} of "
        f"{len(errors)} policies fail.",
    )


def _closeness(result: Result) -> Iterator[tuple[str, Table, int, int, str]]:
    """Each variant: its rows, how many tasks are identical or very close, and that in words."""
    for variant in result.table.distinct("variant"):
        rows = result.table.where(variant=variant)
        same = rows["optimal_runs"] == rows["runs"]
        close = (rows["gap"] <= CLOSE) & ~same
        far = [
            f"{row['task']} (mean {row['mean']:.2f} of {row['optimum']:.2f}"
            + (f", {100 * row['failure_rate']:.1f} % fail)" if row["failure_rate"] > 0 else ")")
            for row, good in zip(rows.rows(), same | close, strict=True)
            if not good
        ]
        words = f"{same.sum()} of {rows.n_rows} tasks identical, {close.sum()} within one step"
        words += f"; far: {', '.join(far)}" if far else ""
        yield variant, rows, int(same.sum()), int(close.sum()), words


def relaxed(result: Result) -> Iterator[Claim]:
    """Fig. 9: each variant of the assumptions."""
    for variant, rows, identical, close, measured in _closeness(result):
        exact = variant == "sparse, same"
        good = identical if exact else identical + close
        yield judged(
            f"Supplement, Fig. 9, {variant} absorbing set",
            "Extended values learned in the theoretically optimal manner are indeed optimal."
            if exact
            else "For the majority of the tasks, policies are identical or very close to optimal.",
            measured,
            Verdict.of(good, rows.n_rows) if exact else 2 * good > rows.n_rows,
            f"{good} of {rows.n_rows} tasks are.",
        )


def slips(result: Result) -> Iterator[Claim]:
    """Fig. 10: each slip probability."""
    for variant, rows, identical, close, measured in _closeness(result):
        good, failing = identical + close, float(rows["failure_rate"].max())
        yield judged(
            f"Supplement, Fig. 10, {variant}",
            "Composed policies are identical or very close to optimal.",
            measured,
            Verdict.of(good, rows.n_rows),
            f"{good} of {rows.n_rows} tasks are; of the others the worst fails in "
            f"{100 * failing:.1f} % of the episodes.",
        )


def table_1(layout: Result) -> Iterator[Claim]:
    """Table 1: what the labels of four goals are."""
    goals = layout.tables["layout_4_goals"]
    desired = {
        name: {g for g, one in zip(goals["goal"].tolist(), goals[name], strict=True) if one}
        for name in ("top", "left")
    }
    yield judged(
        "Supplement, Table 1 and Fig. 16",
        "Labels for four goals give the base tasks x₁ = {top-right, top-left} and x₂ = "
        "{bottom-left, top-left}.",
        "; ".join(f"{name} = {{{', '.join(sorted(s))}}}" for name, s in desired.items()),
        desired == {"top": {"top_left", "top_right"}, "left": {"top_left", "bottom_left"}},
        "The base tasks are others.",
    )
