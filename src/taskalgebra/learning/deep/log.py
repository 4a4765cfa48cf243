"""A training as TensorBoard shows it: loss and score of every iteration.

tensorboard --logdir DIR
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, final
from urllib.parse import quote

from taskalgebra.extras import missing
from taskalgebra.progress import Event


@final
class TensorBoard:
    """A listener that writes event files below a directory, one directory per network."""

    def __init__(self, directory: str | Path) -> None:
        """Fail at once if TensorBoard is missing, not after an hour of training."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                missing("logs", "TensorBoard", "tensorboard"), name="tensorboard"
            ) from None
        self._make = SummaryWriter
        self.directory = Path(directory)
        self._writers: dict[str, Any] = {}

    def __call__(self, event: Event) -> None:
        """Add one point to each curve, by the number of gradient steps."""
        if event.what not in self._writers:
            place = self.directory / quote(event.what, safe=" ")
            self._writers[event.what] = self._make(place)
        writer = self._writers[event.what]
        for curve, value in (
            ("score", event.score),
            ("loss", event.loss),
            ("goals met", event.n_goals),
            ("environment steps", event.n_steps),
        ):
            if value is not None:
                writer.add_scalar(curve, value, event.n_updates or event.n_steps)
        writer.flush()
