"""How many threads torch uses.

Many small networks run fastest on one thread each; more threads spend their time waiting for each
other.  To use several cores, run several batches at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread for each thread of Python that is started within."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
