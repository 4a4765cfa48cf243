"""Networks for small pictures and symbolic grids, with the goal by description or by picture.

Both see the whole grid through a few convolutions of 3 × 3 that keep its size, so that five pixels
are enough.  The goal is a vector of features that scales and shifts the maps after each of them
(Perez et al. 2018): which cells matter depends on what is looked for.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from taskalgebra.learning.deep.uvfa import ScaledUVFA

WIDE = 16
"""Rows or columns above which a grid is halved before the next convolution."""


class GridNetwork(ScaledUVFA):
    """Convolutions over a grid, conditioned on the goal."""

    CHANNELS, LAYERS, HIDDEN = 32, 3, 256

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
        *,
        n_inputs: int,
    ) -> None:
        """Layers for grids with `n_inputs` maps, as `encode` makes them."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        own = goal_shape is None or goal_shape == shape  # a goal is given by an observation
        rows, columns = shape[:2]
        self.strides = []
        for _ in range(self.LAYERS):
            self.strides.append(1 + (max(rows, columns) > WIDE))
            rows, columns = ((side - 1) // self.strides[-1] + 1 for side in (rows, columns))
        widths = [n_inputs] + [self.CHANNELS] * self.LAYERS
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=stride, padding=1)
            for a, b, stride in zip(widths[:-1], widths[1:], self.strides, strict=True)
        )
        n_goal = n_inputs * math.prod(shape[:2]) if own else math.prod(goal_shape or ())
        self.goal_hidden = nn.Linear(n_goal, 128)
        self.goal_maps = nn.Linear(128, 2 * self.CHANNELS * self.LAYERS)
        self.hidden = nn.Linear(self.CHANNELS * rows * columns, self.HIDDEN)
        self.of_goal = nn.Linear(128, self.HIDDEN, bias=False)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)
        self.own = own

    def encode(self, states: Tensor) -> Tensor:
        """[B, maps, H, W] of states `[B, H, W, C]`."""
        raise NotImplementedError

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        n_states, n_goals = len(states), len(goals)
        if self.own:
            given = self.encode_goals(goals).flatten(1)
        else:
            given = self.centred_goals(goals).flatten(1)
        goal = torch.relu(self.goal_hidden(given))
        maps = self.goal_maps(goal).view(n_goals, self.LAYERS, 2, self.CHANNELS, 1, 1)
        x = self.layers[0](self.encode(states))[:, None].expand(-1, n_goals, -1, -1, -1)
        for i, layer in enumerate(self.layers):
            if i:
                x = layer(x.flatten(0, 1)).unflatten(0, (n_states, n_goals))
            x = torch.relu(x * (1.0 + maps[:, i, 0]) + maps[:, i, 1])
        x = self.hidden(x.flatten(2)) + self.of_goal(goal)
        return self.last(torch.relu(x)).view(n_states, n_goals, *self.sizes)  # type: ignore[no-any-return]

    def encode_goals(self, goals: Tensor) -> Tensor:
        """The same as `encode`, of goals that are observations."""
        return self.encode(goals)


@final
class ImageNetwork(GridNetwork):
    """For pictures of any size, `[H, W, C]`, of bytes or of floats."""

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Layers for pictures of this shape."""
        super().__init__(shape, n_actions, n_outputs, goal_shape, n_inputs=shape[2])

    def encode(self, states: Tensor) -> Tensor:
        """The picture, centred and scaled, channels first."""
        return self.centred_states(states).permute(0, 3, 1, 2)

    def encode_goals(self, goals: Tensor) -> Tensor:
        """The same, with the mean of goals."""
        return self.centred_goals(goals).permute(0, 3, 1, 2)
