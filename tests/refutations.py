"""For every claim a result that refutes it and one that bears it out, made from the shipped ones.

A claim is known by its judge and its place among what that judge yields: `rooms.n_base_tasks:1`.
`PAIRS` holds the fabricated results; a claim without an entry fails a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from taskalgebra.paper.catalogue import QUESTIONS
from taskalgebra.paper.claims.verdicts import Claim, Question, answer
from taskalgebra.paper.experiments.suite import EXPERIMENTS
from taskalgebra.paper.results.labels import ADDED, EXTENDED, FIXED, OURS, PLAIN, RANDOM, TOUCH
from taskalgebra.paper.results.record import Result, Table, load

RESULTS = Path(__file__).parents[1] / "results"
Change = Callable[[Result], Result]


@dataclass(frozen=True)
class Pair:
    """Changes to a shipped result."""

    holds: Change  # applied to the first refutation, it bears the claim out
    refutations: tuple[Change, ...]


def key_of(question: Question, index: int) -> str:
    """The name of a claim."""
    return f"{judge_of(question)}:{index}"


def judge_of(question: Question) -> str:
    """The name of the function that judges, with the setting that it looks at, if any."""
    judge = question.judge
    if not isinstance(judge, partial):
        return f"{judge.__module__.rpartition('.')[2]}.{judge.__name__}"
    function = f"{judge.func.__module__.rpartition('.')[2]}.{judge.func.__name__}"
    return f"{function}[{judge.keywords['setting']}]"


@cache
def shipped(name: str) -> Result:
    """A shipped result."""
    return load(name, RESULTS / EXPERIMENTS[name].half)


def judged_from(question: Question, result: Result | None = None) -> list[Claim]:
    """The claims that answer one question, from shipped results or a fabricated one."""
    results = {name: shipped(name) for name in question.needs}
    if result is not None:
        results[result.name] = result
    return answer([question], results)


def asked() -> dict[str, Question]:
    """The question to which each claim of the catalogue belongs."""
    return {
        key_of(question, i): question
        for question in QUESTIONS
        for i in range(len(judged_from(question)))
    }


def with_table(result: Result, table: Table, name: str | None = None) -> Result:
    """The result with another table in place of one of its own."""
    return replace(result, tables={**result.tables, name or result.name: table})


def alter(
    of: str | None = None, /, where: Mapping[str, Any] | None = None, **columns: Any
) -> Change:
    """Give columns of a table other values, in the rows in which `where` is true.

    Args:
        of: the table; by default the main one.
        where: values of columns, or tests of a column.
        columns: a value, or a function of the table that gives the whole column.
    """

    def change(result: Result) -> Result:
        table = result.tables[of or result.name]
        rows = np.ones(table.n_rows, np.bool_)
        for name, wanted in (where or {}).items():
            rows &= wanted(table[name]) if callable(wanted) else table[name] == wanted
        assert rows.any(), f"nothing is altered in {result.name}"
        new = {
            name: np.where(rows, value(table) if callable(value) else value, table[name])
            for name, value in columns.items()
        }
        return with_table(result, Table({**table, **new}), of)

    return change


def keep(of: str | None = None, /, **tests: Callable[[Any], Any]) -> Change:
    """Keep only the rows in which all tests of columns are true."""

    def change(result: Result) -> Result:
        table = result.tables[of or result.name]
        rows = np.ones(table.n_rows, np.bool_)
        for name, test in tests.items():
            rows &= test(table[name])
        assert not rows.all(), f"nothing is left out of {result.name}"
        return with_table(result, Table({n: column[rows] for n, column in table.items()}), of)

    return change


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(result: Result) -> Result:
        for each in changes:
            result = each(result)
        return result

    return change


def most(table: Table) -> Any:
    """[rows], 0 in three rows of five and 1 in the others."""
    return (np.arange(table.n_rows) % 5 > 2).astype(np.int64)


def labels(n_goals: int, columns: Any) -> Change:
    """Other labels for the goals of a layout, `[G, K]`."""
    name = f"layout_{n_goals}_goals"
    named = {f"x{k + 1}": column for k, column in enumerate(np.asarray(columns).T)}

    def change(result: Result) -> Result:
        places = {n: result.tables[name][n] for n in ("goal", "row", "column")}
        return with_table(result, Table({**places, **named}), name)

    return change


def irreducible(n_goals: int, n_tasks: int) -> Any:
    """Labels of which none can be left out: for each, two goals that differ only in that one."""
    chosen = [0, *(1 << k for k in range(n_tasks))]
    chosen += [n for n in range(2**n_tasks) if n not in chosen]
    assert n_tasks < n_goals <= len(chosen)
    return np.array([[n >> k & 1 for k in range(n_tasks)] for n in chosen[:n_goals]])


def earning(column: str, less: float = 0.0, **where: Any) -> Change:
    """Mean returns that are this much less than another column."""
    return alter(where=where, mean=lambda table: table[column] - less)


NO_LABELS, SIX = labels(40, np.zeros((40, 6), np.int64)), irreducible(40, 6)
COMPOSED_BY_TOUCH = {"setting": TOUCH, "kind": "composed"}
LAST = {"episode": lambda column: column == column.max()}
OF_OURS = {"kind": ADDED, "idea": OURS}
NAMED = "boxman_trajectories_episodes"
TOUCHED, ERRORS, SETS = "boxman_values_touched", "boxman_values_errors", "boxman_subsets"

PAIRS: dict[str, Pair] = {
    **{
        f"theory.theorems:{i}": Pair(
            alter(broken=0),
            (
                alter(where={"item": item, "place": "random worlds"}, broken=1),
                keep(item=lambda column, item=item: column != item),
                alter(where={"item": item}, equations=0),
            ),
        )
        for i, item in enumerate(("Theorem 1", "Lemma 1", "Corollary 1", "Theorem 2", "Theorem 3"))
    },
    "rooms.rewards:0": Pair(
        alter(
            conjunction=lambda table: np.minimum(table["left"], table["down"]),
            average=lambda table: (table["left"] + table["down"]) / 2,
        ),
        (
            alter(conjunction=lambda table: table["average"]),
            alter(average=lambda table: table["conjunction"]),
            alter(left=1.0, down=1.0),  # nothing is outside
        ),
    ),
    "rooms.composition:0": Pair(
        alter("composition_errors", largest_error=0.0),
        (
            alter("composition_errors", where={"rewards": "sparse"}, largest_error=2e-9),
            keep("composition_errors", panel=lambda column: column != "T"),
        ),
    ),
    "rooms.sixteen_tasks:0": Pair(
        alter(optimal=1), (alter(optimal=most), keep(task=lambda column: column != "false"))
    ),
    "rooms.n_tasks:0": Pair(
        alter(
            where={"learned": lambda column: column <= 4},
            algebra_counted=lambda table: [2 ** (2 ** min(k, 4)) for k in table["learned"]],
            disjunction_counted=lambda table: 2 ** table["learned"] - 1,
        ),
        (
            alter(where={"learned": 3}, algebra_counted=255),
            alter(where={"learned": 4}, disjunction_counted=16),
            alter(algebra_counted=-1, disjunction_counted=-1),
            alter(where={"learned": 1}, algebra=2.0, algebra_counted=2),
        ),
    ),
    "rooms.n_base_tasks:0": Pair(
        labels(40, irreducible(40, 7)),
        (
            NO_LABELS,
            labels(40, np.eye(40, dtype=np.int64)),
            keep("layout_40_goals", row=lambda column: column > column.min()),
        ),
    ),
    "rooms.n_base_tasks:1": Pair(
        both(labels(4, irreducible(4, 3)), labels(40, SIX)),
        (
            NO_LABELS,
            labels(40, irreducible(40, 7)),
            both(labels(4, irreducible(4, 3)), labels(40, irreducible(40, 7))),
        ),
    ),
    "rooms.forty_goals:0": Pair(
        alter(where={"learner": EXTENDED}, steps=1),
        (
            alter(where={"learner": EXTENDED}, steps=10**6),
            keep(learner=lambda column: column == PLAIN),
            keep(task=lambda column: column != "top_left"),
        ),
    ),
    "rooms.any_of_forty:0": Pair(alter(optimal=1), (alter(optimal=most),)),
    "rooms.fewer_samples:0": Pair(
        alter(where=OF_OURS, steps=2000),
        (
            alter(where={**OF_OURS, "run": 3}, steps=2001),  # the mean is far below
            keep(idea=lambda column: column != OURS),
        ),
    ),
    "supplement.algorithm:0": Pair(
        alter(largest_error=0.0),
        (alter(where=LAST, largest_error=0.1), keep(update=lambda column: column == "none")),
    ),
    "supplement.table_1:0": Pair(
        alter("layout_4_goals", top=[1, 1, 0, 0], left=[1, 0, 1, 0]),
        (alter("layout_4_goals", where={"goal": "bottom_left"}, top=1),),
    ),
    "boxman.extended_values:0": Pair(
        alter(ERRORS, largest_error=0.0),
        (
            alter(ERRORS, where={"setting": FIXED}, largest_error=0.2),
            keep(ERRORS, setting=lambda column: column == TOUCH),
        ),
    ),
    "boxman.composition:0": Pair(
        alter(optimal_episodes=lambda table: table["episodes"]),
        (
            alter(where={"setting": FIXED}, optimal_episodes=lambda table: table["episodes"] - 1),
            keep(task=lambda column: (column != "blue ^ square") & (column != "blue & square")),
            alter(where={"setting": FIXED}, optimal_episodes=0, episodes=0),
        ),
    ),
    **{
        f"boxman.returns[{setting}]:0": Pair(
            earning("optimum"),
            (
                earning("optimum", 0.2, setting=setting),
                keep(setting=lambda column, own=setting: column != own),
                keep(kind=lambda column: column == "base"),
            ),
        )
        for setting in (FIXED, RANDOM)
    },
    "boxman.dips:0": Pair(
        alter(TOUCHED, met=1, beside=1.0, after=0.5),
        (
            alter(TOUCHED, after=lambda table: table["beside"]),  # no dips
            alter(TOUCHED, beside=0.87, after=0.86),  # an untrained network
            alter(TOUCHED, met=0),  # goals that were never met
            alter(TOUCHED, where={"task": "square"}, met=0),  # most pairs are of squares
            alter(TOUCHED, after=lambda table: table["beside"] - 0.4),
        ),
    ),
    "boxman.touch:0": Pair(
        earning("optimum"),
        (
            earning("optimum", 0.2, **COMPOSED_BY_TOUCH),
            keep(kind=lambda column: column == "base"),
        ),
    ),
    "boxman.touch:1": Pair(
        both(alter(exact_composition=lambda t: t["optimum"] - 0.1), earning("optimum", 0.4)),
        (
            earning("exact_composition"),
            both(alter(exact_composition=lambda t: t["optimum"]), earning("optimum")),
            both(alter(exact_composition=lambda t: t["optimum"] - 0.1), earning("optimum", 0.15)),
            earning("exact_composition", -0.1),  # networks that earn more
        ),
    ),
    "boxman.touch:2": Pair(
        earning("exact_composition"),
        (
            earning("exact_composition", 0.2, **COMPOSED_BY_TOUCH),
            keep(kind=lambda column: column == "base"),
        ),
    ),
    "boxman.trajectories:0": Pair(
        alter(NAMED, success=1),
        (
            alter(NAMED, where={"setting": TOUCH, "episode": 2}, success=0),
            keep(NAMED, task=lambda column: column == "purple | blue"),
        ),
    ),
    "boxman.subsets:0": Pair(
        alter(SETS, mean=lambda table: table["optimum"]),
        (
            alter(SETS, mean=lambda table: table["optimum"] - 0.2 * (most(table) == 0)),
            keep(SETS, n_objects=lambda column: column == 3),
        ),
    ),
}
"""What refutes each claim and what bears it out."""
ELSEWHERE = (
    "samples.samples",
    "supplement.relaxed",
    "supplement.slips",
    "supplement.dense_composition",
)
"""Judges whose claims are refuted in `paper/claims/test_rooms_samples_and_slips.py`."""
