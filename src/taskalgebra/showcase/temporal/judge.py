"""The optimum of a task with time, and whether an episode succeeded, apart from the planner.

A *board* says in its own words where actions lead and what is true there.  A breadth-first search
over places and states of the automaton finds the fewest steps, and an `Episode` follows the actions
of an agent by the same rules.  Of the library only the automaton is used, whose tests are its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from gymnasium.vector import VectorEnv

from taskalgebra.arrays import Array
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.logic.automaton import automaton
from taskalgebra.showcase.search import fewest_steps
from taskalgebra.skills.temporal import TemporalAgent

Letters = frozenset[str]
NONE: Letters = frozenset()


@final
@dataclass(frozen=True)
class Board:
    """A world as the judge sees it."""

    moves: Callable[[Any], Sequence[tuple[Hashable, Letters]]]
    """For each action from a place, where it leads, and what is true after that step."""
    letters: tuple[Letters, ...]
    """All that may be true at a step."""


@final
@dataclass(frozen=True)
class Reading:
    """A formula as the judge reads it: a state for each step, and which of them end an episode."""

    start: int
    after: list[dict[Letters, int]]  # of each state, by what is true at the next step
    well: list[bool | None]  # whether an episode ends well in a state, or badly; None: it goes on

    @classmethod
    def of(cls, formula: str, letters: Iterable[Letters]) -> Reading:
        """Read a formula over what may be true at a step."""
        known = [NONE, *letters]
        task = automaton(formula, known)
        places = [task.letter(one) for one in known]
        after = [dict(zip(known, row[places].tolist(), strict=True)) for row in task.delta]
        ends = zip(task.accepting.tolist(), task.dead.tolist(), strict=True)
        well = [True if accepts else False if dead else None for accepts, dead in ends]
        return cls(int(task.start), after, well)


def fewest(board: Board, task: Reading, start: Hashable) -> float:
    """The steps of the shortest episode from a place that satisfies a formula; ∞ if none does."""

    def after(node: tuple[Hashable, int]) -> list[tuple[Hashable, int]]:
        place, u = node
        row = task.after[u]
        return [(there, row[letters]) for there, letters in board.moves(place)]

    found = fewest_steps((start, task.start), after, lambda node: task.well[node[1]])
    return math.inf if found is None else found


@final
class Episode:
    """One episode, by the rules of a board; it is over when the formula holds, or no longer can."""

    def __init__(self, board: Board, task: Reading, start: Hashable) -> None:
        """Begin in a place, which is not read."""
        self.board, self.task = board, task
        self.place, self.state, self.n_steps = start, task.start, 0

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.n_steps > 0 and self.task.well[self.state] is not None

    @property
    def won(self) -> bool:
        """Whether it has ended well."""
        return self.over and self.task.well[self.state] is True

    def step(self, action: int) -> None:
        """Follow an action, unless the episode is over."""
        if not self.over:
            self.place, letters = self.board.moves(self.place)[action]
            self.state = self.task.after[self.state][letters]
            self.n_steps += 1


def steps_of(episodes: Iterable[Episode]) -> Array:
    """[B], the steps of each episode; ∞ where it did not succeed."""
    return np.array([one.n_steps if one.won else math.inf for one in episodes], np.float64)


def follow(
    agent: TemporalAgent,
    copies: VectorEnv[Any, Any, Any],
    seen: Any,
    episodes: Sequence[Episode],
    most: int,
) -> None:
    """Let an agent play copies of a world, and follow each.

    Args:
        agent: of a formula over time.
        copies: whose episodes outlive goals, at the start of an episode; they are closed.
        seen: what is seen there.
        episodes: the same as the judge sees them, in the places where the copies are.
        most: the limit of steps.
    """
    agent.reset(np.ones(len(episodes), np.bool_))
    for _ in range(most):
        actions = agent.act(seen, copies)
        for episode, action in zip(episodes, actions.tolist(), strict=True):
            episode.step(action)
        if all(episode.over for episode in episodes):
            break
        seen, _, _, _, infos = copies.step(actions)
        agent.observe(infos)
    copies.close()


def follow_from(
    agent: TemporalAgent,
    env: FiniteEnv,
    states: Sequence[int],
    episodes: Sequence[Episode],
    most: int,
) -> None:
    """`follow`, from some states of a finite world."""
    copies = env.continuing(len(states))
    seen, _ = copies.reset(options={"state": np.asarray(states)})
    follow(agent, copies, seen, episodes, most)
