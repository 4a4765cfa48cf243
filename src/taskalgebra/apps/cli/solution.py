"""A composed agent on a map: its values, its actions, and the optimum.

An open world is treated as a finite one, on one layout at a time: a network is asked about a state
by showing it the observation there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taskalgebra.apps.cli.commands import Failure
from taskalgebra.arrays import Array, BoolArray, LongArray
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.exact import optimal_v
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.shown.film import way_of
from taskalgebra.skills.shown.seen import Seen, seen
from taskalgebra.theory.goal_env import Layout
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import FiniteMDP

ROUNDING = 1e-9
"""Returns that differ by less, relative to the largest reward or return, are equal."""
Cell = tuple[int, int]


@dataclass(frozen=True)
class Episode:
    """One episode: the states, the actions, and how it ended."""

    states: tuple[int, ...]  # one more than actions
    actions: tuple[str, ...]  # one per step; the last, in a goal, is paid and ends the episode
    total: float
    optimum: float
    goal: int  # −1 if it was given up

    def cells(self, solution: Solution) -> NDArray[np.int64]:
        """[steps + 1, 2], where the agent was."""
        assert solution.task.space.mdp.cells is not None
        return solution.task.space.mdp.cells[list(self.states)]


@dataclass(frozen=True)
class Solution:
    """An agent, and what it does in every state of a finite world."""

    agent: Agent
    seen: Seen  # what it makes of all states, or of those of a layout

    @property
    def task(self) -> Task:
        """The task, on the finite world."""
        return self.seen.task

    @property
    def values(self) -> Array:
        """[S], what the agent expects."""
        return self.seen.values

    @property
    def actions(self) -> LongArray:
        """[S], what the agent does."""
        return self.seen.actions

    @property
    def layout(self) -> Layout | None:
        """The layout, of an open world."""
        return self.seen.layout

    @property
    def desired(self) -> BoolArray:
        """[G], the goals that the task wants."""
        return self.task.wanted

    @property
    def desired_names(self) -> list[str]:
        """The names of the goals that the task wants."""
        names = self.task.space.goal_names
        return [name for name, one in zip(names, self.desired, strict=True) if one]

    @cached_property
    def returns(self) -> Array:
        """[S], what the actions earn, exactly."""
        return policy_return(self.task, self.actions)

    @cached_property
    def optimum(self) -> Array:
        """[S], what the best policy earns, planned for this task itself."""
        return optimal_v(self.task)

    @property
    def n_optimal(self) -> int:
        """The number of starts from which the agent is optimal."""
        starts = self.task.space.mdp.starts
        with np.errstate(invalid="ignore"):  # −∞ − −∞ where nothing can be reached
            gap = self.optimum[starts] - self.returns[starts]
        size = np.maximum(self.task.space.reward_scale, np.abs(self.optimum[starts]))
        return int((~(gap > ROUNDING * size)).sum())

    @property
    def most_steps(self) -> int:
        """Steps after which an episode is given up."""
        env = self.agent.skills.env
        own = None if env is None else env.max_episode_steps
        return own or 10 * self.task.space.mdp.n_states

    def state_at(self, cell: Cell) -> int:
        """The state of a cell of the map."""
        found = free_state(self.task.space.mdp, cell)
        if not np.isfinite(self.optimum[found]):
            raise ValueError(f"no goal can be reached from --start {cell[0]},{cell[1]}")
        return found

    def play(self, start: int | None, seed: int) -> Episode:
        """Play one episode from a state, or from a random one."""
        way = way_of(self.task, lambda s: int(self.actions[s]), start, seed, self.most_steps)
        names = self.task.space.mdp.action_names
        taken = tuple(names[action] for action in way.actions)
        return Episode(way.states, taken, way.total, float(self.optimum[way.states[0]]), way.goal)


def free_state(mdp: FiniteMDP, cell: Cell) -> int:
    """The state of a free cell of a map."""
    if mdp.cells is None:
        raise ValueError("this world has no map; --start needs one")
    found = np.flatnonzero((mdp.cells == cell).all(axis=1) & ~mdp.is_goal)
    if not found.size:
        (top, left), (bottom, right) = mdp.cells.min(axis=0), mdp.cells.max(axis=0)
        raise ValueError(
            f"--start {cell[0]},{cell[1]} is not a free cell; free cells are in rows {top} to "
            f"{bottom} and columns {left} to {right}, counted from 0,0 at the top left of the map, "
            f"its walls included"
        )
    return int(found[0])


def solution_of(agent: Agent, seed: int) -> Solution:
    """The solution of an agent; in an open world, on the layout of this seed."""
    found = seen(agent, seed)
    if found is None:
        raise Failure("the world of these skills is known only by playing it; use evaluate")
    return Solution(agent, found)
