"""How far a run of learning is: shown on a terminal only, and only if it is slow."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from taskalgebra.learning.q_learning import Run, Stop

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
        shares = [
            done / limit
            for done, limit in (
                (run.n_steps, self.stop.steps),
                (run.n_episodes, self.stop.episodes),
            )
            if limit is not None
        ]
        if shares:
            share = min(max(shares), 1.0)
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
