"""Fig. 3c: samples to be able to solve every task of the Four Rooms with 40 goals.

With plain values and disjunction an agent needs the 40 single-goal tasks.  With extended values it
needs a smallest set of base tasks, which is 6.
"""

from __future__ import annotations

from taskalgebra.paper.experiments.sample_counts import BASE, SINGLE, Config, Tasks, count_samples
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "forty_goals"
QUICK = Config(runs=2)


def run(config: Config, sweep: Sweep = ALONE) -> Result:
    """Learn 40 single-goal tasks with plain values and 6 base tasks with extended ones."""
    tasks = {PLAIN: Tasks(40, SINGLE), EXTENDED: Tasks(40, BASE)}
    return count_samples(NAME, config, tasks, sweep)
