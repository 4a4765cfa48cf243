"""Networks that read an image as a board of cells, and find the agent and the goal on it.

`CellNetwork` finds both.  `EgocentricNetwork`, our own for images, then sees the goal from where
the agent stands; `PlanningNetwork` plans a path.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from taskalgebra.learning.deep.uvfa import UVFA, images

CELL = 8
"""Default side of a cell, in pixels."""


class CellNetwork(UVFA):
    """Finds agent and goal in an image of cells.

    1. The image, halved in size, is cut into overlapping patches, one and a half cells wide and one
       cell apart; each becomes a vector of features, a *cell*.
    2. A map says how much each cell looks like the agent.
    3. The goal, an image or a description, yields a few unit vectors; their products with the cells
       are maps of where it may be.  A few more maps depend on the state alone.
    """

    FEATURES, STATE_MAPS, GOAL_MAPS = 32, 4, 2

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
        *,
        cell: int = CELL,
    ) -> None:
        """Layers for images of this shape, with cells of this many pixels, a multiple of 4."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        height, width, channels = shape
        of_goal = goal_shape or shape
        self.patch = (3 * cell // 4, cell // 2)  # size and stride in the halved image
        wide, apart = self.patch
        self.rows, self.columns = ((side // 2 - wide) // apart + 1 for side in (height, width))
        self.patches = nn.Conv2d(channels, 48, wide, stride=apart)
        self.features = nn.Conv2d(48, self.FEATURES, 1)
        self.maps = nn.Conv2d(self.FEATURES, self.STATE_MAPS, 1)
        self.agent = nn.Conv2d(self.FEATURES, 1, 1)
        n_inputs = of_goal[2] * 14 * 14 if len(of_goal) == 3 else math.prod(of_goal)
        self.goal_hidden = nn.Linear(n_inputs, 128)
        self.goal_vectors = nn.Linear(128, self.GOAL_MAPS * self.FEATURES)

    def halved(self, states: Tensor) -> Tensor:
        """Sums of 2 × 2 pixels, centred; faster than pooling, and bytes are converted once."""
        height, width = 2 * (states.shape[1] // 2), 2 * (states.shape[2] // 2)
        x = states[:, :height, :width]
        mean = self.state_mean[None, :height, :width]
        return (_quarters(x) / 255.0 - _quarters(mean) / 255.0).permute(0, 3, 1, 2)

    def cells(self, halved: Tensor) -> Tensor:
        """[B, features, rows, columns], the cells of halved images."""
        return self.features(torch.relu(self.patches(halved)))  # type: ignore[no-any-return]

    def like_agent(self, active: Tensor) -> Tensor:
        """[B, rows · columns], how much cells look like the agent; `active` is their ReLU."""
        return self.agent(active).flatten(1)  # type: ignore[no-any-return]

    def like_goals(self, cells: Tensor, goals: Tensor) -> Tensor:
        """[B, G · maps, rows · columns], how much the cells look like the goals."""
        if goals.ndim == 4:
            small = functional.adaptive_avg_pool2d(4.0 * images(goals, self.goal_mean), 14)
        else:
            small = goals.float() - self.goal_mean
        vectors = self.goal_vectors(torch.relu(self.goal_hidden(small.flatten(1))))
        unit = functional.normalize(vectors.view(-1, self.FEATURES), dim=1)
        flat = cells.flatten(2)
        return unit @ (flat - flat.mean(2, keepdim=True))


@final
class EgocentricNetwork(CellNetwork):
    """Sees the goal from where the agent stands.

    1. A softmax over cells says where the agent stands; it is also trained to find what changes
       when the agent acts (`model_loss`), long before rewards tell where to look.
    2. All maps are also shifted to have the agent in the middle: relative to it, the path to a goal
       is much the same wherever the two are.
    3. Two hidden layers take all maps, those of the state and those of the goal added.
    """

    HIDDEN = 256
    MOST_CHANGED = 0.25  # the share of cells that a step of the agent changes is less

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
        *,
        cell: int = CELL,
    ) -> None:
        """Layers for images of this shape."""
        super().__init__(shape, n_actions, n_outputs, goal_shape, cell=cell)
        n_cells = self.rows * self.columns
        n_around = (2 * self.rows - 1) * (2 * self.columns - 1)
        of_state = n_cells + self.STATE_MAPS * (n_cells + n_around)
        of_goal = self.GOAL_MAPS * (n_cells + n_around)
        self.state_norm, self.goal_norm = nn.LayerNorm(of_state), nn.LayerNorm(of_goal)
        self.from_state = nn.Linear(of_state, self.HIDDEN)
        self.from_goal = nn.Linear(of_goal, self.HIDDEN, bias=False)
        self.second = nn.Linear(self.HIDDEN, self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)
        self.register_buffer("row_shift", _shifts(self.rows), persistent=False)
        self.register_buffer("column_shift", _shifts(self.columns), persistent=False)

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        n_states, n_goals = len(states), len(goals)
        cells = self.cells(self.halved(states))
        active = torch.relu(cells)
        place = self._place(active)
        own = self.maps(active).flatten(2)  # [B, maps, cells]
        where = self.like_goals(cells, goals)
        around = self._seen_from(place, torch.cat([own, where], 1))
        of_state = [10.0 * place, own.flatten(1), around[:, : self.STATE_MAPS].flatten(1)]
        of_goal = [where, around[:, self.STATE_MAPS :]]
        state = self.from_state(self.state_norm(torch.cat(of_state, 1)))
        goal = self.from_goal(
            self.goal_norm(torch.cat([part.reshape(n_states, n_goals, -1) for part in of_goal], 2))
        )
        x = torch.relu(self.second(torch.relu(state[:, None] + goal)))
        return self.last(x).view(n_states, n_goals, *self.sizes)  # type: ignore[no-any-return]

    def model_loss(
        self, states: Tensor, actions: Tensor, next_states: Tensor, over: Tensor
    ) -> Tensor:
        """How surely the agent is found elsewhere than where the image changes when it acts.

        A step changes the cell that the agent leaves and the one that it enters.  Of what lies on
        these cells before the step, only the agent is always there, so it is what is found.  Steps
        that change nothing, or much of the image, tell nothing.  One half of the batch is enough.
        """
        half = slice(len(states) // 2, None)  # telling transitions come first; the rest move more
        with torch.no_grad():
            now, after = self.halved(states[half]), self.halved(next_states[half])
            change = (now - after).abs().sum(1, keepdim=True)
            cells = functional.avg_pool2d(change, *self.patch).flatten(1)
            most = cells.amax(1, keepdim=True)
            share = cells / most.clamp(min=1e-6)
            few = (share > 0.02).float().mean(1) < self.MOST_CHANGED
            telling = few & (most.squeeze(1) > 0.0) & ~over[half]
        if not telling.any():
            return super().model_loss(states, actions, next_states, over)
        place = self._place(torch.relu(self.cells(now[telling])))
        return -torch.log((place * share[telling]).sum(1) + 1e-6).mean()

    def _place(self, active: Tensor) -> Tensor:
        """[B, cells], where the agent stands."""
        return torch.softmax(3.0 * self.like_agent(active), 1)

    def _seen_from(self, place: Tensor, maps: Tensor) -> Tensor:
        """Maps `[B, M, cells]` shifted to have the agent in the middle, `[B, M, around]`.

        Σ_x place(x) · map(x + δ) for every displacement δ.  Row and column of the place are taken
        as independent, which is exact if the agent was found on one cell.
        """
        n_batch, n_maps, _ = maps.shape
        grid = place.view(n_batch, self.rows, self.columns)
        by_row = functional.pad(grid.sum(2), (0, 1))[:, self.row_shift]
        by_column = functional.pad(grid.sum(1), (0, 1))[:, self.column_shift]
        x = maps.reshape(n_batch, n_maps * self.rows, self.columns) @ by_column.transpose(1, 2)
        x = x.view(n_batch, n_maps, self.rows, -1).transpose(2, 3)
        x = x.reshape(n_batch, -1, self.rows) @ by_row.transpose(1, 2)
        return x.view(n_batch, n_maps, -1)

    row_shift: Tensor
    column_shift: Tensor


def _quarters(x: Tensor) -> Tensor:
    """Sums of 2 × 2 pixels of images `[B, H, W, C]`; those of bytes are whole numbers."""
    if x.is_floating_point():
        return x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2]
    rows = x[:, ::2].short() + x[:, 1::2]  # along memory first, which is several times faster
    pairs = rows.view(*rows.shape[:2], -1, 2, rows.shape[3])
    return (pairs[..., 0, :] + pairs[..., 1, :]).float()


def _shifts(n: int) -> Tensor:
    """[2n − 1, n], the index y − δ of every displacement δ and place y; n where it is outside."""
    displacement = torch.arange(1 - n, n)[:, None]
    index = torch.arange(n) - displacement
    return torch.where((index >= 0) & (index < n), index, n)
