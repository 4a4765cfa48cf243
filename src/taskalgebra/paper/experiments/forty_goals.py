"""Fig. 3c: samples to be able to solve every task of the Four Rooms with 40 goals.

With plain values and disjunction an agent needs the 40 single-goal tasks.  With extended values it
needs a smallest set of base tasks, which is 6.
"""

from __future__ import annotations

from taskalgebra.paper.experiments.sample_counts import Config, count_samples
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.parallel import Progress
from taskalgebra.paper.results.record import Result

NAME = "forty_goals"
QUICK = Config(runs=2)


def run(config: Config, workers: int = 2, progress: Progress | None = None) -> Result:
    """Learn 40 single-goal tasks with plain values and 6 base tasks with extended ones."""
    world = config.world(40)
    single = {name: world.space.task([name]) for name in world.space.mdp.goal_names}
    return count_samples(NAME, config, {PLAIN: single, EXTENDED: world.tasks}, workers, progress)
