"""The supplement's second box plot: slips, with dense rewards and different absorbing sets.

With the slip probability a move goes in one of the other three directions.  Policies are judged
under the slip that they were learned with, against the optimum of that slippery world.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.paper.experiments.rooms import Setting
from taskalgebra.paper.experiments.sixteen import Protocol, run_variants
from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.running import ALONE, Sweep

NAME = "slips"


@dataclass(frozen=True)
class _Slips:
    slip_probabilities: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3)
    """How often a move goes astray; the paper shows 0.1 and 0.3."""


@dataclass(frozen=True)
class Config(Protocol, _Slips):
    """Learn four tables for each slip probability, then judge all 16 compositions."""

    epsilon: float = 0.5
    learning_rate: float = 0.1
    learning_episodes: int = 50_000


QUICK = Config(learning_episodes=2000, runs=2, evaluation_episodes=500)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment."""
    variants = {
        f"slip {slip:g}": Setting(dense=True, shared_absorbing=False, slip_probability=slip)
        for slip in config.slip_probabilities
    }
    return run_variants(NAME, config, variants, sweep)
