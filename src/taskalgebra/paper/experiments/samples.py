"""Fig. 3a: samples to learn the 16 tasks of Four Rooms, with plain and with extended values."""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.q_learning import Settings
from taskalgebra.paper.experiments.parallel import Progress
from taskalgebra.paper.experiments.record import Result, as_json
from taskalgebra.paper.experiments.rooms import SIXTEEN
from taskalgebra.paper.experiments.sample_counts import EXTENDED, PLAIN, Series, count_samples

NAME = "samples"


@dataclass(frozen=True)
class Config:
    """Learn each of the 16 distinct tasks with both learners, many times."""

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


QUICK = Config(runs=3)


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Run the experiment: one row a learner, task and run."""
    world = FourRooms(r_universal=config.r_universal, step_reward=config.step_reward)
    tasks = {str(expression): world.find_task(expression) for expression in SIXTEEN}
    table = count_samples(
        [Series(PLAIN, tasks), Series(EXTENDED, tasks)],
        settings=Settings(config.learning_rate, config.epsilon),
        tolerance=config.tolerance,
        runs=config.runs,
        seed=config.seed,
        workers=workers,
        progress=progress,
    )
    return Result(NAME, as_json(config), {NAME: table})
