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
from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.exact import optimal_v
from taskalgebra.skills.agent import Agent
from taskalgebra.theory.goal_env import Layout
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP

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
    task: Task  # of the finite world
    values: Array  # [S], what the agent expects
    actions: NDArray[np.int64]  # [S], what it does
    layout: Layout | None = None  # of an open world

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
        mdp = self.task.space.mdp
        env = FiniteEnv(self.task.space, task=self.task)
        state, _ = env.reset(seed=seed, options=None if start is None else {"state": start})
        states, total, goal = [state], 0.0, NO_GOAL
        actions: list[str] = []
        while goal == NO_GOAL and len(states) <= self.most_steps:
            action = int(self.actions[state])
            actions.append(mdp.action_names[action])
            state, reward, _, _, info = env.step(action)
            total, goal = total + float(reward), int(info["goal"])
            states.append(int(state))
        return Episode(
            tuple(states), tuple(actions), total, float(self.optimum[states[0]]), int(goal)
        )


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
    if agent.task.space.finite:
        return Solution(agent, agent.task, agent.v, agent.actions)
    env = agent.skills.env
    layout = None if env is None else env.one_layout(seed, agent.task)
    if layout is None:
        raise Failure("the world of these skills is known only by playing it; use evaluate")
    mdp, seen = layout.mdp, layout.observations
    task = on_layout(mdp, agent.task.space).from_rewards(agent.task.goal_reward)
    values, actions = np.empty(mdp.n_states), np.zeros(mdp.n_states, np.int64)
    values[mdp.goals] = task.goal_reward
    values[~mdp.is_goal] = recover_v(agent.q_bar(seen))
    actions[~mdp.is_goal] = agent.policy.actions(seen)
    return Solution(agent, task, values, actions, layout)


def on_layout(mdp: FiniteMDP, space: TaskSpace) -> TaskSpace:
    """The task space of an open world, on one of its layouts."""
    return TaskSpace(mdp, r_universal=space.r_universal, r_empty=space.r_empty)
