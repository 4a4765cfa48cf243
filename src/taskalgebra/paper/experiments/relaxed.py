"""The supplement's first box plot: sparse or dense rewards, same or different absorbing sets.

Theorem 3 assumes sparse rewards and shared absorbing states.  Here either is given up, or both.
"""

from __future__ import annotations

from taskalgebra.paper.experiments.rooms import Setting
from taskalgebra.paper.experiments.sixteen import Protocol as Config
from taskalgebra.paper.experiments.sixteen import run_variants
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "relaxed"
VARIANTS = {
    "sparse, same": Setting(),
    "sparse, different": Setting(shared_absorbing=False),
    "dense, same": Setting(dense=True),
    "dense, different": Setting(dense=True, shared_absorbing=False),
}
QUICK = Config(runs=2, evaluation_episodes=500)


def run(config: Config, sweep: Sweep = ALONE) -> Result:
    """Learn four tables in each of four variants, then judge all 16 compositions."""
    return run_variants(NAME, config, VARIANTS, sweep)
