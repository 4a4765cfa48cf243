"""The command line: `taskalgebra reproduce tabular` makes every tabular result of the paper anew.

Each command is a class with a name, its arguments and what it does; `main` only chooses.
"""

from __future__ import annotations

import argparse
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, ClassVar, TextIO, final

from taskalgebra import __version__

if TYPE_CHECKING:
    from taskalgebra.experiments.claims import Claim

SUMMARY = "Zero-shot composition of reinforcement-learning tasks with AND, OR and NOT."
OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
FULL, QUICK = Path("results/tabular"), Path("results/quick")


class Command(ABC):
    """One command of the command line."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    @abstractmethod
    def run(self, given: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


@final
class Reproduce(Command):
    """`taskalgebra reproduce tabular`: experiments, figures, and the paper's claims."""

    name = "reproduce"
    summary = "run the paper's experiments, draw its figures, and check its claims"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """What to reproduce, where to, and how."""
        parser.add_argument("what", choices=["tabular"], help="the Four Rooms experiments")
        parser.add_argument(
            "--out",
            type=_directory,
            metavar="DIR",
            help=f"results go there, figures below it (default: {FULL}; with --quick: {QUICK})",
        )
        parser.add_argument(
            "--fresh", action="store_true", help="run again what is already there, too"
        )
        parser.add_argument(
            "--quick", action="store_true", help="toy size: a look at the whole in seconds"
        )
        parser.add_argument(
            "--workers",
            type=_at_least_one,
            default=2,
            metavar="N",
            help="threads (default: %(default)s); results do not depend on it",
        )

    def run(self, given: argparse.Namespace) -> int:
        """Run what is missing, draw all figures, print the claims."""
        if find_spec("matplotlib") is None:
            print('figures need matplotlib: pip install "taskalgebra[figures]"', file=sys.stderr)
            return FAILED
        # The experiments and matplotlib take a second to import; --help should not.
        from taskalgebra.experiments import claims
        from taskalgebra.experiments.suite import TABULAR, obtain
        from taskalgebra.figures import gallery

        out: Path = given.out or (QUICK if given.quick else FULL)
        seconds = {name: experiment.seconds for name, experiment in TABULAR.items()}
        meter = Meter({**seconds, "figures": 14.0})
        results = {}
        for name in TABULAR:
            meter.begin(name)
            results[name], kept = obtain(
                name,
                out,
                fresh=given.fresh,
                quick=given.quick,
                workers=given.workers,
                progress=meter.advance,
            )
            meter.end("kept" if kept else "")
        meter.begin("figures")
        n_figures = len(gallery.FIGURES)
        written = gallery.draw_all(
            results,
            out / "figures",
            drawn=lambda n_drawn: meter.advance(n_drawn / n_figures),
        )
        meter.end(f"{len(written)} files")
        found = claims.judge(results)
        claims.save(found, out)
        print(f"\nThe paper's claims about Four Rooms{', at toy size' if given.quick else ''}\n")
        for claim in found:
            _print_claim(claim)
        holding = sum(claim.holds for claim in found)
        print(f"{holding} of {len(found)} claims hold as stated.")
        print(f"Results: {out}   figures: {out / 'figures'}   claims: {out / 'claims.csv'}")
        return OK


def _print_claim(claim: Claim) -> None:
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    print(f"{claim.where}: {verdict}")
    for label, text in (("claim", claim.claim), ("measured", claim.measured)):
        print(fill(text, 96, initial_indent=f"  {label + ':':<10}", subsequent_indent=" " * 12))
    print()


@final
class Meter:
    """Says how long each part took and, on a terminal, how much time is left."""

    def __init__(self, seconds: dict[str, float], out: TextIO | None = None) -> None:
        """Take the expected seconds of each part, in order."""
        self.seconds = seconds
        self.out = sys.stderr if out is None else out
        self.live = self.out.isatty()
        self._done = 0.0  # expected seconds of the parts that are over
        self._spent = 0.0  # real seconds that they took, and expected ones of those that were run
        self._planned = 0.0
        self._shown = 0.0
        self._name = ""
        self._start = 0.0

    def begin(self, name: str) -> None:
        """Begin a part."""
        self._name, self._start = name, time.perf_counter()
        self._show(0.0)

    def advance(self, fraction: float) -> None:
        """Part of the current part is done."""
        if time.perf_counter() - self._shown > 0.1:
            self._show(fraction)

    def end(self, note: str) -> None:
        """The current part is done; print a line that stays."""
        took = time.perf_counter() - self._start
        if note != "kept":
            self._spent += took
            self._planned += self.seconds[self._name]
        self._done += self.seconds[self._name]
        clear = "\r\033[K" if self.live else ""
        text = note if note == "kept" else f"{took:.1f} s" + (f", {note}" if note else "")
        print(f"{clear}{self._name:<18}{text}", file=self.out, flush=True)

    def left(self, fraction: float) -> float:
        """Estimated seconds left, at the pace of this machine so far."""
        spent = self._spent + time.perf_counter() - self._start
        here = self.seconds[self._name]
        planned = self._planned + fraction * here
        pace = spent / planned if planned > 1.0 else 1.0
        return pace * (sum(self.seconds.values()) - self._done - fraction * here)

    def _show(self, fraction: float) -> None:
        if not self.live:
            return
        self._shown = time.perf_counter()
        print(
            f"\r\033[K{self._name:<18}{100 * fraction:3.0f} %   about {self.left(fraction):.0f} s "
            f"left in all",
            end="",
            file=self.out,
            flush=True,
        )


def _directory(text: str) -> Path:
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a file, expected a directory")
    return path


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


COMMANDS: tuple[type[Command], ...] = (Reproduce,)


def main(arguments: Sequence[str] | None = None) -> int:
    """Choose the command and run it; 2 for wrong usage, 130 for Ctrl-C."""
    parser = argparse.ArgumentParser(prog="taskalgebra", description=SUMMARY)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for kind in COMMANDS:
        command = kind()
        sub = commands.add_parser(
            command.name, help=command.summary, description=command.summary.capitalize() + "."
        )
        command.arguments(sub)
        sub.set_defaults(run=command.run)
    given = parser.parse_args(arguments)
    try:
        code: int = given.run(given)
    except KeyboardInterrupt:
        print("\nstopped; finished results are kept", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        print(f"taskalgebra: {error}", file=sys.stderr)
        return FAILED
    except KeyError as error:
        print(
            f"taskalgebra: a saved result is damaged ({error.args[0]}); run again with --fresh",
            file=sys.stderr,
        )
        return FAILED
    return code


if __name__ == "__main__":
    sys.exit(main())
