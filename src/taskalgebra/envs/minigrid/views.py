"""What is seen of MiniGrid: the whole grid, and what the agent carries."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

AGENT, NOTHING = 10, (1, 0, 0)
"""As `minigrid.core.constants` numbers the agent and encodes an empty cell."""


def full_grid(observation: Any, env: Any) -> NDArray[np.uint8]:
    """[W, H, 5], the object, its colour and its state in every cell.

    The agent's cell holds its direction as state, and in the last two channels type and colour of
    what it carries: without them two states would look alike.
    """
    grid = env.grid
    cells = [NOTHING if cell is None else cell.encode() for cell in grid.grid]
    seen = np.zeros((grid.width, grid.height, 5), np.uint8)
    seen[:, :, :3] = np.array(cells, np.uint8).reshape(grid.height, grid.width, 3).swapaxes(0, 1)
    hands = (0, 0) if env.carrying is None else env.carrying.encode()[:2]
    seen[env.agent_pos[0], env.agent_pos[1]] = (AGENT, 0, env.agent_dir, *hands)
    return seen


def without_partial_view(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """The same environment, whose own observations show nothing.

    Most of the time of a step goes into what the agent can see from where it stands, which is not
    looked at where the whole grid is seen.
    """
    inner: Any = env.unwrapped
    nothing = np.zeros(inner.observation_space["image"].shape, np.uint8)

    def observed() -> dict[str, Any]:
        return {
            "image": nothing.copy(),
            "direction": inner.agent_dir,
            "mission": inner.mission,
        }

    inner.gen_obs = observed
    return env
