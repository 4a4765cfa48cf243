"""Levels of BabyAI, which give an instruction: it is read as a formula, and obeyed.

The level is the judge: it pays when it takes its instruction for done.  The fewest steps come from
a breadth-first search in the level itself, which is put back into states together with what its
instruction keeps in mind, with the actions that the agent has.  Levels that are too large to
explore, or that ask for something that is not understood, are refused and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, NamedTuple, final

import gymnasium as gym

import taskalgebra as ta
from taskalgebra.envs.minigrid import instructions
from taskalgebra.showcase import search
from taskalgebra.showcase.temporal.record import PLANNED, Entry, Measured

WORLD = "BabyAI"
LEVELS = (
    "GoToSeqS5R2",
    "OpenTwoDoors",
    "OpenDoorsOrderN2",
    "OpenDoorsOrderN4",
    "PickupDist",
    "SynthS5R2",
)
SEEDS, QUICK = range(12), range(1, 2)
LIMIT = 10_000  # states of a level
OWN = "its own instructions"

MARKS = ("a_done", "b_done", "preCarrying")
"""What instructions keep in mind; the last is what was in the hand."""


class State(NamedTuple):
    """Where a level is in an episode; objects are known by `id`."""

    agent: tuple[int, int, int]  # column, row, direction
    carried: int
    cells: tuple[int, ...]
    doors: tuple[tuple[bool, bool], ...]  # open, locked
    marks: tuple[tuple[Any, ...], ...]  # what the parts of the instruction keep in mind
    well: bool | None  # how the episode ended


def fewest_steps(name: str, seed: int, actions: Sequence[int]) -> float:
    """The steps of the shortest episode that a level pays for; ∞ if there is none.

    Args:
        name: of the level.
        seed: of the episode.
        actions: that may be taken; not to put something down.
    """
    env = gym.make(name, disable_env_checker=True)
    env.reset(seed=seed)
    search_in = Level(env.unwrapped, actions)
    found = search.fewest_steps(search_in.save(None), search_in.after, lambda state: state.well)
    env.close()
    return math.inf if found is None else found


@final
class Level:
    """A level that can be put into states; nothing is ever put down in it."""

    def __init__(self, env: Any, actions: Sequence[int]) -> None:
        """Take an environment, unwrapped, at the start of an episode, and what may be done."""
        self.env, self.actions, self.parts = env, actions, list(_parts(env.instrs))
        inside = [getattr(one, "contains", None) for one in env.grid.grid]
        self.things = {id(one): one for one in (None, *env.grid.grid, *inside)}
        self.doors = [one for one in env.grid.grid if one is not None and one.type == "door"]
        env.gen_obs = dict  # nobody looks

    def save(self, well: bool | None) -> State:
        """The state after a step, which may have ended the episode."""
        env = self.env
        return State(
            (int(env.agent_pos[0]), int(env.agent_pos[1]), int(env.agent_dir)),
            id(env.carrying),
            tuple(map(id, env.grid.grid)),
            tuple((one.is_open, one.is_locked) for one in self.doors),
            tuple(tuple(getattr(one, name, None) for name in MARKS) for one in self.parts),
            well,
        )

    def restore(self, state: State) -> None:
        """Put the level into a state."""
        env, (column, row, direction) = self.env, state.agent
        env.agent_pos, env.agent_dir, env.step_count = (column, row), direction, 0
        env.carrying = self.things[state.carried]
        env.grid.grid = [self.things[one] for one in state.cells]
        for door, (is_open, is_locked) in zip(self.doors, state.doors, strict=True):
            door.is_open, door.is_locked = is_open, is_locked
        for one, kept in zip(self.parts, state.marks, strict=True):
            for name, value in zip(MARKS, kept, strict=True):
                if hasattr(one, name):
                    setattr(one, name, value)

    def after(self, state: State) -> Iterator[State]:
        """The states that one step leads to, by the level's own rules."""
        for action in self.actions:
            self.restore(state)
            _, reward, ended, _, _ = self.env.step(action)
            yield self.save(reward > 0 if ended else None)


def _parts(instruction: Any) -> Iterator[Any]:
    """An instruction and all that it is made of."""
    yield instruction
    for name in ("instr_a", "instr_b"):
        if hasattr(instruction, name):
            yield from _parts(getattr(instruction, name))


def obeyed(name: str, seed: int, limit: int) -> tuple[float, float]:
    """The steps until a level pays, ∞ if it does not; and the fewest with the same actions.

    Raises:
        ValueError: the level is refused.
    """
    task = instructions.read(name, seed)
    agent = ta.solve(task.explore(limit=limit))[task.formula]
    level = gym.wrappers.RecordEpisodeStatistics(task.make())
    agent.play(level, episodes=1)
    paid = level.return_queue and level.return_queue[-1] > 0
    taken = float(level.length_queue[-1]) if paid else math.inf
    actions = [instructions.ACTIONS[one] for one in task.world.space.world.action_names]
    return taken, fewest_steps(name, seed, actions)


def planned(quick: bool) -> Iterator[Measured]:
    """Explore and solve every level, with every seed, and obey it once."""
    seeds = QUICK if quick else SEEDS
    for level in LEVELS[:2] if quick else LEVELS:
        found, refused = [], 0
        for seed in seeds:
            try:
                with redirect_stdout(
                    StringIO()
                ):  # levels print what they do not like of themselves
                    found.append(obeyed(f"BabyAI-{level}-v0", seed, LIMIT))
            except ValueError:
                refused += 1
        yield Measured.of(
            [taken for taken, _ in found],
            [least for _, least in found],
            world=WORLD,
            task=level,
            formula=OWN,
            values=PLANNED,
            refused=refused,
        )


ENTRIES = (
    Entry(
        "babyai",
        "BabyAI, planned",
        PLANNED,
        planned,
        f"all levels that are not refused pay, after the fewest steps; {len(SEEDS)} seeds each",
        extras=("minigrid",),
    ),
)
