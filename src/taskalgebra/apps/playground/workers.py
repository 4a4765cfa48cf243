"""A second process that answers at the same address, so that two cores serve many at once.

It is forked from the first once everything is imported and compiled, so it costs no time to start
and little memory.  It stops with the first, however that ends: it holds the reading end of a pipe,
and the other end closes with its owner.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WORTHWHILE = sys.platform == "linux" and (os.cpu_count() or 1) > 1
"""Elsewhere one process serves: forking is not safe, or accepting connections is not shared."""


@contextmanager
def second_process(serve: Callable[[int], None]) -> Iterator[None]:
    """Run `serve` in a second process meanwhile; it is given the pipe that says when to stop."""
    if not WORTHWHILE:
        yield
        return
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        try:
            serve(reading)
        finally:
            os._exit(0)
    os.close(reading)
    try:
        yield
    finally:
        os.close(writing)
        os.waitpid(child, 0)
