"""Moving targets: a task again and again, by networks that were trained for one goal at a time.

The board is Boxman's.  A collected object reappears elsewhere, and 50 steps with k wanted objects
are worth 2k − 5.  The score is the median return.  What stands for the optimum is an expectation:
that of the best agent, planned for up to three wanted objects.  Planning for six takes far longer
than playing, and there the agent stands for it that knows all distances and goes to the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import taskalgebra as ta
from taskalgebra.envs.boxman.board import Board
from taskalgebra.envs.boxman.moving import NearestFirst, most_pick_ups
from taskalgebra.evaluation.continuing import play_on
from taskalgebra.progress import silent
from taskalgebra.showcase.temporal.published import MOVING
from taskalgebra.showcase.temporal.record import NETWORK, Entry, Measured

BY_PICK_UP = f"{MOVING}, by pick-up"
SKILLS = {MOVING: "boxman-touch", BY_PICK_UP: "boxman-random"}
"""The published rule is by touch."""
TASKS = {"blue": None, "square": None, "circle | square": None, "blue ^ square": "blue & square"}
"""Each with what ends an episode, and must be avoided."""
STEPS, EPISODES, QUICK = 50, 1_000, 20
MOST_PLANNED = 3  # wanted objects, for which planning takes seconds
NEAREST, AT_MOST = "nearest object first", "at most"
SEED = 0


@cache
def planned(board: Board, n_wanted: int, by_touch: bool) -> float:
    """The expected number of pick-ups of the best agent, if nothing has to be avoided."""
    return most_pick_ups(board, n_wanted, STEPS, by_touch=by_touch)


def best(world: ta.Boxman, task: ta.Task, avoids: bool, episodes: int) -> tuple[float, str]:
    """What is asked of a task: an expected return, and what it is if not the optimum.

    By pick-up nothing is taken that is not wanted, so that to avoid something costs nothing.
    """
    n_wanted = int(task.wanted.sum())
    if n_wanted > MOST_PLANNED:
        return nearest(world, task, episodes), NEAREST
    pick_ups = planned(world.board, n_wanted, world.by_touch)
    return value_of(task, pick_ups), AT_MOST if avoids and world.by_touch else ""


def value_of(task: ta.Task, pick_ups: float) -> float:
    """The return of an episode with some pick-ups of wanted objects."""
    return float(task.goal_reward.max()) * pick_ups - 0.1 * STEPS


def nearest(world: ta.Boxman, task: ta.Task, episodes: int) -> float:
    """The mean return of the agent that goes to the nearest wanted object."""
    games = world.continuing(min(episodes, world.max_copies))
    agent = NearestFirst(games, task.wanted)
    return play_on(task, games, agent, episodes=episodes, steps=STEPS, seed=SEED).mean_return


def learned(quick: bool) -> Iterator[Measured]:
    """Play the four tasks by both rules, with the networks that come with the library."""
    episodes = QUICK if quick else EPISODES
    for name, shipped in SKILLS.items():
        skills = ta.load(shipped)
        world: Any = skills.env
        for expression, avoid in TASKS.items():
            task = world.find_task(expression)
            found = skills[task].evaluate_continuing(
                episodes, steps=STEPS, avoid=avoid, seed=SEED, listener=silent
            )
            asked, bound = best(world, task, avoid is not None, episodes)
            yield Measured.scored(
                found.median_return,
                asked,
                world=name,
                task=expression,
                formula=expression,
                values=NETWORK,
                episodes=episodes,
                success=math.nan if avoid is None else float(1.0 - found.violated.mean()),
                bound=bound,
            )


ENTRIES = (
    Entry(
        "moving-targets",
        "Moving targets, learned",
        NETWORK,
        learned,
        "a median return of at least 80 % of the optimum, and nothing taken that must be avoided",
        least_score=0.8,
        score="median return",
        extras=("deep",),
    ),
)
