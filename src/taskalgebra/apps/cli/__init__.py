"""The command `taskalgebra`: thin shells over the public API.

`main` runs a command and returns its exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped with
Ctrl-C.  Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Timer
from typing import Any

from taskalgebra.apps.cli.exit_codes import FAILED, INTERRUPTED, OK, STOPPED
from taskalgebra.extras import missing
from taskalgebra.signs import adapt


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process."""
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            print(missing("the command", package, "cli"), file=sys.stderr)
            return FAILED
    adapt(sys.stdout, sys.stderr)
    given = sys.argv[1:] if arguments is None else list(arguments)
    with _every_ctrl_c(), _logged():
        try:
            from taskalgebra.apps.cli.app import app

            app(args=given, prog_name="taskalgebra")
        except SystemExit as ended:
            outside = getattr(ended.__context__, "__cause__", None)  # of what typer made of Ctrl-C
            if isinstance(outside, KeyboardInterrupt):
                return _stopped()
            return ended.code if isinstance(ended.code, int) else OK
        except KeyboardInterrupt:
            return _stopped()
    return OK


def _stopped() -> int:
    """Ctrl-C before the command itself has begun."""
    print(f"\n{STOPPED}", file=sys.stderr)
    return INTERRUPTED


@contextmanager
def _logged() -> Iterator[None]:
    """Print the library's log, which is progress where there is no terminal, on stderr."""
    logger, handler = logging.getLogger("taskalgebra"), logging.StreamHandler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _every_ctrl_c() -> Iterator[None]:
    """Repeat a Ctrl-C that came where Python ignores exceptions, as in a compiler's callback.

    What the compiler had half made when it came cannot be closed, which concerns nobody.
    """
    before = sys.unraisablehook

    def repeated(ignored: Any) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()
        elif not _closes_for_the_compiler(ignored.object):
            before(ignored)

    sys.unraisablehook = repeated
    try:
        yield
    finally:
        sys.unraisablehook = before


def _closes_for_the_compiler(function: Any) -> bool:
    module, _, _ = str(getattr(function, "__module__", "")).partition(".")
    return module == "llvmlite" and getattr(function, "__name__", "") == "__del__"
