"""Worlds as Gymnasium environments.

Importing this package registers `TaskAlgebra/FourRooms-v0`, a grid world, and
`TaskAlgebra/Boxman-v0`, a video game.

Gymnasium 1.x looks for no plugins: it knows an environment once the module that registers it is
imported.  The name of the module may stand before the name of the environment, and then no import
is needed:

    gym.make("taskalgebra.envs:TaskAlgebra/FourRooms-v0", task="top ^ left")
    gym.make("taskalgebra.envs:TaskAlgebra/Boxman-v0", task="blue & square")
"""

from __future__ import annotations

import gymnasium as gym

FOUR_ROOMS, BOXMAN = "TaskAlgebra/FourRooms-v0", "TaskAlgebra/Boxman-v0"
_ENTRY_POINTS = {  # one world, and many at once
    FOUR_ROOMS: ("four_rooms:FourRooms", "vector_world:four_rooms"),
    BOXMAN: ("boxman.env:Boxman", "boxman.vector:boxman"),
}


def register() -> None:
    """Make the environments known to Gymnasium; a second call changes nothing."""
    for name, (one, many) in _ENTRY_POINTS.items():
        if name not in gym.registry:
            gym.register(
                name,
                entry_point=f"taskalgebra.envs.{one}",
                vector_entry_point=f"taskalgebra.envs.{many}",
            )


register()
