"""A network that plans: it learns what comes of a step, and searches for the path to the goal.

If other objects are in the way, the path to a goal depends on all of them, and a network that
learns the value of every arrangement needs to see very many.  What a step does is simple: the agent
enters the next cell, or stays, or the episode ends there.  That can be learned cell by cell, from
the steps alone, and the rest is a search (after the value iteration networks of Tamar et al. 2016,
but with a model that is learned from steps, not through the plan).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from taskalgebra.learning.deep.cell_networks import CELL, CellNetwork
from taskalgebra.learning.deep.uvfa import UVFA

ENTERED, STAYED, ENDED = range(3)
"""What comes of a step towards a cell."""
ALIKE = 0.01
"""Mean difference of two small images, as a share of their range, below which they are the same."""
_OFFSETS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # of the four cells beside one


@final
class PlanningNetwork(CellNetwork):
    """Plans over the cells, and reads the values from the cells around the agent.

    1. The agent is on the cell that looks most like it, a goal on the one that stands out most on
       its maps.
    2. A map says of every cell what comes of a step towards it: the agent enters it, or stays where
       it is, or the episode ends.
    3. The remaining distance to a goal, d, follows by sweeps over the board,

           d(x) ← min(d(x), 1 + min d(y) over the y beside x that can be entered),

       from 0 on the goal and far elsewhere.
    4. A hidden layer takes d of the agent's cell, d and outcome of the four cells beside it; or,
       where the episode is about to end, whether the state shows the goal.

    The hidden layer learns by the targets of Q̄.  The map learns from single steps (`model_loss`).
    How to see is not learned at all: `take_from` a network that was trained with nothing in the
    way, and with agent and goals anywhere.

    It is for boards of square cells on which an action moves the agent by one cell or not at all,
    and an episode ends by stepping on a goal, not by picking it up.  It does not tell paths of
    `far` steps or more apart.
    """

    STATE_MAPS, GROUND, HIDDEN = 3, 16, 192
    SIGHT = ("patches", "features", "agent", "goal_hidden", "goal_vectors")
    needs_start = True

    def __init__(
        self, shape: tuple[int, ...], n_actions: int, n_outputs: int, *, cell: int = CELL
    ) -> None:
        """Layers for images of this shape."""
        super().__init__(shape, n_actions, n_outputs, cell=cell)
        for name in self.SIGHT:
            getattr(self, name).requires_grad_(False)
        self.far = self.rows + self.columns + 4  # across the board, and a few steps of detours
        self.ground = nn.Conv2d(shape[2], self.GROUND, self.patch[0], stride=self.patch[1])
        self.on_ground = nn.Conv2d(self.GROUND, self.STATE_MAPS, 1)
        self.over = nn.Linear(shape[2] * 7 * 7, 1)
        # Episodes are taken to continue until they are seen to end.  From 0, every state would soon
        # count as over, which makes the loss least: the next state's `over` labels steps as ended.
        nn.init.constant_(self.over.bias, -4.0)
        self.moves = nn.Parameter(torch.zeros(n_actions, len(_OFFSETS) + 1))
        n_read = 5 * (self.far + 1) + 4 * 2 + 2
        self.hidden = nn.Linear(n_read, self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)

    def take_from(self, other: UVFA) -> None:
        """Take over what another cell network has learned to see; it is not trained further."""
        if not isinstance(other, CellNetwork) or other.state_mean.shape != self.state_mean.shape:
            raise ValueError(
                f"a planning network needs the sight of an egocentric network for observations of "
                f"shape {tuple(self.state_mean.shape)}; given: {type(other).__name__} for "
                f"{tuple(other.state_mean.shape)}"
            )
        for name in self.SIGHT:
            getattr(self, name).load_state_dict(getattr(other, name).state_dict())
        self.state_mean.copy_(other.state_mean)
        self.goal_mean.copy_(other.goal_mean)

    def check_steps(self, states: Tensor, next_states: Tensor, over: Tensor) -> None:
        """Refuse a sight that does not find the agent: it must be seen to move between neighbours.

        Most steps lead to a neighbouring cell, or nowhere; a few end the episode.
        """
        with torch.no_grad():
            here, there = (self._agent(self.cells(self.halved(x))) for x in (states, next_states))
        moved = self._entered(here, there).any(1)[~over].float().mean()
        jumped = 1.0 - moved - (here == there)[~over].float().mean()
        if moved < 0.1 or jumped > 0.3:
            raise ValueError(
                f"the network to start from does not find the agent: in {moved:.0%} of the steps "
                f"here it sees it move to a neighbouring cell, and in {jumped:.0%} jump; start "
                f"from skills that were learned with agent and goals anywhere"
            )

    def forward(
        self, states: Tensor, goals: Tensor, others: Sequence[PlanningNetwork] = ()
    ) -> Tensor:
        """All pairs of states and goals.

        Args:
            states: B of them.
            goals: as the network is shown them.
            others: networks of other tasks; cells on which their episodes end are avoided, too.
        """
        with torch.no_grad():
            read = self._read(states, goals, others)
        x = self.last(torch.relu(self.hidden(read)))
        return x.view(len(states), len(goals), *self.sizes)  # type: ignore[no-any-return]

    def model_loss(
        self, states: Tensor, actions: Tensor, next_states: Tensor, over: Tensor
    ) -> Tensor:
        """−log P(what was seen to come of each step).

        With f how likely the episode is over whatever the agent does, P(k | a) how likely action a
        is a step towards the k-th neighbouring cell, and P(o | x) how likely outcome o comes of a
        step towards cell x:

            P(the k-th cell is entered) = (1 − f) P(k | a) P(entered | x_k)
            P(the agent stays)          = (1 − f) (Σ_k P(k | a) P(stayed | x_k) + P(no step | a))
            P(the episode ends)         = f + (1 − f) Σ_k P(k | a) P(ended | x_k)

        An episode has also ended if the next state is one that is over.  P is taken to be at least
        10⁻⁶.
        """
        halved, after = self.halved(states), self.halved(next_states)
        cells = self.cells(halved)
        with torch.no_grad():
            here, there = self._agent(cells), self._agent(self.cells(after))
            entered = self._entered(here, there)
            seen = torch.stack([entered.any(1), there == here, over | (self._over(after) > 0.0)])
            clear = seen.any(0)  # nothing is learned from an agent that has jumped
        step = torch.softmax(10.0 * self.moves, 1)[actions]  # [B, 5]
        outcomes = torch.softmax(self._beside(self._outcomes(halved, cells), here)[..., 1:], 1)
        joint = step[:, None, :4] * outcomes  # [B, 3, 4]
        f = torch.sigmoid(self._over(halved))
        chances = torch.stack(
            [
                (1.0 - f) * (joint[:, ENTERED] * entered).sum(1),
                (1.0 - f) * (joint[:, STAYED].sum(1) + step[:, 4]),
                f + (1.0 - f) * joint[:, ENDED].sum(1),
            ]
        )
        kind = torch.where(seen[ENDED], ENDED, torch.where(seen[STAYED], STAYED, ENTERED))
        chance = chances.gather(0, kind[None])[0]
        return -(chance.clamp(min=1e-6).log() * clear).sum() / clear.sum().clamp(min=1)

    def _agent(self, cells: Tensor) -> Tensor:
        """[B], the cell on which the agent is."""
        return self.like_agent(torch.relu(cells)).argmax(1)

    def _entered(self, here: Tensor, there: Tensor) -> Tensor:
        """[B, 4], which of the four neighbours of the first cell is the second, if any."""
        numbers = torch.arange(self.rows * self.columns, device=here.device)
        numbers = numbers.view(1, self.rows, self.columns).expand(len(here), -1, -1)
        return self._beside(numbers, here, -1)[:, 1:] == there[:, None]

    def _goals(self, cells: Tensor, goals: Tensor) -> Tensor:
        """[B, G], the cells on which the goals are."""
        maps = self.like_goals(cells, goals).view(len(cells), len(goals), self.GOAL_MAPS, -1)
        return (maps / (maps.std(3, keepdim=True) + 1e-3)).abs().mean(2).argmax(2)

    def _over(self, halved: Tensor) -> Tensor:
        """[B], positive where the episode is over whatever the agent does."""
        return self.over(_small(halved)).squeeze(1)  # type: ignore[no-any-return]

    def _outcomes(self, halved: Tensor, cells: Tensor) -> Tensor:
        """[B, outcomes, rows, columns]; the sight taken over knows objects, the rest is new."""
        on_ground = self.on_ground(torch.relu(self.ground(halved)))
        return self.maps(torch.relu(cells)) + on_ground  # type: ignore[no-any-return]

    def _read(self, states: Tensor, goals: Tensor, others: Sequence[PlanningNetwork]) -> Tensor:
        """[B, G, n], what the hidden layer takes."""
        halved = self.halved(states)
        cells = self.cells(halved)
        agent, outcome = self._agent(cells), self._outcomes(halved, cells).argmax(1)
        for other in others:
            seen = other.halved(states)
            theirs = other._outcomes(seen, other.cells(seen)).argmax(1)
            outcome = torch.where(theirs == ENDED, ENDED, outcome)
        # The agent hides what it stands on, which can be entered: it has been.
        outcome = outcome.flatten(1).scatter(1, agent[:, None], ENTERED).view_as(outcome)
        ways = self.distances(outcome, self._goals(cells, goals))
        ways = self._beside(ways, agent, self.far).long()  # [B, G, 5]
        hindrances = functional.one_hot(outcome, 3).permute(0, 3, 1, 2)[:, 1:]
        hindrances = self._beside(hindrances, agent)[..., 1:].flatten(1)  # [B, 8]
        marks = functional.one_hot(ways, self.far + 1).flatten(2)
        board = torch.cat([marks, hindrances[:, None].expand(-1, len(goals), -1)], 2)
        apart = (_small(halved)[:, None] - _small(self.halved(goals))).abs().mean(2) / 4.0
        over = (self._over(halved) > 0.0)[:, None, None]
        shown = (apart < ALIKE)[..., None]
        return torch.cat([board * ~over, over & shown, over & ~shown], 2).float()

    def distances(self, outcome: Tensor, goals: Tensor) -> Tensor:
        """Steps from every cell to each goal, `[B, G, rows, columns]`; `far` if there is no path.

        Args:
            outcome: `[B, rows, columns]`, what comes of a step towards each cell.
            goals: `[B, G]`, the cells of the goals, which can always be entered.
        """
        far = float(self.far)
        at_goal = functional.one_hot(goals, self.rows * self.columns).bool()
        at_goal = at_goal.view(*goals.shape, self.rows, self.columns)
        enterable = at_goal | (outcome == ENTERED)[:, None]
        distance = torch.where(at_goal, 0.0, far)
        for _ in range(self.far):
            onward = torch.where(enterable, 1.0 + distance, far)
            onward = functional.pad(onward, (1, 1, 1, 1), value=far)
            across = torch.minimum(onward[..., 1:-1, :-2], onward[..., 1:-1, 2:])
            along = torch.minimum(onward[..., :-2, 1:-1], onward[..., 2:, 1:-1])
            nearer = torch.minimum(distance, torch.minimum(across, along))
            if torch.equal(nearer, distance):
                break
            distance = nearer
        return distance

    def _beside(self, maps: Tensor, agent: Tensor, beyond: int = 0) -> Tensor:
        """[B, ..., 5], maps `[B, ..., rows, columns]` at the agent and its four neighbours."""
        wide = functional.pad(maps, (1, 1, 1, 1), value=beyond).flatten(-2)
        width = self.columns + 2
        here = (agent // self.columns + 1) * width + agent % self.columns + 1
        steps = torch.tensor([0, *(i * width + j for i, j in _OFFSETS)], device=maps.device)
        index = (here[:, None] + steps).view(-1, *(1,) * (maps.dim() - 3), 5)
        return wide.gather(-1, index.expand(*wide.shape[:-1], 5))


def _small(halved: Tensor) -> Tensor:
    """[B, n], flat images of 7 × 7 pixels: enough to tell full-screen pictures apart."""
    return functional.adaptive_avg_pool2d(halved, 7).flatten(1)
