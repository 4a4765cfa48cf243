"""How networks learn to play MiniGrid, where layouts are random."""

from __future__ import annotations

from taskalgebra.envs.minigrid.labels import COLOURS
from taskalgebra.envs.recipe import Recipe
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.learner import DeepQ
from taskalgebra.learning.deep.settings import FAST

TRAINING_STEPS = 40
"""Steps after which an episode of training is truncated, so that many layouts are seen."""


def in_a_room(size: int, cost: float) -> DeepQ:
    """For a room of this many cells a side, walls included, where a step costs this much.

    No way in it is longer than three times its side, turns included, so that this stands for never.
    """
    return DeepQ(
        networks.symbolic,
        settings=FAST,
        v_min=-3 * size * cost,
        v_max=0.0,
        spacing=cost,
        max_episode_steps=TRAINING_STEPS,
        n_updates=12_000,
        updates_per_iteration=500,
        steps_per_update=48.0,
        telling_share=0.4,
        scoring_share=0.0,
        threads=1,
    )


RECIPES = {
    "minigrid-fetch": Recipe(
        (*COLOURS, "key", "ball"),
        in_a_room(8, 1 / 320),
        {"name": "MiniGrid-Fetch-8x8-N3-v0"},
    )
}
