"""Boxman played by tables: what an agent does on every cell of a layout, worked out at once.

The game is deterministic and an agent sees nothing but the screen, so its action on each free cell
of a layout decides every episode there.  A layout has 58 screens; a thousand layouts and all 63
tasks then cost one pass of the network over 58,000 screens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.boxman.board import STEP_REWARD, Codes
from taskalgebra.envs.boxman.env import FIXED, Boxman
from taskalgebra.envs.boxman.games import all_cells, follow
from taskalgebra.evaluation.record import Episodes, Evaluation, summary
from taskalgebra.learning.deep.family import NetworkFamily
from taskalgebra.learning.deep.threads import one_thread
from taskalgebra.learning.deep.training import Score
from taskalgebra.learning.deep.ways import NetworkReach
from taskalgebra.paper.experiments.boxman.exact import returns_by_touch
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.sweeps.threads import on_threads
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import ExtendedQ, q_bars

LAYOUTS_AT_ONCE = 20


@final
@dataclass(frozen=True)
class Outcome:
    """Episodes of one task, one from every start; arrays `[N]`."""

    task: Task
    returns: Array
    optimal: Array
    success: BoolArray
    steps: NDArray[np.int64]
    goals: NDArray[np.int64]  # the object that was collected, or −1

    @property
    def score(self) -> float:
        """The mean return as a share of the optimal one."""
        return float(self.returns.mean() / self.optimal.mean())

    @property
    def n_optimal(self) -> int:
        """How many episodes earned the optimal return."""
        return int((self.returns >= self.optimal - 1e-9).sum())

    @property
    def evaluation(self) -> Evaluation:
        """The figures of these episodes."""
        return summary(self.task, Episodes(self.returns, self.steps, self.goals, self.optimal))


def starts(world: Boxman, n: int, seed: int) -> Codes:
    """N seeded starts; where the layout is fixed, one on every cell on which a game may start."""
    if world.layout == FIXED:
        games = world.games(1)
        games.start(np.zeros(1, np.int64), np.random.default_rng(seed))
        codes = all_cells(games.codes, world.board.n_cells)
        if world.by_touch:
            codes = codes[~(codes[:, :1] == codes[:, 2:]).any(axis=1)]
        return codes
    games = world.games(n)
    games.start(np.arange(n), np.random.default_rng(seed))
    return games.codes


def layouts(world: Boxman, codes: Codes) -> Codes:
    """The layouts of some starts: each its own, or one for all where it is fixed."""
    return codes[:1] if world.layout == FIXED else codes


def screens(world: Boxman, codes: Codes) -> Iterator[NDArray[np.uint8]]:
    """The screens of all cells of some layouts, a few layouts at a time."""
    games = world.games(1)
    for first in range(0, len(codes), LAYOUTS_AT_ONCE):
        some = codes[first : first + LAYOUTS_AT_ONCE]
        yield games.frames(all_cells(some, world.board.n_cells))


def returns_on_cells(world: Boxman, network: NetworkReach, codes: Codes) -> Array:
    """[layouts, cells, G, A], the returns that a network predicts on every cell."""
    parts = [network.returns(batch) for batch in screens(world, layouts(world, codes))]
    values = np.concatenate(parts)
    return values.reshape(-1, world.board.n_cells, network.n_goals, values.shape[-1])


def actions_on_cells(
    world: Boxman,
    values: Sequence[ExtendedQ],
    codes: Codes,
    *,
    sweep: Sweep = ALONE,
) -> NDArray[np.int64]:
    """[values, layouts, cells], what several value functions do on every cell.

    A screen is shown to every network once, however many of the value functions read it.
    """
    some = layouts(world, codes)
    firsts = range(0, len(some), LAYOUTS_AT_ONCE)

    def chosen(first: int) -> NDArray[np.int64]:
        (batch,) = screens(world, some[first : first + LAYOUTS_AT_ONCE])
        return np.stack([greedy(q_bar) for q_bar in q_bars(values, batch)])

    with one_thread():
        parts = on_threads(chosen, firsts, workers=sweep.engine.workers, progress=sweep.progress)
    return np.concatenate(parts, axis=1).reshape(len(values), len(some), world.board.n_cells)


def play_table(world: Boxman, codes: Codes, task: Task, q_bar: Array) -> Outcome:
    """Play greedily from every start by values `[layouts, cells, G, A]`."""
    n_layouts, n_cells, n_goals, n_actions = q_bar.shape
    chosen = greedy(q_bar.reshape(-1, n_goals, n_actions)).reshape(n_layouts, n_cells)
    return play_actions(world, codes, task, chosen)


def play_actions(world: Boxman, codes: Codes, task: Task, actions: NDArray[np.int64]) -> Outcome:
    """Play from every start by one action per cell, `[layouts, cells]`."""
    desired = world.desired_goals(task)
    returns, goals, steps = follow(
        world.board,
        codes,
        np.broadcast_to(actions, (len(codes), world.board.n_cells)),
        desired,
        by_touch=world.by_touch,
        goal_reward=task.goal_reward,
        step_reward=STEP_REWARD,
        max_steps=world.max_episode_steps,
    )
    success = (goals >= 0) & desired[goals]
    return Outcome(task, returns, world.optimal_returns(codes, task), success, steps, goals)


def all_tasks(world: Boxman) -> list[Task]:
    """The tasks of all goal sets except the empty one."""
    return list(world.space.two_valued_tasks())[1:]


def worst_score(world: Boxman, tasks: Sequence[Task], n: int = 100, seed: int = 1_000_003) -> Score:
    """A score for training: that of the worst of some tasks, on starts that are not trained on.

    A network with tasks of its own is scored on those; where these end in goals of their own, on
    the way to each of the goals (`aimed_score`).
    """
    codes = starts(world, n, seed)

    def score(family: NetworkFamily) -> float:
        (network,) = family.reaches
        table, own = returns_on_cells(world, network, codes), family.tasks.values()
        if not family.shared:
            v_min = family.settings.returns[0]
            return min(aimed_score(world, codes, task, table, v_min) for task in own)
        return min(
            play_table(world, codes, task, table + task.goal_reward[:, None]).score
            for task in (own if family.settings.own_rewards else tasks)
        )

    return score


def aimed_score(world: Boxman, codes: Codes, task: Task, returns: Array, v_min: float) -> float:
    """How well a network of one task goes to each of its goals, past the others; the worst goal.

    This asks more than playing the task, which takes the nearest goal: a composition of the values
    may desire the farthest.  A goal's score is the mean return of an agent that is sent to it, as a
    share of the optimum; where the game ends otherwise, the way counts as `v_min`.  Starts from
    which there is no way are left out.

    Args:
        world: the rules.
        codes: `[N, …]`, the starts.
        task: the task.
        returns: `[layouts, cells, G, A]`, the return to each goal before it pays.
        v_min: the return that stands for never.
    """
    exact = returns_by_touch(world, layouts(world, codes), world.desired_goals(task), v_min)
    best = np.broadcast_to(exact.max(axis=3), (len(codes), *exact.shape[1:3]))
    best = best[np.arange(len(codes)), codes[:, 0]]  # [N, G]
    scores = []
    for goal in np.flatnonzero(task.desired):
        outcome = play_table(world, codes, task, returns[:, :, goal : goal + 1])
        paid = task.goal_reward[goal]
        earned = np.where(outcome.goals == goal, outcome.returns, v_min + paid)
        some = best[:, goal] > v_min
        if some.any():
            scores.append(earned[some].mean() / (best[some, goal].mean() + paid))
    return float(min(scores, default=0.0))
