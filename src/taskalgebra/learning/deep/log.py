"""A training as TensorBoard shows it: loss and score of every chapter.

tensorboard --logdir DIR
"""

from __future__ import annotations

from pathlib import Path
from typing import final

from taskalgebra.learning.deep.dqn import Chapter


@final
class TensorBoardLog:
    """A listener that writes event files below a directory, one folder a network."""

    def __init__(self, directory: Path) -> None:
        """Refuse at once where TensorBoard is missing, not after an hour of training."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                'logs need TensorBoard: pip install "taskalgebra[tensorboard]"', name="tensorboard"
            ) from None
        self._make = SummaryWriter
        self.directory = directory

    def __call__(self, name: str, chapter: Chapter, score: float) -> None:
        """Add one point to each curve, by the number of gradient steps."""
        writer = self._make(self.directory / name)
        for curve, value in (
            ("score", score),
            ("loss", chapter.loss),
            ("goals met", chapter.n_goals),
            ("environment steps", chapter.n_steps),
        ):
            writer.add_scalar(curve, value, chapter.n_updates)
        writer.close()
