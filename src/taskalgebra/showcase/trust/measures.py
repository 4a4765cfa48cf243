"""What is measured of an agent: what it loses, how surely that is known, and what it takes to mend.

The optimum is planned apart (`planning.exact.optimal_v`): neither the bound nor the improvement
knows it.  An agent that may never end from some start loses without end there; its episodes are
then cut off after `LIMIT` steps, so that all figures are finite.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.planning.exact import optimal_v
from taskalgebra.planning.improvement import Improvement, improved
from taskalgebra.planning.policies import made_proper
from taskalgebra.planning.timed import TimedTable, returns_within
from taskalgebra.skills.agent import Agent
from taskalgebra.theory.tasks import Task

EXACT = 1e-9
"""A return closer to the optimum than this is optimal."""
LIMIT = 1_000
"""Steps after which episodes that may never end are cut off."""
MOST_SWEEPS = 100_000


@final
@dataclass(frozen=True)
class Measured:
    """An agent of a finite world, before and after it is improved."""

    optimum: float
    """The mean over all starts, like the mean losses."""
    letter_mean: float
    """The mean loss with the penalty of Definition 2 by its letter."""
    letter_worst: float
    """The loss from the worst start with that penalty."""
    mean_loss: float
    """The mean loss with the default penalty; in stochastic worlds that is r_∅."""
    worst_loss: float
    """The loss from the worst start with the default penalty."""
    endless: int
    """Starts from which the agent may never end."""
    bound: float
    """The most that it loses from any start, found without planning."""
    slack: float
    """How far the bound is above the optimum, from the start where it is closest."""
    bound_sweeps: int
    """Sweeps over states and actions that the bound took."""
    rounds: int
    """Rounds of improvement in which some action changed."""
    sweeps: float
    """Sweeps over states and actions that they took, the proof of optimality included."""
    nothing_rounds: int
    """Rounds of the same from a policy that ends, and knows nothing."""
    nothing_sweeps: float
    """Sweeps that they took."""
    value_sweeps: int
    """Sweeps of value iteration from 0, until no value changes by more than 1e-10."""
    after: float
    """The largest distance of the improved agent from the optimum, from any start."""


NAMES = tuple(field.name for field in fields(Measured))


def measured(agent: Agent, letter: Agent | None = None) -> Measured:
    """Measure an agent.

    Args:
        agent: of a finite world.
        letter: the same agent with the penalty of Definition 2, if that is another.
    """
    task = agent.task
    starts = task.space.mdp.starts
    best = optimal_v(task)[starts]
    loss = agent.certificate(exact=False).loss
    better = agent.improve()
    took = better.improvement
    if loss is None or not isinstance(took, Improvement):
        raise TypeError(f"{agent!r} acts in an open world, of which nothing is exact")
    where = np.searchsorted(loss.starts, starts)
    own, upper = earned(task, agent.actions)[starts], loss.upper[where]
    lost = np.maximum(best - own, 0.0)
    other = lost if letter is None else np.maximum(best - earned(task, letter.actions)[starts], 0.0)
    scratch = from_nothing(task)
    return Measured(
        optimum=float(best.mean()),
        letter_mean=float(other.mean()),
        letter_worst=float(other.max()),
        mean_loss=float(lost.mean()),
        worst_loss=float(lost.max()),
        endless=int(np.isneginf(loss.returns[where]).sum()),
        bound=float(np.maximum(upper - own, 0.0).max()),
        slack=float((upper - best).min()),
        bound_sweeps=loss.sweeps,
        rounds=took.rounds,
        sweeps=took.sweeps,
        nothing_rounds=scratch.rounds,
        nothing_sweeps=scratch.sweeps,
        value_sweeps=value_sweeps(task),
        after=float(np.abs(best - policy_return(task, better.actions)[starts]).max()),
    )


def earned(task: Task, actions: LongArray, limit: int = LIMIT) -> Array:
    """[S], what a policy earns; where it may never end, in episodes that are cut off."""
    returns = policy_return(task, actions)
    endless = np.isneginf(returns)
    if endless[task.space.mdp.starts].any():
        cut = returns_within(task, TimedTable(actions[None, :], limit))
        returns = np.where(endless, cut, returns)
    return returns


def from_nothing(task: Task) -> Improvement:
    """Policy iteration from a policy that ends, and is chosen without looking at rewards."""
    mdp = task.space.mdp
    first = made_proper(mdp, task.goal_reward, np.zeros(mdp.n_states, np.int64))
    return improved(mdp, task.steps, task.goal_reward, first)


def value_sweeps(task: Task, change: float = 1e-10) -> int:
    """Sweeps of value iteration, V ← max_a r + Σ p V, from V = 0, until it stands still."""
    mdp = task.space.mdp
    values = np.zeros(mdp.n_states)
    values[mdp.goals] = task.goal_reward
    live = mdp.ending & ~mdp.is_goal
    values[~mdp.ending] = -np.inf
    for sweep in range(1, MOST_SWEEPS + 1):
        ahead = np.add.reduceat(mdp.probability * values[mdp.successor], mdp.offset[:-1])
        new = (task.steps + ahead.reshape(task.steps.shape)).max(axis=1)
        moved = float(np.abs(new[live] - values[live]).max(initial=0.0))
        values[live] = new[live]
        if moved <= change:
            return sweep
    return MOST_SWEEPS


def row_of(found: Measured) -> tuple[Any, ...]:
    """The columns `NAMES`."""
    return tuple(getattr(found, name) for name in NAMES)
