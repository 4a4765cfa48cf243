"""A claim of the paper, what was measured, and the verdict; questions are how claims are judged.

A verdict has three levels.  A claim *holds* where it holds as stated.  It holds *in part* where it
holds for the larger part of what it speaks of, or with a correction that keeps its point.  Else it
does *not* hold.  Where it does not hold in full, the reason is given.

Every verdict can go either way: for each claim there is a result that refutes it.  Nothing follows
from a result that is empty, or that holds NaN or infinities: such claims do not hold.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from taskalgebra import files
from taskalgebra.paper.results.record import Result, Table

CLOSE = 0.1
"""The cost of one step: a mean return this near to the optimum is *very close* to it."""
FAR = 2.0
"""A number is *far* larger than another when it is this many times as large."""


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    PART = "holds in part"
    FAILS = "does not hold"

    @classmethod
    def of(cls, good: int, total: int) -> Verdict:
        """The verdict of a claim about several things that is true of some of them.

        >>> print(Verdict.of(16, 16), Verdict.of(9, 16), Verdict.of(8, 16), sep=", ")
        holds, holds in part, does not hold
        >>> print(Verdict.of(0, 0))
        does not hold
        """
        if good == total > 0:  # a claim about nothing does not hold
            return cls.HOLDS
        return cls.PART if 2 * good > total else cls.FAILS

    def counted(self, n: int) -> str:
        """N claims with this verdict, in words.

        >>> print(Verdict.PART.counted(2), Verdict.FAILS.counted(1), sep=", ")
        2 hold in part, 1 does not hold
        """
        words = self.value if n == 1 else self.value.replace("holds", "hold").replace("does", "do")
        return f"{n} {words}"


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, compared with what was measured."""

    where: str  # its place in the paper
    claim: str
    measured: str
    verdict: Verdict
    reason: str = ""  # why it does not hold in full
    figures: tuple[str, ...] = ()  # the names of the figures that show it

    def __post_init__(self) -> None:
        """Require a reason unless the claim holds."""
        if self.holds == bool(self.reason):
            raise ValueError(
                f"the claim {self.claim!r} has the verdict {self.verdict!r} and the reason "
                f"{self.reason!r}; a reason is given unless it holds"
            )

    @property
    def holds(self) -> bool:
        """Whether it holds as stated."""
        return self.verdict is Verdict.HOLDS

    @property
    def ours(self) -> bool:
        """Whether it goes beyond the paper."""
        return self.where.startswith("Ours")


def judged(where: str, claim: str, measured: str, verdict: Verdict | bool, reason: str) -> Claim:
    """A claim with its verdict; the reason is dropped where it holds.

    A bool is for claims that cannot hold in part.
    """
    if not isinstance(verdict, Verdict):
        verdict = Verdict.HOLDS if verdict else Verdict.FAILS
    return Claim(where, claim, measured, verdict, "" if verdict is Verdict.HOLDS else reason)


@dataclass(frozen=True)
class Question:
    """What is asked of some results: the claims about them."""

    needs: tuple[str, ...]  # the experiments whose results `judge` takes
    judge: Callable[..., Iterable[Claim]]
    figures: tuple[str, ...] = ()  # that show these claims; in the entry of a figure, further ones
    ours: bool = False  # whether it goes beyond the paper


def answer(questions: Sequence[Question], results: Mapping[str, Result]) -> list[Claim]:
    """The claims that can be judged from these results, in the order of the questions.

    Raises:
        ValueError: a result lacks what a claim is judged by, or a count is not a number.
    """
    claims: list[Claim] = []
    for question in questions:
        if set(question.needs) <= set(results):
            needed = [results[name] for name in question.needs]
            found = _judged(question, needed, _not_finite(needed))
            claims += [replace(claim, figures=question.figures) for claim in found]
    return claims


def _judged(question: Question, needed: list[Result], damage: str) -> list[Claim]:
    """The claims of one question; if what it needs is damaged, none holds."""
    names = ", ".join(question.needs)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            found = list(question.judge(*needed))
    except (ArithmeticError, LookupError, ValueError) as error:
        why = damage or f"The result of {names} is incomplete ({error})"
        raise ValueError(f"{why}; run again with --fresh") from error
    if not found:
        raise ValueError(f"The result of {names} is empty; run again with --fresh")
    if not damage:
        return found
    return [replace(claim, verdict=Verdict.FAILS, reason=f"{damage}.") for claim in found]


def _not_finite(results: Iterable[Result]) -> str:
    """Where results hold NaN or an infinity, from which nothing follows; "" if nowhere."""
    for result in results:
        for name, table in result.tables.items():
            for column, values in table.items():
                if values.dtype.kind == "f" and not np.isfinite(values).all():
                    return f"The result is not finite in some rows of {column!r} of {name}"
    return ""


def save(claims: Sequence[Claim], directory: Path) -> None:
    """Write `claims.csv` and `claims.json`."""
    names = ("where", "claim", "measured", "verdict", "reason", "figures")
    rows = [
        (c.where, c.claim, c.measured, str(c.verdict), c.reason, " ; ".join(c.figures))
        for c in claims
    ]
    directory.mkdir(parents=True, exist_ok=True)
    files.replace(directory / "claims.csv", Table.of_rows(names, rows).to_csv().encode())
    text = json.dumps([asdict(claim) for claim in claims], indent=2, ensure_ascii=False)
    files.replace(directory / "claims.json", f"{text}\n".encode())


def load(directory: Path) -> list[Claim]:
    """Read what `save` wrote.

    Raises:
        FileNotFoundError: there are no claims.
        ValueError: the file is not what `save` writes.
    """
    path = directory / "claims.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        for fields in content:
            fields["verdict"] = Verdict(fields["verdict"])
            fields["figures"] = tuple(fields["figures"])
        return [Claim(**fields) for fields in content]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} is not a file of claims: {error}; run again: taskalgebra reproduce"
        ) from error
