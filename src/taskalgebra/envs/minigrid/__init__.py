"""MiniGrid and BabyAI as worlds of goals (extra `minigrid`).

    from taskalgebra.envs import minigrid

    world = minigrid.world("MiniGrid-Fetch-8x8-N3-v0")
    skills = ta.learn(world)
    agent = skills["(red | ball) & ~key"]

`labels` says what is reached, `views` what is seen, `worlds` which of these an environment needs.
"""

from taskalgebra.envs.minigrid.labels import at_goal, carried, faced, opened
from taskalgebra.envs.minigrid.views import full_grid
from taskalgebra.envs.minigrid.worlds import world

__all__ = ["at_goal", "carried", "faced", "full_grid", "opened", "world"]
