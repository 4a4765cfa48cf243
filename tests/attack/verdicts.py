"""Damaged results against every verdict: NaN, infinities, lost rows, other orders, other numbers.

Rows in another order must not change a verdict.  Nothing may follow from a result that holds a
number which is not finite, or from one without rows.  Rows that are lost, and other numbers, may
change a verdict, but end in a verdict or in a `ValueError` or `KeyError`, which `reproduce` reports
as a damaged result.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from attack.harness import Findings
from refutations import judge_of, judged_from, shipped
from taskalgebra.paper.catalogue import QUESTIONS
from taskalgebra.paper.claims.verdicts import Claim, Verdict
from taskalgebra.paper.results.record import Result, Table

SIZES = {"ci": 400, "full": 20_000}


def attack(size: int, seed: int) -> Findings:
    """Damage the results of random questions."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    for _ in range(size):
        question = QUESTIONS[rng.integers(len(QUESTIONS))]
        (name,) = question.needs
        kind = str(rng.choice([*DAMAGES]))
        damaged = DAMAGES[kind](shipped(name), rng)
        what = f"{kind} of {name}, judged by {judge_of(question)}"
        before = judged_from(question)
        try:
            found = judged_from(question, damaged)
        except (ValueError, KeyError):
            counts["refused"] += 1
            if kind == "rows in another order":
                yield f"{what}: refused"
            continue
        except Exception as error:
            yield f"{what}: {error!r}"
            continue
        after = [claim.verdict for claim in found]
        counts.update(map(str, after))
        if kind == "rows in another order" and _said(found) != _said(before):
            yield f"{what}: {_said(before)} became {_said(found)}"
        if kind in ("a number that is not finite", "no rows") and set(after) != {Verdict.FAILS}:
            yield f"{what}: {after}"
    return ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(counts.items()))


def _said(claims: list[Claim]) -> set[tuple[str, str, str]]:
    return {(claim.where, claim.claim, str(claim.verdict)) for claim in claims}


def _every(result: Result, change) -> Result:
    return replace(result, tables={name: change(table) for name, table in result.tables.items()})


def _taken(table: Table, rows) -> Table:
    return Table({name: column[rows] for name, column in table.items()})


def _shuffled(result, rng):
    return _every(result, lambda table: _taken(table, rng.permutation(table.n_rows)))


def _fewer(result, rng):
    share = rng.random()
    return _every(result, lambda table: _taken(table, rng.random(table.n_rows) < share))


def _none(result, rng):
    return _every(result, lambda table: _taken(table, slice(0)))


def _changed(result, rng, values):
    """Other numbers in some rows of one column."""
    name = str(rng.choice([*result.tables]))
    table = result.tables[name]
    columns = [column for column, old in table.items() if old.dtype.kind in "if"]
    column = str(rng.choice(columns))
    new = table[column].astype(np.float64)
    rows = rng.random(new.size) < rng.random()
    rows[rng.integers(new.size)] = True
    new[rows] = values(int(rows.sum()))
    return replace(result, tables={**result.tables, name: Table({**table, column: new})})


def _not_finite(result, rng):
    return _changed(result, rng, lambda n: rng.choice([np.nan, np.inf, -np.inf], n))


def _other(result, rng):
    scale = 10.0 ** rng.integers(-12, 12)
    return _changed(result, rng, lambda n: (scale * rng.normal(size=n)).round(rng.integers(0, 9)))


DAMAGES = {
    "rows in another order": _shuffled,
    "lost rows": _fewer,
    "no rows": _none,
    "a number that is not finite": _not_finite,
    "other numbers": _other,
}
