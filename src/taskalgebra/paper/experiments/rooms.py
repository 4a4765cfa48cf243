"""What the Four Rooms experiments share: the penalty, learned tables, and optima to compare with.

Tasks of a table are written as expressions over `top` and `left`, in the order of `SIXTEEN`: the
shortest sum of products of each of the 16 Boolean functions.  Where the paper's assumptions do not
hold, two expressions of one function can give two different policies; these are the ones measured.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.learning.q_learning import Run, Settings, Stop, begin, goal_oriented_q_learning
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import all_functions
from taskalgebra.planning.exact import optimal_q, optimal_v, q_bar_star
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task

BASE = ("top", "left")
SIXTEEN: tuple[Expression, ...] = tuple(all_functions(list(BASE)))
R_BAR_MIN = (-0.1 - 2.0) * 22
"""r̄_MIN = (r_MIN − r_MAX)·D with the rewards of Section 4 and D = 22, in all experiments."""
EXACT = 1e-9
"""A return closer to the optimum than this is optimal; sums of rewards are rounded at 1e-15."""


def planned(task: Task) -> Array:
    """Q̄* `[S, G, A]` of a task, by exact planning."""
    (values,) = q_bar_star(task.space, [task], r_bar_min=R_BAR_MIN).values
    return values.q_bar(np.arange(task.space.mdp.n_states))


def optimum(task: Task) -> tuple[Array, NDArray[np.int64]]:
    """V*_M `[S]`, and actions `[S]` that are optimal from every state."""
    q = optimal_q(task)
    return q.max(axis=1), greedy(q[:, None, :])


def gaps(task: Task, actions: NDArray[np.int64], v_star: Array | None = None) -> Array:
    """V*_M − V^π_M of a policy `[S]`, from every start; V*_M is planned unless it is given."""
    best = optimal_v(task) if v_star is None else v_star
    gap: Array = (best - policy_return(task, actions))[task.space.mdp.starts]
    return gap


def is_optimal(task: Task, actions: NDArray[np.int64], v_star: Array) -> bool:
    """Whether a policy is optimal from every state: V*(s) = r(s, π(s)) + Σ p V*(s').

    Every step costs something, so that a policy which never ends cannot fulfil this.
    """
    mdp = task.space.mdp
    expected = np.add.reduceat(mdp.probability * v_star[mdp.successor], mdp.offset[:-1])
    q = task.steps + expected.reshape(mdp.n_states, mdp.n_actions)
    live = np.flatnonzero(~mdp.is_goal)
    return bool((v_star[live] - q[live, actions[live]] <= EXACT).all())


def has_trap(task: Task, actions: NDArray[np.int64]) -> bool:
    """Whether a policy stands still for ever in some cell, as by STAY where there is no goal."""
    mdp = task.space.mdp
    here = np.arange(mdp.n_states)
    pair = here * mdp.n_actions + actions
    certain = mdp.offset[pair + 1] - mdp.offset[pair] == 1
    same = mdp.successor[mdp.offset[pair]] == here
    return bool((certain & same & ~mdp.is_goal).any())


@dataclass(frozen=True)
class Setting:
    """One way to learn in Four Rooms."""

    dense: bool = False
    shared_absorbing: bool = True
    slip_probability: float = 0.0

    def world(self, task: str | None = None) -> FourRooms:
        """The world in which tasks are learned, with the rewards of Section 4."""
        return FourRooms(task=task, **asdict(self))


@dataclass(frozen=True)
class Learning:
    """How tables are learned."""

    epsilon: float = 1.0
    """ε, how often the learner acts at random."""
    learning_rate: float = 1.0
    """α."""
    learning_episodes: int = 500
    """Episodes to learn each table for; the learner is not told when it has converged."""

    def learn(self, setting: Setting, name: str, seed: int) -> Run:
        """Learn the table of one task by Algorithm 1.

        Where a task ends only in its own goals, the learner would never meet the others.  There it
        is told all goals in advance.
        """
        world = setting.world(name)
        mdp = world.mdp
        run = begin(mdp.n_states, mdp.n_goals, mdp.n_actions, seed=seed)
        if not setting.shared_absorbing:
            run.seen_goals[:] = np.arange(mdp.n_goals)
        run = goal_oriented_q_learning(
            world.task,
            Stop(episodes=self.learning_episodes),
            settings=Settings(self.learning_rate, self.epsilon),
            r_bar_min=R_BAR_MIN,
            mdp=mdp,
            run=run,
        )
        return finished(run)


def finished(run: Run) -> Run:
    """The run, unless the user stopped it: a learner swallows Ctrl-C to keep what it learned."""
    if run.interrupted:
        raise KeyboardInterrupt
    return run


def shifted_bounds(q_bar: Array, task: Task) -> Bounds:
    """Q̄_U and Q̄_∅ from the one table of a task, by Corollary 1: only r(g) differs.

        Q̄_U(s, g, a) = Q̄_M(s, g, a) + r_U − r_M(g),   unless Q̄_M(s, g, a) pays r̄_MIN

    Where steps do not pay, an entry pays r̄_MIN if and only if it is at most r̄_MIN (Definition 2).
    """
    to_goal = q_bar > R_BAR_MIN

    def shifted(terminal: Array) -> Array:
        change: Array = (terminal - task.goal_reward)[:, None]
        return q_bar + np.where(to_goal, change, 0.0)

    return Bounds(shifted(task.space.r_universal), shifted(task.space.r_empty))


def marks(desired: BoolArray) -> str:
    """The goals as a word: ◆ desired, ◇ not; top left, top right, bottom left, bottom right."""
    return "".join("◆" if good else "◇" for good in desired)
