"""What the paper proves, how many equations were tried, and the verdicts.

A theorem holds *in part* where it is true of what its proof covers and false of something else that
the paper's assumptions allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from taskalgebra.paper.claims.verdicts import Claim, Verdict, judged
from taskalgebra.paper.results.labels import PRINTED
from taskalgebra.paper.results.record import Result

ACTIONS = (
    "False where a terminal reward depends on the action, which Assumptions 1 and 2 allow: {}. "
    "True where it does not, and this library requires that."
)
STATEMENTS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "Theorem 1": (("Theorem 1",), "Under Assumption 2 tasks form a Boolean algebra.", ""),
    "Lemma 1": (
        ("Definition 3", "Lemma 1"),
        "Rewards and values of a task are the largest of its extended ones over goals: "
        "Q* = max_g Q̄*.",
        "",
    ),
    "Lemma 2 and Corollary 1": (
        ("Lemma 2", "Corollary 1"),
        "On the way to a goal, the best policy and its return are the same for all tasks.",
        "False for the largest penalty that Definition 2 allows: (r_MIN − r_MAX)·D leaves out the "
        "last of D + 1 rewards, and a wrong goal can then be worth its penalty. True with D + 1, "
        "which is what this library uses.",
    ),
    "Theorem 2": (
        ("Theorem 2",),
        "Under Assumption 2 optimal extended values form a Boolean algebra.",
        ACTIONS.format("∧ of two optimal values is then the optimal value of no task"),
    ),
    "Theorem 3 and Corollary 2": (
        ("Theorem 3", "Corollary 2"),
        "Values compose as tasks do: Q̄*(¬M) = ¬Q̄*(M), Q̄*(M₁ ∨ M₂) = Q̄*(M₁) ∨ Q̄*(M₂), "
        "Q̄*(M₁ ∧ M₂) = Q̄*(M₁) ∧ Q̄*(M₂).",
        ACTIONS.format("∧ and ¬ are then wrong"),
    ),
}
"""Place in the paper: the items tried, the statement, and why it may be false as printed."""


def theorems(result: Result) -> Iterator[Claim]:
    """Every statement against the equations that were tried."""
    for where, (items, statement, why) in STATEMENTS.items():
        rows = [row for row in result.table.rows() if row["item"] in items]
        covered = [row for row in rows if row["place"] != PRINTED]
        printed = [row for row in rows if row["place"] == PRINTED]
        tried: Counter[str] = Counter()
        good: Counter[str] = Counter()
        for row in covered:
            tried[row["place"]] += row["equations"]
            good[row["place"]] += row["equations"] - row["broken"]
        words = [f"{place}: {good[place]:,} of {n:,} equations" for place, n in tried.items()]
        for row in printed:
            words.append(f"outside the proof: {row['broken']} of {row['equations']} broken")
        broken = sum(row["broken"] for row in covered)
        outside = any(row["broken"] for row in printed)
        holds = Verdict.PART if outside else Verdict.HOLDS
        untried = [i for i in items if not sum(r["equations"] for r in covered if r["item"] == i)]
        reason = why or "Broken outside of what its proof covers."
        if broken:
            reason = f"{broken:,} equations are broken."
        elif untried:
            reason = f"No equation was tried of: {', '.join(untried)}."
        yield judged(
            where,
            statement,
            "; ".join(words),
            Verdict.FAILS if broken or untried else holds,
            reason,
        )
