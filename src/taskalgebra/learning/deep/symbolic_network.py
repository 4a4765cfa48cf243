"""A network for symbolic grids.

Every cell holds a few small whole numbers, such as what lies there and its colour.

The network sees the grid from where the agent stands and, if the agent has a heading, turned so
that this is always ahead.  Nobody tells it what the agent is: it watches steps before it is
trained.  The agent is what is on every grid exactly once, and moves most often; its heading is a
number in its cell that says which way it moves.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from taskalgebra.learning.deep.uvfa import UVFA

AHEAD = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""What is ahead for each of four headings, as a change of row and column."""


@final
class SymbolicNetwork(UVFA):
    """For grids `[H, W, C]` of whole numbers from 0 to 255, which name things and measure nothing.

    1. Each channel has a vector for every number; the sum of those of a cell, through two layers,
       is what the cell holds.  Cells that hold the same are looked at once.
    2. The goal, a description or an observation, yields vectors; their products with the cells are
       maps of where it is.  A few more maps depend on the state alone.
    3. All maps are shifted to have the agent in the middle, and turned by its heading: seen like
       this, the way to a goal is much the same wherever the two are.
    4. Two hidden layers take the maps, those of the state and those of the goal added.

    A world in which no agent is found is seen as it lies.
    """

    NUMBERS, FEATURES, STATE_MAPS, GOAL_MAPS, HIDDEN = 256, 64, 4, 2, 128

    agent: Tensor
    heading: Tensor
    first: Tensor
    around: Tensor
    ahead: Tensor

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Layers for grids of this shape."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        height, width, channels = shape
        self.of_observation = goal_shape is None or goal_shape == shape
        n_goal = height * width * self.FEATURES if self.of_observation else math.prod(goal_shape)  # type: ignore[arg-type]
        self.numbers = nn.Embedding(channels * self.NUMBERS, self.FEATURES)
        self.holds = nn.Linear(self.FEATURES, self.FEATURES)
        self.maps = nn.Linear(self.FEATURES, self.STATE_MAPS)
        self.goal_hidden = nn.Linear(n_goal, 128)
        self.goal_vectors = nn.Linear(128, self.GOAL_MAPS * self.FEATURES)
        reach = max(height, width) - 1
        offsets = torch.arange(-reach, reach + 1)
        n_around = len(offsets) ** 2
        self.from_state = nn.Linear(n_around * self.STATE_MAPS, self.HIDDEN)
        self.from_goal = nn.Linear(n_around * self.GOAL_MAPS, self.HIDDEN, bias=False)
        self.from_agent = nn.Linear(self.FEATURES, self.HIDDEN)
        self.second = nn.Linear(self.HIDDEN, self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)
        nn.init.normal_(self.numbers.weight, std=0.5)
        # most of what is around is nothing, so the few cells that are something must be heard
        nn.init.normal_(self.from_state.weight, std=0.1)
        nn.init.normal_(self.from_goal.weight, std=0.2)
        self.register_buffer("agent", torch.zeros(channels, self.NUMBERS))
        self.register_buffer("heading", torch.zeros(channels, self.NUMBERS, len(AHEAD)))
        self.register_buffer("first", self.NUMBERS * torch.arange(channels), persistent=False)
        self.register_buffer("around", torch.cartesian_prod(offsets, offsets).T, persistent=False)
        self.register_buffer("ahead", torch.tensor(AHEAD), persistent=False)

    def watch(self, states: Tensor, next_states: Tensor, over: Tensor) -> None:
        """Find the agent and its heading in some steps."""
        grids, after = self._grids(states)[~over], self._grids(next_states)[~over]
        self.agent.zero_()
        self.heading.zero_()
        found = mover(grids, after)
        if found is None:
            return
        self.agent[found] = 1.0
        channel, number = found
        places = [(g[..., channel] == number).flatten(1).int().argmax(1) for g in (grids, after)]
        width = grids.shape[2]
        move = torch.stack([p // width for p in places] + [p % width for p in places], 1)
        move = torch.stack([move[:, 1] - move[:, 0], move[:, 3] - move[:, 2]], 1)  # [B, 2]
        step = (move[:, None] == self.ahead).all(2)  # [B, 4]
        cells = grids.flatten(1, 2)[torch.arange(len(grids)), places[0]]  # [B, C]
        for other in range(cells.shape[1]):
            ways = {
                value: step[cells[:, other] == value].any(0)
                for value in set(cells[:, other].tolist())
            }
            moved = [way for way in ways.values() if way.any()]
            if len(moved) > 1 and int(torch.stack(moved).sum(0).max()) == 1 == max(map(sum, moved)):
                for value, way in ways.items():
                    self.heading[other, value] = way.float()
                return

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        n_states, n_goals = len(states), len(goals)
        grids = self._grids(states)
        (height, width), flat = grids.shape[1:3], grids.flatten(1, 2)
        rows = torch.arange(n_states, device=states.device)
        place, ahead = self._agent_in(flat)
        held, kind = self._held(flat)  # [K, features], [B, cells]
        active = torch.relu(held)
        like = held @ self._looked_for(goals).T / math.sqrt(self.FEATURES)
        maps = torch.cat([self.maps(active), like], 1)  # [K, state maps + G · goal maps]
        maps = functional.pad(maps, (0, 0, 0, 1))  # one more kind of cell: outside
        (far, aside), (down, across) = self.around, ahead.T[:, :, None]
        row = (place // width)[:, None] + far * down + aside * across  # [B, around]
        column = (place % width)[:, None] + far * across - aside * down
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        there = kind.gather(1, torch.where(inside, row * width + column, 0))
        there = torch.where(inside, there, len(held))
        seen = maps.index_select(0, there.flatten()).view(n_states, -1, maps.shape[1])
        of_state = seen[:, :, : self.STATE_MAPS].flatten(1)
        of_goal = seen[:, :, self.STATE_MAPS :].transpose(1, 2).reshape(n_states, n_goals, -1)
        state = self.from_state(of_state) + self.from_agent(active[kind[rows, place]])
        x = torch.relu(self.second(torch.relu(state[:, None] + self.from_goal(of_goal))))
        return self.last(x).view(n_states, n_goals, *self.sizes)  # type: ignore[no-any-return]

    def _grids(self, states: Tensor) -> Tensor:
        return states.long().clamp(0, self.NUMBERS - 1)

    def _held(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        """[K, features], what K kinds of cells hold, and `[B, cells]`, which kind each cell is."""
        examples, kind = kinds_of(flat, self.NUMBERS)
        summed = self.numbers(examples + self.first).sum(1)
        return self.holds(torch.relu(summed)), kind

    def _looked_for(self, goals: Tensor) -> Tensor:
        """[G · goal maps, features], what to look for on the way to each goal."""
        if self.of_observation:
            held, kind = self._held(self._grids(goals).flatten(1, 2))
            given = held[kind].flatten(1)
        else:
            given = goals.float().flatten(1)
        vectors = self.goal_vectors(torch.relu(self.goal_hidden(given)))
        return vectors.view(-1, self.FEATURES)  # type: ignore[no-any-return]

    def _agent_in(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        """[B], the agent's cell in grids `[B, cells, C]`, and `[B, 2]`, what is ahead of it."""
        channels = torch.arange(flat.shape[2], device=flat.device)
        place = self.agent[channels, flat].sum(2).argmax(1)
        own = flat[torch.arange(len(flat), device=flat.device), place]  # [B, C]
        return place, self.ahead[self.heading[channels, own].sum(1).argmax(1)]


def kinds_of(flat: Tensor, numbers: int) -> tuple[Tensor, Tensor]:
    """Cells `[B, cells, C]` of numbers below a limit, sorted into kinds that hold the same.

    Returns:
        `[K, C]`, an example of each kind, and `[B, cells]`, which kind each cell is.
    """
    code = flat[..., 0]
    for channel in range(1, flat.shape[2]):
        if channel % 6 == 0:  # else it could become too large for a number
            code = torch.unique(code, return_inverse=True)[1]
        code = code * numbers + flat[..., channel]
    kinds, kind = torch.unique(code, return_inverse=True)
    every = torch.arange(kind.numel(), device=kind.device)
    example = torch.zeros_like(kinds).scatter_(0, kind.flatten(), every)
    return flat.flatten(0, 1)[example], kind


def mover(grids: Tensor, after: Tensor) -> tuple[int, int] | None:
    """The channel and number of what is on each grid exactly once, and moves most often.

    Args:
        grids: `[B, H, W, C]`, before steps.
        after: the same after them.
    """
    best, found = 0, None
    for channel in range(grids.shape[3] if len(grids) else 0):
        before, then = (g[..., channel].flatten(1) for g in (grids, after))
        for number in sorted(set(before[0].tolist())):
            was, is_now = before == number, then == number
            if (was.sum(1) == 1).all() and (is_now.sum(1) == 1).all():
                moves = int((was.int().argmax(1) != is_now.int().argmax(1)).sum())
                if moves > best:
                    best, found = moves, (channel, number)
    return found
