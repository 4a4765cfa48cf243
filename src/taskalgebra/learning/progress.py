"""How far a run of learning is: told to a function, or shown on a terminal, if it is slow."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO, final

from taskalgebra.learning.q_learning import Run, Stop

Share = Callable[[float, str], None]
"""Told the share of all work that is done, from 0 to 1, and what is being done."""

PATIENCE = 2.0
"""Seconds before anything is shown."""


class TerminalProgress:
    """A line with the share done and the time left; pass it as `progress` to a learner."""

    def __init__(self, what: str, stop: Stop, stream: TextIO | None = None) -> None:
        """Name the run, and say when it stops."""
        self.what = what
        self.stop = stop
        self.stream = sys.stderr if stream is None else stream
        self.start = time.monotonic()
        self.shown = False

    def __call__(self, run: Run) -> None:
        """Write the line anew."""
        elapsed = time.monotonic() - self.start
        if elapsed < PATIENCE or not self.stream.isatty():
            return
        share = _share(run, self.stop)
        if share is not None:
            state = f"{share:.0%}, {elapsed * (1 - share) / max(share, 1e-9):.0f} s left"
        else:
            state = f"{run.n_steps:,} steps"
        self.stream.write(f"\r\x1b[K{self.what}: {state}")
        self.stream.flush()
        self.shown = True

    def close(self) -> None:
        """Wipe the line away."""
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


@final
class ShareProgress:
    """Tells how much is done of several runs, one after the other, each as long as the others."""

    def __init__(self, tell: Share, what: str, before: int, n_runs: int, stop: Stop) -> None:
        """Name the run, and say how many come before it and how many there are."""
        self.tell, self.what, self.before, self.n_runs = tell, what, before, n_runs
        self.stop = stop

    def __call__(self, run: Run) -> None:
        """Tell the share."""
        self.tell((self.before + (_share(run, self.stop) or 0.0)) / self.n_runs, self.what)


def _share(run: Run, stop: Stop) -> float | None:
    """How much of a run is done, if that is known."""
    limits = ((run.n_steps, stop.steps), (run.n_episodes, stop.episodes))
    shares = [done / limit for done, limit in limits if limit is not None]
    return min(max(shares), 1.0) if shares else None
