"""How networks learn to play Boxman: our settings, the paper's, and those of the shipped skills."""

from __future__ import annotations

from functools import partial
from typing import Any

from taskalgebra.envs.recipe import Recipe
from taskalgebra.learning.deep import networks, settings
from taskalgebra.learning.deep.learner import DeepQ

TRAINING_STEPS = 50
"""Steps after which an episode of training is truncated."""
SHIPPED = DeepQ(
    networks.egocentric,
    settings=settings.FAST,
    v_min=-2.3,
    v_max=0.0,
    spacing=0.1,
    max_episode_steps=TRAINING_STEPS,
)
"""With which the shipped skills were trained.  A step costs 0.1; paths of 23 steps or more are not
told apart."""
FAST = SHIPPED.changed(
    n_updates=700,
    updates_per_iteration=100,
    steps_per_update=40.0,
    learning_starts=6_400,
    learning_rate=2e-3,
    tau=0.05,
    pessimism=6.0,
)
"""Our own, for a fixed layout: 34,400 steps."""
RANDOM = FAST.changed(
    n_updates=5_000,
    updates_per_iteration=500,
    steps_per_update=37.0,
    learning_rate=1e-3,
    averaging=0.1,
    max_episode_steps=6,
)
"""Our own, for random layouts: 191,400 steps at most.  Episodes start on any cell of a new layout,
so that short ones show more layouts: with 20 steps instead of 6, values in rare ones are not yet
right in the end, and one game in some hundreds never ends."""
FAR = 23  # steps from which on, with these, all ways are the same


def fast_for(longest: int, *, random: bool = False, by_touch: bool = False) -> DeepQ:
    """Our own settings for a board whose longest way has this many moves."""
    n_steps = longest + 2  # a pick-up, and one more that stands for never
    learner = SHIPPED if by_touch else RANDOM if random else FAST
    return learner if n_steps <= FAR else learner.changed(v_min=-round(0.1 * n_steps, 1))


PAPER = DeepQ.paper(v_min=-2.0, v_max=2.0, spacing=0.1, max_episode_steps=TRAINING_STEPS)
"""The network and hyperparameters of the supplement, except for what PAPER.md lists."""


def _fast(network: networks.Network = networks.egocentric, **changes: Any) -> DeepQ:
    return DeepQ(network, settings=SHIPPED.settings, threads=1, **changes)


_recipe = partial(Recipe, paper=PAPER)
RECIPES: dict[str, Recipe] = {
    "boxman": _recipe(("blue", "square", "purple"), _fast(n_updates=2_500)),
    "boxman-random": _recipe(
        ("blue", "square", "purple"), _fast(n_updates=14_000), {"layout": "random"}
    ),
    "boxman-touch": _recipe(
        ("purple", "blue", "square"),
        _fast(networks.planning, n_updates=6_000, learning_rate=2e-3, tau=0.05),
        {"layout": "random", "collect": "touch"},
        start="boxman-random",
    ),
    "boxman-paper": _recipe(
        ("blue", "square"), DeepQ(networks.paper, settings=PAPER.settings, threads=1)
    ),
}
"""The three that come with the library, and the paper's own network and hyperparameters."""
