"""G*(s:g), the best sum of rewards from every state to every goal of a deterministic world.

The search is breadth-first if all steps cost the same, Dijkstra's if step rewards are at most 0,
and Johnson's (Dijkstra's after a change of rewards by a potential) if some are positive.  Where all
steps cost the same and there are many goals, the graph is contracted first, if that helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds import cycles
from taskalgebra.worlds.contraction import Contracted, contracted, contracted_block
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.graph import Predecessors, on_threads
from taskalgebra.worlds.held import Block, Held
from taskalgebra.worlds.search import Costs, block_of, n_blocks, width_of

MANY_GOALS = 48
"""Goals from which it pays to contract the graph before it is searched."""


class Searches(NamedTuple):
    """What the searches from the goals of a world need to know."""

    graph: Predecessors
    goals: IntArray  # [G], states
    step: float  # what every step pays; 1 where steps pay differently
    costs: Costs | None  # None where all steps pay the same
    shorter: Contracted | None  # the graph contracted, where that helps

    @classmethod
    def of(cls, graph: Predecessors, goals: IntArray, step: float, costs: Costs | None) -> Searches:
        """Those of a graph; one with many goals is contracted first."""
        many = costs is None and goals.size >= MANY_GOALS
        return cls(graph, goals, step, costs, contracted(graph, goals) if many else None)

    def blocks(self, numbers: Sequence[int], done: Callable[[int, Block], None]) -> None:
        """Fill the blocks with these numbers, in any order, on all cores, and hand each over."""
        if self.shorter is None:
            for number in numbers:
                done(number, block_of(self.graph, self._targets(number), self.costs))
            return
        size = len(numbers) * self.graph.offset.size
        on_threads(lambda: lambda i: done(numbers[i], self._block(numbers[i])), len(numbers), size)

    def _block(self, number: int) -> Block:
        assert self.shorter is not None
        block = contracted_block(self.shorter, self._targets(number))
        if block is None:
            return block_of(self.graph, self._targets(number), self.costs)
        block.setflags(write=False)
        return block

    def _targets(self, number: int) -> IntArray:
        width = width_of(self.goals.size, self.costs is None)
        return self.goals[number * width : (number + 1) * width]


def pricing(mdp: FiniteMDP, step_reward: Array) -> tuple[float, Costs | None, list[int]]:
    """What every step pays; or, where steps pay differently, 1 and what they cost.

    If some cycle that can still end has a positive sum, there is no best return; its states are
    returned too.
    """
    live = ~mdp.is_goal
    first = float(step_reward[np.argmax(live), 0])
    if first <= 0 and _constant_rows(step_reward, live, first):
        return first, None, []
    potential = np.zeros(mdp.n_states)
    if (step_reward > 0).any():
        potential, cycle = positive_cycle(mdp, step_reward)
        if cycle:
            return 1.0, None, cycle
    cost = np.maximum(potential[:, None] - potential[mdp.next_state] - step_reward, 0.0)
    return 1.0, Costs(cost, potential), []


def held_returns(mdp: FiniteMDP, step_reward: Array) -> tuple[Held | None, list[int]]:
    """The best sum of rewards up to each goal, or the states of a cycle for which there is none."""
    step, costs, cycle = pricing(mdp, step_reward)
    if cycle:
        return None, cycle
    blocks: dict[int, Block] = {}
    numbers = range(n_blocks(mdp.n_goals, costs is None))
    Searches.of(mdp.predecessors, mdp.goals, step, costs).blocks(numbers, blocks.__setitem__)
    return Held(tuple(blocks[k] for k in numbers), step), []


def known_returns(mdp: FiniteMDP) -> tuple[Held | None, list[int]]:
    """`held_returns` of a world's own rewards, searched for once and kept as long as the world."""
    held = _KNOWN.get(mdp)
    if held is not None:
        return held, []
    held, cycle = held_returns(mdp, mdp.step_reward)
    if held is not None:
        keep_returns(mdp, held)
    return held, cycle


def keep_returns(mdp: FiniteMDP, held: Held) -> None:
    """Let `known_returns` of a world be these."""
    _KNOWN[mdp] = held


_KNOWN: WeakKeyDictionary[FiniteMDP, Held] = WeakKeyDictionary()


def positive_cycle(mdp: FiniteMDP, step_reward: Array) -> tuple[Array, list[int]]:
    """The best walk from each state, and the states of a positive cycle that can still end."""
    tolerance = 1e-12 * float(np.abs(step_reward).max())
    h, cycle = cycles.best_walks(mdp.next_state, step_reward, mdp.ending, tolerance)
    return h, [int(s) for s in cycle]


def costs(mdp: FiniteMDP, step_reward: Array) -> tuple[Array, float]:
    """[S, A], what steps cost, none below 0; and the rounding error up to which they are 0.

    In a deterministic world with rewards above 0, rewards are first lowered by the best walk h, so
    that r(s, a) + h(s') − h(s) ≤ 0, with the same sum around every cycle.
    """
    if not mdp.deterministic or not (step_reward > 0).any():
        return -step_reward, 0.0
    h, _ = positive_cycle(mdp, step_reward)
    rounding = 1e-12 * float(np.abs(step_reward).max())
    return h[:, None] - h[mdp.next_state] - step_reward, rounding


@kernel
def _constant_rows(rewards: Array, live: BoolArray, value: float) -> bool:
    for s in range(live.size):
        if live[s]:
            for a in range(rewards.shape[1]):
                if rewards[s, a] != value:
                    return False
    return True
