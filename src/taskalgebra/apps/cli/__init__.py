"""The command `taskalgebra`: thin shells over the public API.

`main` runs a command and returns its exit code: 0 done, 1 failed, 2 wrong usage, 130 stopped with
Ctrl-C.  Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from taskalgebra.apps.cli.exit_codes import FAILED, OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process."""
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            print(f'the command needs {package}: pip install "taskalgebra[cli]"', file=sys.stderr)
            return FAILED
    from taskalgebra.apps.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an old encoding shows ? for ◆, and continues
            stream.reconfigure(errors="replace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        app(args=given, prog_name="taskalgebra")
    except SystemExit as stopped:
        return stopped.code if isinstance(stopped.code, int) else OK
    return OK
