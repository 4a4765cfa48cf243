"""Worlds as Gymnasium environments; importing this package registers `TaskAlgebra/FourRooms-v0`.

Gymnasium 1.x looks for no plugins: it knows an environment once the module that registers it is
imported.  The name of the module may stand before the name of the environment, and then no import
is needed:

    gym.make("taskalgebra.envs:TaskAlgebra/FourRooms-v0", task="top ^ left")
"""

from __future__ import annotations

import gymnasium as gym

FOUR_ROOMS = "TaskAlgebra/FourRooms-v0"


def register() -> None:
    """Make the environments known to Gymnasium; a second call changes nothing."""
    if FOUR_ROOMS not in gym.registry:
        gym.register(
            FOUR_ROOMS,
            entry_point="taskalgebra.envs.four_rooms:FourRooms",
            vector_entry_point="taskalgebra.envs.vector_world:four_rooms",
        )


register()
