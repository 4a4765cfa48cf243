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

from taskalgebra.arrays import Array
from taskalgebra.paper.experiments.rooms import R_BAR_MIN, Setting
from taskalgebra.paper.results.labels import CORRECTED, PRINTED
from taskalgebra.paper.results.parallel import Progress
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.planning.exact import q_bar_star

NAME = "algorithm"


@dataclass(frozen=True)
class Config:
    """Learn one task with both updates, and look at the tables now and then."""

    task: str = "top"
    """The task to learn."""
    learning_rate: float = 1.0
    """α."""
    episodes: int = 500
    """Episodes of a random walk, ε = 1."""
    every: int = 10
    """Episodes from one look to the next."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(episodes=60)


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Run the experiment: the largest |Q̄ − Q̄*| over the episodes, for both updates."""
    world = Setting().world()
    task, mdp = world.find_task(config.task), world.mdp
    planned = q_bar_star(task.space, [task], r_bar_min=R_BAR_MIN).values[0]
    optimum = planned.q_bar(np.arange(mdp.n_states))
    rng = np.random.default_rng(config.seed)
    tables = {update: np.zeros_like(optimum) for update in (PRINTED, CORRECTED)}
    goal_of = {int(state): g for g, state in enumerate(mdp.goals)}
    seen = np.zeros(mdp.n_goals, np.bool_)
    rows = []
    for episode in range(1, config.episodes + 1):
        state = int(rng.choice(mdp.starts))
        while True:
            action = int(rng.integers(mdp.n_actions))
            ended = state in goal_of
            goal = goal_of[state] if ended else -1
            following = int(mdp.next_state[state, action])
            for update, q_bar in tables.items():
                target = _targets(q_bar, task.goal_reward, mdp.step_reward, state, action, goal)
                if not ended:
                    target = target + q_bar[following].max(axis=1)
                change = target - q_bar[state, :, action]
                if ended and update == PRINTED:
                    change = np.where(np.arange(mdp.n_goals) == goal, change, R_BAR_MIN)
                q_bar[state, seen, action] += config.learning_rate * change[seen]
            if ended:
                seen[goal] = True
                break
            state = following
        if episode % config.every == 0:
            rows += [(u, episode, float(np.abs(q - optimum).max())) for u, q in tables.items()]
            if progress is not None:
                progress(episode / config.episodes)
    table = Table.of_rows(("update", "episode", "largest_error"), rows)
    return Result(NAME, as_json(config), {NAME: table})


def _targets(
    q_bar: Array, goal_reward: Array, step_reward: Array, state: int, action: int, goal: int
) -> Array:
    """[G], what this step pays towards each goal; `goal` is where the episode ends, or −1."""
    if goal < 0:
        return np.full(q_bar.shape[1], step_reward[state, action])
    return np.where(np.arange(q_bar.shape[1]) == goal, goal_reward, R_BAR_MIN)
