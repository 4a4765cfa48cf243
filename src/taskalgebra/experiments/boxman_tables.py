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

from taskalgebra.algebra import Array
from taskalgebra.deep import Networks, Score
from taskalgebra.envs.boxman import FIXED, Boxman
from taskalgebra.envs.boxman_board import STEP_REWARD, Codes
from taskalgebra.envs.boxman_games import all_cells, follow
from taskalgebra.learning.network_values import GoalReturns
from taskalgebra.policy import greedy
from taskalgebra.tasks import Task

LAYOUTS_AT_ONCE = 20


@final
@dataclass(frozen=True)
class Outcome:
    """Episodes of one task, one from every start; arrays `[N]`."""

    task: Task
    returns: Array
    optimal: Array
    success: NDArray[np.bool_]
    steps: NDArray[np.int64]

    @property
    def score(self) -> float:
        """The mean return as a share of the optimal one."""
        return float(self.returns.mean() / self.optimal.mean())


def starts(world: Boxman, n: int, seed: int) -> Codes:
    """N seeded starts; where the layout is fixed, one on every cell on which a game may start."""
    if world.layout == FIXED:
        games = world.games(1)
        games.start(np.zeros(1, np.int64), np.random.default_rng(seed))
        spread = all_cells(games.codes, world.board.n_cells)
        if world.by_touch:
            spread = spread[~(spread[:, :1] == spread[:, 2:]).any(axis=1)]
        return spread
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


def returns_on_cells(world: Boxman, network: GoalReturns, codes: Codes) -> Array:
    """[layouts, cells, G, A], what a network sees from every cell."""
    parts = [network.look(batch) for batch in screens(world, layouts(world, codes))]
    values = np.concatenate(parts)
    return values.reshape(-1, world.board.n_cells, network.n_goals, values.shape[-1])


def play_table(world: Boxman, codes: Codes, task: Task, q_bar: Array) -> Outcome:
    """Play greedily from every start by values `[layouts, cells, G, A]`."""
    n_layouts, n_cells, n_goals, n_actions = q_bar.shape
    chosen = greedy(q_bar.reshape(-1, n_goals, n_actions)).reshape(n_layouts, n_cells)
    wanted = task.goal_reward == task.goal_reward.max()
    returns, goals, steps = follow(
        world.board,
        codes,
        np.broadcast_to(chosen, (len(codes), n_cells)),
        wanted,
        by_touch=world.by_touch,
        goal_reward=task.goal_reward,
        step_reward=STEP_REWARD,
        max_steps=world.max_steps,
    )
    success = (goals >= 0) & wanted[goals]
    return Outcome(task, returns, world.optimal_returns(codes, task), success, steps)


def all_tasks(world: Boxman) -> list[Task]:
    """The tasks of all goal sets but the empty one."""
    return list(world.space.two_valued_tasks())[1:]


def worst_score(world: Boxman, tasks: Sequence[Task], n: int = 100, seed: int = 1_000_003) -> Score:
    """A score for training: that of the worst of some tasks, on starts that are never trained on.

    A network with tasks of its own is scored on those.
    """
    codes = starts(world, n, seed)

    def score(networks: Networks) -> float:
        (network,) = networks.networks
        table = returns_on_cells(world, network, codes)
        judged = (
            tasks
            if networks.shared and not networks.settings.own_rewards
            else (list(networks.tasks.values()))
        )
        return min(
            play_table(world, codes, task, table + task.goal_reward[:, None]).score
            for task in judged
        )

    return score
