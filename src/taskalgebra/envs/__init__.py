"""Gymnasium environments.

Importing this package registers grid worlds, `TaskAlgebra/FourRooms-v0`, `TaskAlgebra/Office-v0`,
`TaskAlgebra/LetterWorld-v0` and `TaskAlgebra/RandomLetterWorld-v0`, and `TaskAlgebra/Boxman-v0`, a
video game.

Gymnasium 1.x does not look for plugins: it knows an environment once the module that registers it
is imported.  With the name of the module before the name of the environment, no import is needed:

    gym.make("taskalgebra.envs:TaskAlgebra/FourRooms-v0", task="top ^ left")
    gym.make("taskalgebra.envs:TaskAlgebra/Boxman-v0", task="blue & square")
"""

from __future__ import annotations

from taskalgebra.envs.registry import register

register()
