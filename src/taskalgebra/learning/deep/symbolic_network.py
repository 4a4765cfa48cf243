"""A network for symbolic grids, where every cell holds what lies there as small whole numbers."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from taskalgebra.learning.deep.grid_networks import GridNetwork


@final
class SymbolicNetwork(GridNetwork):
    """For grids `[H, W, C]` of whole numbers from 0 to 255, which name things and measure nothing.

    Each channel has a vector for every number that may stand there; those of a cell are joined.
    """

    NUMBERS, FEATURES = 256, 8

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Layers for grids of this shape."""
        n_inputs = shape[2] * self.FEATURES
        super().__init__(shape, n_actions, n_outputs, goal_shape, n_inputs=n_inputs)
        self.numbers = nn.Embedding(shape[2] * self.NUMBERS, self.FEATURES)
        self.register_buffer("first", self.NUMBERS * torch.arange(shape[2]), persistent=False)

    first: Tensor

    def encode(self, states: Tensor) -> Tensor:
        """[B, channels · features, H, W]."""
        vectors = self.numbers(states.long() + self.first)  # [B, H, W, C, features]
        return vectors.flatten(3).permute(0, 3, 1, 2)  # type: ignore[no-any-return]
