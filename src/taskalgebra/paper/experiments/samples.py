"""Fig. 3a: samples to learn the 16 tasks of Four Rooms, with plain and with extended values."""

from __future__ import annotations

from taskalgebra.paper.experiments.sample_counts import FUNCTIONS, Config, Tasks, count_samples
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "samples"
QUICK = Config(runs=3)


def run(config: Config, sweep: Sweep = ALONE) -> Result:
    """Learn the 16 tasks with both learners, in an order of its own in each run."""
    both = {PLAIN: Tasks(4, FUNCTIONS), EXTENDED: Tasks(4, FUNCTIONS)}
    return count_samples(NAME, config, both, sweep, shuffled=True)
