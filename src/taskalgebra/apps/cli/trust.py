"""`taskalgebra reproduce trust`: what is lost where the theory ends, and how to get it back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from taskalgebra.apps.cli.claims import TOY, counted, print_claim
from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.exit_codes import OK
from taskalgebra.apps.cli.output import Output
from taskalgebra.progress import duration

if TYPE_CHECKING:
    from taskalgebra.sweeps.serial import Engine

TRUST = "trust"


def trust_parts_of(what: str) -> list[str] | None:
    """The parts that are meant, [] for all; None if something else is."""
    from taskalgebra.showcase.trust.run import PARTS, PREFIX

    if what == TRUST:
        return []
    name = what.removeprefix(PREFIX)
    return [name] if what != name and name in PARTS else None


def reproduce_trust(
    names: list[str], out: Path, output: Output, *, fresh: bool, quick: bool, engine: Engine
) -> int:
    """Run parts, and print the claims with their verdicts."""
    from taskalgebra.showcase.trust.run import PAGE, run
    from taskalgebra.sweeps.running import Sweep

    found = []
    with output.progress("") as meter:
        try:
            sweep = Sweep(engine)
            shown_parts = run(names, out, fresh=fresh, quick=quick, sweep=sweep, listener=meter)
            for shown in shown_parts:
                output.note(
                    f"{shown.part.title}: {'kept' if shown.kept else duration(shown.seconds)}"
                )
                found.append(shown)
        except ValueError as error:
            raise Failure(str(error)) from error
    for shown in found:
        size = ", at toy size" if quick else ""
        output.line(f"\n{shown.part.title}{size}\n")
        for claim in shown.claims:
            print_claim(claim, output)
    path = out / "results" / TRUST / PAGE
    claims = [claim for shown in found for claim in shown.claims]
    output.line(f"{TRUST}: {counted(claims)}; tables in {path}")
    if quick:
        output.line(TOY)
    output.figures(
        {
            "parts": [
                {
                    "name": shown.part.name,
                    "title": shown.part.title,
                    "seconds": round(shown.seconds, 3),
                    "kept": shown.kept,
                    "claims": [asdict(claim) for claim in shown.claims],
                }
                for shown in found
            ],
            "page": str(path),
        }
    )
    return OK
