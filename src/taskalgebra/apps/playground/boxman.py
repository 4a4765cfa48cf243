"""An episode of Boxman, played by the shipped networks, as one answer.

The networks are loaded when first asked for, and kept.  A request has its whole episode in one
answer, with the frames that the network saw, so that the server remembers nothing of its players.
"""

from __future__ import annotations

import time
from base64 import b64encode
from functools import cache
from struct import pack
from threading import Lock
from typing import Any, cast
from zlib import compress, crc32

import numpy as np
import orjson

from taskalgebra.apps.playground.expressions import (
    LONG,
    count_tasks,
    labels_of,
    read_expression,
    simplified,
    truth_table,
)
from taskalgebra.apps.playground.presets import MISSING_TORCH, boxman_available
from taskalgebra.apps.playground.python_lines import boxman_lines
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import BoxmanRequest
from taskalgebra.arrays import Image
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.skills.catalogue import SHIPPED_AT
from taskalgebra.skills.making import load
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.rewards import recover_q
from taskalgebra.worlds.finite import NO_GOAL

_turn = Lock()


@cache
def skills_of(name: str) -> Skills:
    """The shipped skills of this name, even where a folder is called the same."""
    return load(SHIPPED_AT / name)


def play(request: BoxmanRequest) -> bytes:
    """Play an episode; the answer as JSON.

    Raises:
        RefusedError: torch is not installed, or the request does not fit the game.
    """
    if not boxman_available():
        raise RefusedError(MISSING_TORCH, "skills", status=409)
    from taskalgebra.learning.deep.threads import one_thread

    start = time.perf_counter()
    with _turn, one_thread():  # all episodes with the same skills are played on one board
        return orjson.dumps(_episode(request, skills_of(request.skills), start))


def _episode(request: BoxmanRequest, skills: Skills, start: float) -> dict[str, Any]:
    tasks = tuple(skills.tasks)
    expression, table = read_expression(request.expression, tasks)
    short = simplified(table, tasks)
    agent = skills[short if len(request.expression) > LONG else expression]
    world = cast(Boxman, skills.world)
    names = world.space.goal_names
    world.task = agent.task
    observation, info, cells = _reset(world, request)
    stands = world.board.cells[world.code[0]].tolist()
    frames, goal = [observation], NO_GOAL
    actions: list[str] = []
    rewards: list[float] = []
    q: list[list[float]] = []
    while goal == NO_GOAL and len(actions) < world.max_steps:
        q_bar = agent.q_bar(observation[None])
        action = int(greedy(q_bar)[0])
        q.append(recover_q(q_bar)[0].round(4).tolist())
        observation, reward, _, _, told = world.step(action)
        goal = told["goal"]
        frames.append(observation)
        actions.append(world.space.action_names[action])
        rewards.append(reward)
    labels = labels_of(skills.tasks, len(names))
    return {
        "expression": request.expression,
        "simplified": str(short),
        "desired": [n for n, one in zip(names, agent.task.desired, strict=True) if one],
        "frames": [b64encode(png(frame)).decode() for frame in frames],
        "action_names": list(world.space.action_names),
        "actions": actions,
        "q": q,
        "rewards": rewards,
        "collected": None if goal == NO_GOAL else names[goal],
        "return": round(sum(rewards), 10),
        "optimum": round(info["optimal_return"], 10),
        "agent": stands,
        "cells": cells,
        "truth_table": truth_table(table, tasks, names, labels),
        "n_tasks": count_tasks(skills.tasks),
        "python": boxman_lines(request),
        "milliseconds": round(1e3 * (time.perf_counter() - start), 3),
    }


def _reset(world: Boxman, request: BoxmanRequest) -> tuple[Image, dict[str, Any], list[Any]]:
    """Start as asked; also the cells on which the agent may start.

    By touch it may not start on an object, which it could not touch by stepping on it.
    """
    observation, info = world.reset(seed=request.seed)
    board, code = world.board, world.code
    taken = set(code[2:].tolist()) if world.by_touch else set()
    cells = [cell for i, cell in enumerate(board.cells.tolist()) if i not in taken]
    if request.agent is None:
        return observation, info, cells
    if list(request.agent) not in cells:
        row, column = request.agent
        raise RefusedError(
            f"the agent cannot start at row {row}, column {column}, which is a wall"
            f"{' or holds an object' if world.by_touch else ''}; choose another cell",
            "agent",
        )
    code[0] = board.cell(request.agent)
    observation, info = world.reset(options={"code": code})
    return observation, info, cells


def png(image: Image) -> bytes:
    """An RGB image `[H, W, 3]` as a PNG file."""
    height, width, _ = image.shape
    unfiltered = np.zeros((height, 1 + 3 * width), np.uint8)
    unfiltered[:, 1:] = image.reshape(height, 3 * width)
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", compress(unfiltered.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))
        for kind, data in chunks
    )
