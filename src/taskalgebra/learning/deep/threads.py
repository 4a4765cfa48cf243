"""How many threads torch uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let torch use n threads for each Python thread that is started within."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def one_thread() -> AbstractContextManager[None]:
    """Let torch use one thread.

    Small networks run fastest on one thread each; more threads spend their time waiting for each
    other.  To use several cores, run several batches at once.
    """
    return threads(1)
