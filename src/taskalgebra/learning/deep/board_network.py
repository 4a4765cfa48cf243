"""A network for boards of symbols on which goals are in each other's way: it learns and searches.

What comes of a single step is simple: the agent enters the next cell, or stays, or the episode ends
there.  It is learned from single steps, symbol by symbol.  How far every cell is then follows by a
search from the agent, and what a distance is worth is learned by the targets of Q̄.  This is the
idea of `planning_network`, for symbols instead of pictures: nothing needs to be seen beforehand.
"""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from taskalgebra.learning.deep.planning_network import ENDED, ENTERED, STAYED
from taskalgebra.learning.deep.symbolic_network import kinds_of, mover
from taskalgebra.learning.deep.uvfa import UVFA

SIDES = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""The four cells beside one, as changes of row and column."""
FASTER = 10.0
"""Scales weights that stand for single logits: an optimiser moves a weight by little at a time."""


@final
class BoardNetwork(UVFA):
    """For grids `[H, W, C]` of whole numbers from 0 to 255, of the whole board.

    1. It watches steps before it is trained.  The agent is what is on every grid exactly once, and
       moves most often.  If it is seen to leave on one side and enter on the other, these sides are
       joined, as on a torus.
    2. What a cell holds, the agent aside, says what comes of a step towards it: it is entered, or
       the agent stays where it is, or the episode ends (`model_loss`).
    3. The fewest steps to every cell follow by sweeps over the board, for each first action a:

           d_a(x) ← min(d_a(x), 1 + min d_a(y) over the y beside x that can be entered),

       from 1 on the cell that a leads to.
    4. A goal is on the cell that matches it best, by what the cell holds and how many cells before
       it, row by row, hold the same (`goal_loss`).
    5. Each distance has outputs of its own, for each action.

    2 and 4 learn from single steps, 5 by the targets of Q̄.

    It is for boards on which an action moves the agent by one cell or not at all, and an episode
    ends by stepping on a goal.  It does not tell ways of `far` steps or more apart.
    """

    NUMBERS, FEATURES, ALIKE = 256, 32, 4

    agent: Tensor
    joined: Tensor
    first: Tensor

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Layers for grids of this shape."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        self.height, self.width, channels = shape
        self.n_cells = self.height * self.width
        self.far = self.n_cells // 2 + 1  # a way around everything is seldom longer
        self.numbers = nn.Embedding(channels * self.NUMBERS, self.FEATURES)
        self.holds = nn.Linear(self.FEATURES, self.FEATURES)
        self.outcomes = nn.Linear(self.FEATURES, 3)
        self.order = nn.Embedding(self.ALIKE, self.FEATURES)
        self.goal_vectors = nn.Linear(math.prod(goal_shape or shape), self.FEATURES)
        self.moves = nn.Parameter(torch.zeros(n_actions, len(SIDES) + 1))
        self.last = nn.Linear(self.far + 1, n_actions * n_outputs)
        nn.init.normal_(self.numbers.weight, std=0.5)
        nn.init.zeros_(self.last.weight)
        self.register_buffer("agent", torch.zeros(channels, self.NUMBERS))
        self.register_buffer("joined", torch.zeros(2))  # rows: top and bottom; columns: the sides
        self.register_buffer("first", self.NUMBERS * torch.arange(channels), persistent=False)

    def watch(self, states: Tensor, next_states: Tensor, over: Tensor) -> None:
        """Find the agent, and sides that are joined, in some steps."""
        grids, after = self._grids(states)[~over], self._grids(next_states)[~over]
        found = mover(grids, after)
        self.agent.zero_()
        self.joined.zero_()
        if found is None:
            return
        self.agent[found] = 1.0
        here, there = self._place(grids), self._place(after)
        for axis, (a, b, size) in enumerate(
            (
                (here // self.width, there // self.width, self.height),
                (here % self.width, there % self.width, self.width),
            )
        ):
            self.joined[axis] = float(((a - b).abs() == size - 1).any() and size > 2)

    def check_steps(self, states: Tensor, next_states: Tensor, over: Tensor) -> None:
        """Refuse a world in which nothing moves from a cell to the next.

        Raises:
            ValueError: no agent was found, or it jumps.
        """
        here = self._place(self._grids(states)[~over])
        there = self._place(self._grids(next_states)[~over])
        beside = self._beside()[here] == there[:, None]
        jumped = ~(beside.any(1) | (here == there))
        if not self.agent.any() or jumped.float().mean() > 0.1:
            seen = "no agent" if not self.agent.any() else "an agent that jumps"
            raise ValueError(
                f"the network 'board' sees {seen} in the first steps; it is for boards on which "
                f"one thing moves from a cell to the next: use another network, or none, which "
                f"chooses one"
            )

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        n_actions, n_outputs = self.sizes
        with torch.no_grad():
            ways = self._read(states, goals)  # [B, G, A]
            ways += (self.far + 1) * torch.arange(n_actions, device=states.device)
        tables = FASTER * self.last.weight.view(n_actions, n_outputs, -1).transpose(1, 2)
        tables = tables + self.last.bias.view(n_actions, 1, n_outputs)  # [A, far + 1, n]
        return functional.embedding(ways, tables.flatten(0, 1))

    def model_loss(
        self, states: Tensor, actions: Tensor, next_states: Tensor, over: Tensor
    ) -> Tensor:
        """−log P(what was seen to come of each step).

        With P(k | a) how likely action a is a step towards the k-th cell beside the agent, and
        P(o | x) how likely outcome o comes of a step towards cell x:

            P(the k-th cell is entered) = P(k | a) P(entered | x_k)
            P(the agent stays)          = Σ_k P(k | a) P(stayed | x_k) + P(no step | a)
            P(the episode ends)         = Σ_k P(k | a) P(ended | x_k)

        P is taken to be at least 10⁻⁶.  Nothing is learned from an agent that has jumped.
        """
        grids = self._grids(states)
        here, there = self._place(grids), self._place(self._grids(next_states))
        beside = self._beside()[here]  # [B, 4]
        entered = (beside == there[:, None]) & ~over[:, None]
        stayed = (here == there) & ~over
        held, kind, _ = self._held(grids)
        chances = torch.softmax(self.outcomes(torch.relu(held)), 1)  # [K, 3]
        outside = functional.one_hot(torch.tensor(STAYED, device=states.device), 3)
        chances = torch.cat([chances, outside[None]])
        kind = functional.pad(kind, (0, 1), value=len(held))
        chances = chances[kind.gather(1, beside)]  # [B, 4, 3]
        step = torch.softmax(FASTER * self.moves, 1)[actions]  # [B, 5]
        joint = step[:, :4, None] * chances
        chance = torch.where(
            over,
            joint[..., ENDED].sum(1),
            (joint[..., ENTERED] * entered).sum(1)
            + stayed * (joint[..., STAYED].sum(1) + step[:, 4]),
        )
        clear = over | stayed | entered.any(1)
        return -(chance.clamp(min=1e-6).log() * clear).sum() / clear.sum().clamp(min=1)

    def goal_loss(self, states: Tensor, next_states: Tensor, goals: Tensor, met: Tensor) -> Tensor:
        """−log P(the goal is on the cell on which the agent has met it).

        What the cell holds is seen before the step: the agent may hide it.
        """
        ended, goal = met.nonzero(as_tuple=True)
        if not len(ended):
            return super().goal_loss(states, next_states, goals, met)
        there = self._place(self._grids(next_states[ended]))
        match = self._match(*self._held(self._grids(states[ended])), goals)
        return functional.cross_entropy(match[torch.arange(len(there)), goal], there)

    def distances(self, place: Tensor, outcome: Tensor) -> Tensor:
        """The fewest steps to every cell for each first action, `[B, A, cells]`; `far` for none.

        Args:
            place: `[B]`, the agent's cell.
            outcome: `[B, cells]`, what comes of a step towards each cell.
        """
        beside = self._beside()
        n_batch, (n_actions, _) = len(place), self.sizes
        outcome = functional.pad(outcome, (0, 1), value=STAYED)  # outside
        sides = functional.pad(beside, (0, 1), value=self.n_cells)  # and the fifth: no step
        towards = sides[place][:, self.moves.argmax(1)]  # [B, A]
        moves = outcome.gather(1, towards) != STAYED  # [B, A]
        far = torch.tensor(self.far, dtype=torch.int16, device=place.device)
        ways = far.repeat(self.n_cells + 1, n_batch, n_actions)  # cells first: whole rows are moved
        ways.scatter_(0, towards[None], torch.where(moves, 1, far)[None].to(far.dtype))
        can_pass, closed = (outcome == ENTERED).T[..., None], (outcome == STAYED).T[:-1, :, None]
        for _ in range(self.far):
            onward = torch.where(can_pass, 1 + ways, far)
            nearer = far
            for side in beside.T:
                nearer = torch.minimum(nearer, onward.index_select(0, side))
            nearer = torch.minimum(ways[:-1], nearer.masked_fill(closed, self.far))
            if torch.equal(nearer, ways[:-1]):
                break
            ways[:-1] = nearer
        found = ways[:-1].permute(1, 2, 0).long()
        waited = (1 + found.amin(1, keepdim=True)).clamp(max=self.far)
        return torch.where(moves[..., None], found, waited)

    def _grids(self, states: Tensor) -> Tensor:
        return states.long().clamp(0, self.NUMBERS - 1)

    def _marks(self, grids: Tensor) -> Tensor:
        """[B, H, W, C], whether a number stands for the agent."""
        channels = torch.arange(grids.shape[3], device=grids.device)
        return self.agent[channels, grids] > 0.0

    def _place(self, grids: Tensor) -> Tensor:
        """[B], the agent's cell."""
        return self._marks(grids).any(3).flatten(1).int().argmax(1)

    def _held(self, grids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What cells hold, the agent aside.

        Returns:
            `[K, features]`, what K kinds of cells hold; `[B, cells]`, the kind of each cell, and
            the number of cells of its kind before it, row by row, up to `ALIKE − 1`.
        """
        flat = torch.where(self._marks(grids), 0, grids).flatten(1, 2)
        examples, kind = kinds_of(flat, self.NUMBERS)
        held = self.holds(torch.relu(self.numbers(examples + self.first).sum(1)))
        seen = functional.one_hot(kind, len(held)).cumsum(1)
        order = seen.gather(2, kind[..., None]).squeeze(2) - 1
        return held, kind, order.clamp(max=self.ALIKE - 1)

    def _match(self, held: Tensor, kind: Tensor, order: Tensor, goals: Tensor) -> Tensor:
        """[B, G, cells], how well cells match goals."""
        looked_for = self.goal_vectors(goals.float().flatten(1))  # [G, features]
        match = (held @ looked_for.T)[kind] + (self.order.weight @ looked_for.T)[order]
        return match.transpose(1, 2)  # type: ignore[no-any-return]

    def _read(self, states: Tensor, goals: Tensor) -> Tensor:
        """[B, G, A], the fewest steps to each goal for each first action."""
        grids = self._grids(states)
        held, kind, order = self._held(grids)
        outcome = self.outcomes(torch.relu(held)).argmax(1)[kind]  # [B, cells]
        ways = self.distances(self._place(grids), outcome)  # [B, A, cells]
        cells = self._match(held, kind, order, goals).argmax(2)  # [B, G]
        return ways.transpose(1, 2).gather(1, cells[..., None].expand(-1, -1, ways.shape[1]))

    def _beside(self) -> Tensor:
        """[cells, 4], the cells beside each; the number of cells stands for outside."""
        cells = torch.arange(self.n_cells, device=self.joined.device)[:, None]
        sides = torch.tensor(SIDES, device=cells.device)
        row, column = cells // self.width + sides[:, 0], cells % self.width + sides[:, 1]
        down, across = (self.joined > 0.0).unbind()
        inside = (down | (row >= 0) & (row < self.height)) & (
            across | (column >= 0) & (column < self.width)
        )
        return torch.where(
            inside, (row % self.height) * self.width + column % self.width, self.n_cells
        )
