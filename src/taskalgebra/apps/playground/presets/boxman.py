"""An episode of Boxman, played by the shipped networks, as one answer.

The networks are loaded on first use, and kept.  The answer to a request holds the whole episode,
with the frames that the network saw, so that the server keeps no state of its players.
"""

from __future__ import annotations

import time
from base64 import b64encode
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any, Literal

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field

import taskalgebra as ta
from taskalgebra.apps.playground.answers import TaskCount, TruthTable
from taskalgebra.apps.playground.expressions import compose
from taskalgebra.apps.playground.reading import read_task
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import Cell, Formula, Request
from taskalgebra.drawing.png import png
from taskalgebra.extras import missing
from taskalgebra.skills import SHIPPED_AT

PATH = "/api/boxman/play"
MISSING_TORCH = missing("Boxman", "torch", "deep")


class EpisodeRequest(Request):
    """An episode of Boxman: which skills, which task, and where it starts."""

    skills: Literal["boxman", "boxman-random", "boxman-touch"] = "boxman"
    expression: Formula
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    agent: Annotated[Cell | None, Field(description="where the agent starts; null: anywhere")] = (
        None
    )


class EpisodeAnswer(BaseModel):
    """A whole episode: what the network saw, did and earned."""

    model_config = ConfigDict(extra="forbid")

    expression: str
    simplified: str
    desired: list[str]
    frames: Annotated[list[str], Field(description="PNG, base64, one more than actions")]
    action_names: list[str]
    actions: list[str]
    q: Annotated[
        list[list[float]], Field(description="max_g Q̄(s, g, ·) of every frame but the last")
    ]
    rewards: list[float]
    collected: str | None
    returned: Annotated[float, Field(alias="return")]
    optimum: float
    agent: tuple[int, int]
    cells: Annotated[list[tuple[int, int]], Field(description="where the agent may start")]
    truth_table: TruthTable
    n_tasks: TaskCount
    python: str
    notes: Annotated[list[str], Field(description="remarks about the result")] = []
    milliseconds: float


def available() -> bool:
    """Whether the packages that networks need are installed."""
    return find_spec("torch") is not None and find_spec("safetensors") is not None


@cache
def skills_of(name: str) -> ta.Skills:
    """The shipped skills of this name, even if a directory has the same name."""
    return ta.load(SHIPPED_AT / name)


def play(request: EpisodeRequest) -> bytes:
    """Play an episode; the answer as JSON.

    All episodes of the same skills share one board, so they are played one at a time.  They use one
    thread: on two busy cores an episode then takes 30 ms, and 180 to 2,100 ms on two threads.

    Raises:
        RefusedError: torch is not installed, or the request does not fit the game.
    """
    if not available():
        raise RefusedError(MISSING_TORCH, "skills", status=409)
    from taskalgebra.learning.deep.threads import one_thread  # which needs torch

    with one_thread():
        answer = _episode(request, time.perf_counter())
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _episode(request: EpisodeRequest, start: float) -> dict[str, Any]:
    skills = skills_of(request.skills)
    expression = read_task(request.expression, skills.tasks, ())
    if expression.temporal:
        sentence = "this game plays Boolean tasks; formulas over time are for worlds on a map"
        raise RefusedError(sentence, "expression")
    agent, written, answer = compose(skills, expression, request.expression, tuple(skills.tasks))
    env: Any = skills.env
    env.task = agent.task
    observation, info = env.reset(seed=request.seed)
    cells = _starts(env)
    if request.agent is not None:
        _check_start(request.agent, cells, by_touch=env.by_touch)
        code = env.code
        code[0] = env.board.cell(request.agent)
        observation, info = env.reset(options={"code": code})
    optimum, stands = info["optimal_return"], env.board.cells[env.code[0]].tolist()
    frames, terminated = [observation], False
    actions: list[int] = []
    rewards: list[float] = []
    while not terminated and len(actions) < env.max_episode_steps:
        actions.append(agent.act(observation))
        observation, reward, terminated, _, info = env.step(actions[-1])
        frames.append(observation)
        rewards.append(reward)
    action_names = skills.space.action_names
    return answer | {
        "frames": [b64encode(png(frame)).decode() for frame in frames],
        "action_names": action_names,
        "actions": [action_names[action] for action in actions],
        "q": agent.q_bar(np.stack(frames[:-1])).max(axis=1).round(4),
        "rewards": rewards,
        "collected": skills.space.goal_names[info["goal"]] if terminated else None,
        "return": round(sum(rewards), 10),
        "optimum": round(optimum, 10),
        "agent": stands,
        "cells": cells,
        "python": _program(request, written),
        "milliseconds": round(1e3 * (time.perf_counter() - start), 3),
    }


def _program(request: EpisodeRequest, expression: str) -> str:
    """The calls of `_episode` as a program."""
    moved = ""
    if request.agent is not None:
        moved = f"""code = env.code
code[0] = env.board.cell({request.agent})
observation, info = env.reset(options={{"code": code}})
"""
    return f"""import taskalgebra as ta

skills = ta.load({request.skills!r})
agent = skills[{expression!r}]
env = skills.env
env.task = agent.task
observation, info = env.reset(seed={request.seed})
{moved}optimum = info["optimal_return"]
actions, rewards, terminated = [], [], False
while not terminated and len(actions) < env.max_episode_steps:
    actions.append(agent.act(observation))
    observation, reward, terminated, _, info = env.step(actions[-1])
    rewards.append(reward)
print(f"return {{sum(rewards):.2f}}, optimum {{optimum:.2f}}, {{len(actions)}} steps")
"""


def _starts(env: Any) -> list[list[int]]:
    """The cells on which the agent may start: by touch, not those of objects."""
    taken = set(env.code[2:].tolist()) if env.by_touch else set()
    return [cell for i, cell in enumerate(env.board.cells.tolist()) if i not in taken]


def _check_start(cell: tuple[int, int], cells: list[list[int]], *, by_touch: bool) -> None:
    if list(cell) not in cells:
        row, column = cell
        raise RefusedError(
            f"the agent cannot start at row {row}, column {column}, which is a wall"
            f"{' or holds an object' if by_touch else ''}; choose another cell",
            "agent",
        )
