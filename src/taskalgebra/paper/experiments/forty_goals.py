"""Fig. 3c: samples to be able to solve every task of the Four Rooms with 40 goals.

With plain values and disjunction an agent needs the 40 single-goal tasks.  With extended values it
needs a smallest set of base tasks, which is 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.q_learning import Settings
from taskalgebra.paper.experiments.parallel import Progress
from taskalgebra.paper.experiments.record import Result, as_json
from taskalgebra.paper.experiments.sample_counts import EXTENDED, PLAIN, Series, count_samples

NAME = "forty_goals"


@dataclass(frozen=True)
class Config:
    """Learn 40 single-goal tasks with plain values and 6 base tasks with extended ones."""

    runs: int = 100
    """How often each task is learned; error bars are standard deviations over runs."""
    epsilon: float = 1.0
    """ε, how often the learner acts at random."""
    learning_rate: float = 1.0
    """α."""
    r_universal: float = 1.0
    """The reward of a desired goal."""
    step_reward: float = -0.01
    """The reward of every step, and of any other goal."""
    tolerance: float = 1e-5
    """A table is learned when no entry is further from the optimum."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(runs=2)


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Run the experiment: one row a learner, task and run."""
    world = FourRooms(40, r_universal=config.r_universal, step_reward=config.step_reward)
    single = {name: world.space.task([name]) for name in world.space.mdp.goal_names}
    table = count_samples(
        [Series(PLAIN, single), Series(EXTENDED, world.tasks)],
        settings=Settings(config.learning_rate, config.epsilon),
        tolerance=config.tolerance,
        runs=config.runs,
        seed=config.seed,
        workers=workers,
        progress=progress,
    )
    return Result(NAME, as_json(config), {NAME: table})
