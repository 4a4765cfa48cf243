"""What values know of the ways to goals and between them, of which formulas over time are made.

Episodes of formulas go on after goals.  So besides the returns to goals they need what is seen on
each goal: in a finite world its state, in an open one what the environment says or what is found
out by going there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.content import ByContent
from taskalgebra.evaluation.temporal import arrivals
from taskalgebra.planning.exact import plan
from taskalgebra.planning.layouts import Standing
from taskalgebra.planning.vectors import VectorFamily
from taskalgebra.theory.family import Family, TableFamily
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.reach import Reach, ReachQ
from taskalgebra.theory.rewards import penalty, r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace

SURVEYED = 8
"""Copies of an open world that are played to see what goals look like."""


@final
@dataclass(frozen=True, eq=False)
class Ways(ByContent):
    """What all formulas of some skills share: the returns to goals, and those between goals."""

    reach: Reach
    between: Array | None  # [G, G], G(g:g') from where an episode goes on after g
    standing: Standing | None = None  # what is seen there, where every episode has its layout
    entry: Array | None = None  # [G], what entering a goal pays, if the returns leave it out
    surveyed: bool = False  # whether what is seen on goals was found out by going there
    row_error: float = 0.0  # of the outcomes of actions, if they were estimated
    remedy: str = ""  # how to learn, if the values were learned with a penalty that is too mild

    @classmethod
    def of(cls, family: Family, env: GoalEnv | None) -> Ways:
        """Read the returns between goals off the values, where episodes go on."""
        found = cls._of(family, env)
        if not _mild(family) or family.error_bound is not None:
            return found
        return replace(found, remedy=_remedy(family.space, env))

    @classmethod
    def _of(cls, family: Family, env: GoalEnv | None) -> Ways:
        reach, space = _to_goals(family), family.space
        standing = _standing(space, env)
        if (
            env is not None
            and standing is None
            and type(env).standing_in is not GoalEnv.standing_in
        ):
            return cls(reach, None, env.standing_in, _entry(env))
        if standing is None:
            assert env is not None
            between = _surveyed(family, reach, env)
        else:
            between = np.asarray(reach.returns(standing), np.float64).max(axis=2)
        if not (space.finite and (space.mdp.step_reward > 0).any()):
            between = np.minimum(between, 0.0)  # an estimate may be above, and no step gains
        error = space.mdp.row_error if space.finite else 0.0
        return cls(reach, between, None, _entry(env), standing is None, error)


def _mild(family: Family) -> bool:
    """Whether the penalty was chosen for chance, so mild that long ways are given up."""
    space, low = family.space, family.r_bar_min
    if low is None:
        return False
    if not space.finite:
        return isinstance(family, TableFamily) and low >= float(space.r_empty.min())
    return not space.mdp.deterministic and low > r_bar_min_of(space)


def _remedy(space: TaskSpace, env: GoalEnv | None) -> str:
    """How to learn for formulas: in episodes that go on after goals, or with a low penalty."""
    if space.finite:
        low = r_bar_min_of(space)
    elif env is not None and _resumes(env):
        return "continuing=True"
    else:
        limit = MAX_EPISODE_STEPS if env is None else env.max_episode_steps or MAX_EPISODE_STEPS
        low = penalty(float(space.r_empty.min()), float(space.r_universal.max()), limit)
    return f"learner=QLearning(r_bar_min={1.001 * low:.4g})"


def _resumes(env: GoalEnv) -> bool:
    """Whether learning can go on after goals."""
    try:
        env.resuming()
    except TypeError:
        return False
    return True


def _to_goals(family: Family) -> Reach:
    """The returns to goals.

    A mild penalty lets an agent give a far goal up, for a wrong one that ends the episode.  Those
    of formulas go on, so there the returns are planned anew, with the penalty of Definition 2.
    """
    planned = family.error_bound is not None and isinstance(family, TableFamily | VectorFamily)
    if _mild(family) and planned:
        return plan(family.space, {}, r_bar_min=r_bar_min_of(family.space)).to_goals()
    return family.to_goals()


def _entry(env: GoalEnv | None) -> Array | None:
    """[G], what entering a goal pays, where the returns to goals leave that out."""
    if env is None or not env.entry_reward:
        return None
    return np.full(env.space.n_goals, float(env.entry_reward))


def _standing(space: TaskSpace, env: GoalEnv | None) -> Any:
    """What is seen where an episode goes on after each goal; None if that is to be found out."""
    if space.finite:
        return space.mdp.after_goals.astype(np.int64)
    if env is None:
        raise ValueError(
            "tasks with time need to know what is seen on goals, and these skills have no "
            "environment to look; give one: load(path, env=...)"
        )
    return env.standing()


def _surveyed(family: Family, reach: Reach, env: GoalEnv) -> Array:
    """[G, G], the mean returns between goals, from where episodes towards each goal arrive."""
    space = family.space
    limit = env.max_episode_steps or MAX_EPISODE_STEPS
    seen: list[list[Any]] = [[] for _ in range(space.n_goals)]
    for g in np.flatnonzero(space.wantable).tolist():
        task = space.from_desired(np.arange(space.n_goals) == g)
        policy = family.policy(ReachQ(reach, task.goal_reward, family.bounds))
        copies = env.vector(SURVEYED, task=task, max_episode_steps=limit)
        try:
            found = arrivals(
                copies, policy, space.n_goals, enough=2 * SURVEYED, max_steps=3 * limit
            )
        finally:
            copies.close()
        for here, more in zip(seen, found, strict=True):
            here.extend(more[: 4 * SURVEYED])
    between = np.full((space.n_goals, space.n_goals), -np.inf)
    for g, observations in enumerate(seen):
        if observations:
            returns = np.asarray(reach.returns(np.stack(observations)), np.float64)
            between[g] = typical(returns.max(axis=2))
    return between


def typical(returns: Array) -> Array:
    """[G], the mean of N returns to each goal, `[N, G]`, over those that know a way.

    It is −∞ unless most of them do.
    """
    known = returns > -np.inf
    total = np.where(known, returns, 0.0).sum(axis=0)
    mean = total / np.maximum(known.sum(axis=0), 1)
    return np.where(2 * known.sum(axis=0) > len(returns), mean, -np.inf)
