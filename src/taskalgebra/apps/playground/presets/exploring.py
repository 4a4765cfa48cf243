"""Explore a level of MiniGrid, and keep its table beside this file (extra `minigrid`).

    python -m taskalgebra.apps.playground.presets.exploring

So the playground shows the level at once, also where MiniGrid is not installed.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import Any

import gymnasium
import numpy as np

import taskalgebra as ta
from taskalgebra import files
from taskalgebra.apps.playground.presets.worlds import ACTIONS, EXPLORED, N_OBJECTS, NAME, SEED
from taskalgebra.envs import minigrid

THINGS = ("key", "ball", "box")


def table() -> dict[str, Any]:
    """The table of the level, as a JSON document."""
    level = ta.wrap(
        partial(gymnasium.make, NAME, numObjs=N_OBJECTS), goals=minigrid.faced, actions=ACTIONS
    )
    explored = ta.explore(level, seeds=[SEED], continuing=True)
    env: Any = explored.make().unwrapped
    env.reset(seed=SEED)
    space, mdp = explored.space, explored.space.mdp
    width, cells = env.grid.width, env.grid.grid
    rows = [
        "".join(".#"[one is not None] for one in cells[first : first + width])
        for first in range(0, len(cells), width)
    ]
    poses = {}
    for y, x, heading in np.ndindex(len(rows), width, 4):
        if rows[y][x] == ".":
            env.agent_pos, env.agent_dir = (x, y), heading
            with suppress(ValueError):  # not reached in exploring
                poses[explored.state_of(env)] = x, y, heading
    objects = [
        {"name": f"{one.color} {one.type}", "cell": divmod(k, width)}
        for k, one in enumerate(cells)
        if one is not None and one.type in THINGS
    ]
    return {
        "map": rows,
        "objects": objects,
        "cells": [poses[s][1::-1] for s in range(mdp.n_states - mdp.n_goals)],
        "headings": [poses[s][2] for s in range(mdp.n_states - mdp.n_goals)],
        "next": mdp.next_state.tolist(),
        "step_reward": float(mdp.step_reward[0, 0]),
        "goals": list(mdp.goal_names),
        "starts": mdp.starts.tolist(),
        "resumes": mdp.after_goals.tolist(),
        "r_universal": float(space.r_universal[0]),
        "r_empty": float(space.r_empty[0]),
    }


if __name__ == "__main__":
    files.replace(EXPLORED, (json.dumps(table()) + "\n").encode())
