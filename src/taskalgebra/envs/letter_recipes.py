"""How a network learns LetterWorld, where layouts are random."""

from __future__ import annotations

from taskalgebra.envs.letters import LETTERS, N_CELLS
from taskalgebra.envs.recipe import Recipe
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.learner import DeepQ
from taskalgebra.learning.deep.settings import FAST

TRAINING_STEPS = 20
"""Steps after which an episode of training is truncated, so that many layouts are seen."""
FAR = N_CELLS // 2 + 1
"""Steps from which on all ways are the same; there are 25 free cells to walk on."""


def learner_for(cost: float) -> DeepQ:
    """Where a step costs this much."""
    return DeepQ(
        networks.board,
        settings=FAST,
        v_min=-FAR * cost,
        v_max=0.0,
        spacing=cost,
        max_episode_steps=TRAINING_STEPS,
        n_updates=3_000,
        updates_per_iteration=300,
        steps_per_update=16.0,
        telling_share=0.4,
        learning_rate=2e-3,
        tau=0.05,
        pessimism=6.0,
        scoring_share=0.0,
        threads=1,
    )


RECIPES = {"letter-world": Recipe(LETTERS, learner_for(0.1))}
