"""Fig. 3a: samples to learn the 16 tasks of Four Rooms, with plain and with extended values."""

from __future__ import annotations

from taskalgebra.paper.experiments.rooms import SIXTEEN
from taskalgebra.paper.experiments.sample_counts import Config, count_samples
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.parallel import Progress
from taskalgebra.paper.results.record import Result

NAME = "samples"
QUICK = Config(runs=3)


def run(config: Config, workers: int = 2, progress: Progress | None = None) -> Result:
    """Learn the 16 tasks with both learners, in an order of its own in each run."""
    world = config.world(4)
    tasks = {str(expression): world.find_task(expression) for expression in SIXTEEN}
    both = {PLAIN: tasks, EXTENDED: tasks}
    return count_samples(NAME, config, both, workers, progress, shuffled=True)
