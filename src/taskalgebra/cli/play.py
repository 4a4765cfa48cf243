"""`taskalgebra play`: a world to edit and watch, in the browser."""

from __future__ import annotations

from taskalgebra.cli.commands import Failure

EXAMPLES = (("play", "open the playground in the browser"),)


def play() -> int:
    """Open a page in the browser to edit a world, write tasks and watch agents act."""
    raise Failure("the playground is not there yet")
