"""Sampled episodes of composed agents, step by step, and pictures of where they were played.

Fig. 5 and the supplement show a few on one layout; where layouts are random, each episode has its
own.  The episodes are played by the agents themselves, screen after screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taskalgebra.envs.boxman.art import Frames
from taskalgebra.envs.boxman.board import Codes
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.picture import CELL, draw_agent
from taskalgebra.learning.deep.threads import one_thread
from taskalgebra.paper.experiments.boxman import values
from taskalgebra.paper.experiments.boxman.settings import SETTINGS, expression_text, world_of
from taskalgebra.paper.experiments.boxman.tables import starts
from taskalgebra.paper.results.labels import RANDOM
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "boxman_trajectories"
APART = 3  # moves, at least, between two starts on one layout, and to the desired objects


@dataclass(frozen=True)
class Config:
    """Play a few episodes of each composed task that is shown."""

    episodes: int = 4
    """Of each task."""
    seed: int = 5
    """Of the starts."""
    layout_seed: int = values.Config().layout_seed
    """Of the random layout by touch; the values are shown on the same one."""


QUICK = Config(episodes=2)


def run(config: Config, skills: Mapping[str, Skills], sweep: Sweep = ALONE) -> Result:
    """Run the experiment.

    The main table has one row per step: where the agent stands before it, and at the end what it
    holds.  `boxman_trajectories_episodes` has one row per episode, and
    `boxman_trajectories_objects` says what lies where.  The arrays are the picture of each board
    without the agent, the agent as RGBA, and goal frames at half their size.
    """
    steps: list[tuple[object, ...]] = []
    episodes: list[tuple[object, ...]] = []
    boards: list[Codes] = []
    for i, (name, own) in enumerate(skills.items()):
        world = world_of(own)
        rng = np.random.default_rng((config.seed, i))
        shown = values.layout(world, config.layout_seed)
        for text in SETTINGS[name].shown:
            agent = own.for_task(expression_text(text))
            codes = _starts(world, agent, shown, name == RANDOM, config.episodes, rng)
            for number, code in enumerate(codes):
                key = (name, text, number)
                with one_thread():
                    played, outcome = _episode(world, agent, code)
                steps += [(*key, step, *row) for step, row in enumerate(played)]
                episodes.append((*key, _board(boards, code), *outcome))
    objects = [
        (number, name, *world.board.cells[place].tolist())
        for number, code in enumerate(boards)
        for name, place in zip(world.board.objects, code[2:], strict=True)
    ]
    key_names = ("setting", "task", "episode")
    return Result(
        NAME,
        as_json(config),
        {
            NAME: Table.of_rows((*key_names, "step", "row", "column", "held"), steps),
            f"{NAME}_episodes": Table.of_rows(
                (*key_names, "board", "return", "optimum", "success"), episodes
            ),
            f"{NAME}_objects": Table.of_rows(("board", "object", "row", "column"), objects),
        },
        {
            "boards": world.picture(np.stack(boards), agent=False),
            "agent": agent_sprite(),
            "goal_frames": _goal_frames(world),
            "cell": np.array(CELL),
        },
    )


def _starts(
    world: Boxman, agent: Agent, shown: Codes, anywhere: bool, n: int, rng: np.random.Generator
) -> Codes:
    """Starts that show something: far from desired objects and, on one layout, from each other."""
    distance = world.board.distance
    desired = np.flatnonzero(world.desired_goals(agent.task)) + 2
    if anywhere:
        codes = starts(world, 50 * n, int(rng.integers(2**31)))
        far = distance[codes[:, :1], codes[:, desired]].min(axis=1) >= APART
        some: Codes = codes[far][:n]
        return some
    far = (distance[:, shown[0, desired]].min(axis=1) >= APART) & ~np.isin(
        np.arange(world.board.n_cells), shown[0, 2:]
    )
    chosen: list[int] = []
    for cell in rng.permutation(np.flatnonzero(far)).tolist():
        if len(chosen) < n and all(distance[cell, other] >= APART for other in chosen):
            chosen.append(cell)
    codes = np.repeat(shown, len(chosen), axis=0)
    codes[:, 0] = chosen
    codes[:, 1] = 0
    return codes


def _episode(
    world: Boxman, agent: Agent, code: Codes
) -> tuple[list[tuple[int, int, str]], tuple[float, float, bool]]:
    """Row, column and what is held before every step and at the end; return, optimum, success."""
    world.task = agent.task
    observation, info = world.reset(options={"code": code.tolist()})
    best, earned, ended = info["optimal_return"], 0.0, False
    played = [_standing(world)]
    while not ended and len(played) <= world.max_episode_steps:
        observation, reward, ended, _, info = world.step(agent.act(observation))
        earned += reward
        played.append(_standing(world))
    return played, (round(earned, 9), round(best, 9), ended and bool(world.desired[info["goal"]]))


def _standing(world: Boxman) -> tuple[int, int, str]:
    code = world.code
    row, column = world.board.cells[code[0]].tolist()
    return row, column, world.board.objects[code[1] - 1] if code[1] else "nothing"


def _board(boards: list[Codes], code: Codes) -> int:
    """The number of the board with these objects; a new one is added."""
    for number, other in enumerate(boards):
        if np.array_equal(other[2:], code[2:]):
            return number
    boards.append(code)
    return len(boards) - 1


def agent_sprite() -> Frames:
    """[cell, cell, 4], the agent of the large picture as RGBA.

    Drawn on black, a pixel is colour times opacity; what shines through of a white ground is what
    opacity lacks.
    """
    black, white = np.zeros((CELL, CELL, 3)), np.full((CELL, CELL, 3), 255.0)
    draw_agent(black)
    draw_agent(white)
    alpha = 1 - (white - black).mean(axis=2) / 255
    colour = black / np.maximum(alpha, 1e-9)[..., None]
    pixels = np.dstack((colour, 255 * alpha))
    sprite: Frames = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    return sprite


def _goal_frames(world: Boxman) -> Frames:
    """[G, H/2, W/2, 3], what is seen when each object was collected."""
    n = world.board.n_objects
    codes = np.zeros((n, 2 + n), np.uint8)
    codes[:, 1] = np.arange(1, n + 1)
    codes[:, 2:] = np.arange(n)
    frames = world.picture(codes)
    side = frames.shape[1] // 2
    small = frames[:, : 2 * side, : 2 * side].reshape(n, side, 2, side, 2, 3)
    halved: Frames = np.rint(small.mean(axis=(2, 4))).astype(np.uint8)
    return halved
