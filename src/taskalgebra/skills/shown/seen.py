"""What an agent expects and does in every state of a finite world, or of one layout of an open one.

An open world is treated as a finite one, on one layout at a time: a network is asked about a state
by showing it the observation there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from taskalgebra.arrays import Array, LongArray, Observations
from taskalgebra.theory.family import Family
from taskalgebra.theory.goal_env import GoalEnv, Layout
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.worlds.finite import FiniteMDP


class Source(Protocol):
    """The skills of an agent."""

    family: Family
    env: GoalEnv | None


class Valued(Protocol):
    """An agent for one task."""

    @property
    def skills(self) -> Source:
        """Where it comes from."""

    @property
    def task(self) -> Task:
        """What is paid."""

    @property
    def values(self) -> ExtendedQ:
        """What it expects."""

    @property
    def policy(self) -> Policy:
        """How it acts."""

    @property
    def v(self) -> Array:
        """[S], in a finite world."""

    @property
    def actions(self) -> LongArray:
        """[S], in a finite world."""


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """A task on a finite world, or on a layout, and what an agent makes of it."""

    task: Task
    values: Array  # [S]
    actions: LongArray  # [S]
    observations: Observations  # [S − G, ...], of the states that are not goals
    layout: Layout | None = None

    @property
    def mdp(self) -> FiniteMDP:
        """The world."""
        return self.task.space.mdp

    def slices(self, values: ExtendedQ) -> Array:
        """[S, G], max_a Q̄(s, g, a); −∞ in goals, where nothing is left to do."""
        found = np.full((self.mdp.n_states, self.mdp.n_goals), -np.inf)
        found[~self.mdp.is_goal] = values.q_bar(self.observations).max(axis=2)
        return found


def seen(agent: Valued, seed: int) -> Seen | None:
    """All states of a finite world, or of the layout with this seed; None if there is none."""
    task = agent.task
    if task.space.finite:
        live = np.flatnonzero(~task.space.mdp.is_goal)
        return Seen(task, agent.v, agent.actions, live)
    env = agent.skills.env
    layout = None if env is None else env.one_layout(seed, task)
    if layout is None:
        return None
    mdp, observations = layout.mdp, layout.observations
    here = on_layout(mdp, task.space).from_rewards(task.goal_reward)
    values, actions = np.empty(mdp.n_states), np.zeros(mdp.n_states, np.int64)
    values[mdp.goals] = here.goal_reward
    values[~mdp.is_goal] = recover_v(agent.values.q_bar(observations))
    actions[~mdp.is_goal] = agent.policy.actions(observations)
    return Seen(here, values, actions, observations, layout)


def on_layout(mdp: FiniteMDP, space: TaskSpace) -> TaskSpace:
    """The task space of an open world, on one of its layouts."""
    return TaskSpace(mdp, r_universal=space.r_universal, r_empty=space.r_empty)
