"""Claims in the terminal: what was measured, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from rich.text import Text

from taskalgebra.apps.cli.output import Output

if TYPE_CHECKING:
    from taskalgebra.paper.claims.verdicts import Claim

COLOURS = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}
WIDTH = 96
TOY = "This was at toy size: verdicts need the full run, without --quick."


def counted(claims: Sequence[Claim]) -> str:
    """How many claims hold, in words."""
    from taskalgebra.paper.claims.verdicts import Verdict

    counts = Counter(claim.verdict for claim in claims)
    found = ", ".join(verdict.counted(counts[verdict]) for verdict in Verdict)
    return f"of {len(claims)} claims, {found}"


def print_claim(claim: Claim, output: Output) -> None:
    """Its verdict and place, then the claim, what was measured, and the reason if it fails."""
    verdict = claim.verdict.value
    output.line(Text.assemble((verdict, f"bold {COLOURS[verdict]}"), f"  {claim.where}"))
    rows = (("claim", claim.claim), ("measured", claim.measured), ("reason", claim.reason))
    width = min(WIDTH, output.out.width)
    for label, text in rows:
        if text:
            indent = f"  {label + ':':<10}"
            output.line(fill(text, width, initial_indent=indent, subsequent_indent=" " * 12))
    output.line()
