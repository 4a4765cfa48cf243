"""Algorithm 1 of the supplement: as printed, and with the error that makes it converge.

Where an episode ends in another goal, the supplement prints δ ← r̄_MIN.  Both learners here see the
same random walk and differ in this line alone:

    as printed   Q(s, g, a) ← Q(s, g, a) + α r̄_MIN                 falls at every visit, without end
    corrected    Q(s, g, a) ← Q(s, g, a) + α (r̄_MIN − Q(s, g, a))   comes to rest

The library's own learner is the corrected one (`learning.q_learning`, `learning.readable`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskalgebra.paper.experiments.rooms import R_BAR_MIN, Setting, planned
from taskalgebra.paper.results.labels import CORRECTED, PRINTED
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "algorithm"


@dataclass(frozen=True)
class Config:
    """Learn one task with both updates, and look at the tables at intervals."""

    task: str = "top"
    """The task to learn."""
    learning_rate: float = 1.0
    """α."""
    episodes: int = 500
    """Episodes of a random walk, ε = 1."""
    every: int = 10
    """Episodes between two looks."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(episodes=60)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: the largest |Q̄ − Q̄*| over the episodes, for both updates."""
    world = Setting().world()
    task, mdp = world.find_task(config.task), world.mdp
    optimum = planned(task)
    rng = np.random.default_rng(config.seed)
    tables = {update: np.zeros_like(optimum) for update in (PRINTED, CORRECTED)}
    seen = np.zeros(mdp.n_goals, np.bool_)
    rows = []
    for episode in range(1, config.episodes + 1):
        state = int(rng.choice(mdp.starts))
        while True:
            action = int(rng.integers(mdp.n_actions))
            goal, next_state = mdp.goal_of_state[state], mdp.next_state[state, action]
            ended, here = goal >= 0, np.arange(mdp.n_goals) == goal
            for update, q_bar in tables.items():
                if ended:
                    target = np.where(here, task.goal_reward, R_BAR_MIN)
                else:
                    target = mdp.step_reward[state, action] + q_bar[next_state].max(axis=1)
                change = target - q_bar[state, :, action]
                if ended and update == PRINTED:
                    change = np.where(here, change, R_BAR_MIN)
                q_bar[state, seen, action] += config.learning_rate * change[seen]
            if ended:
                seen[goal] = True
                break
            state = next_state
        if episode % config.every == 0:
            rows += [(u, episode, float(np.abs(q - optimum).max())) for u, q in tables.items()]
            if sweep.progress is not None:
                sweep.progress(episode / config.episodes)
    return Result.of_rows(NAME, config, ("update", "episode", "largest_error"), rows)
