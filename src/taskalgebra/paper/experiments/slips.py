"""The supplement's second box plot: slips, with dense rewards and different absorbing sets.

With the slip probability a move goes to one of the other three directions.  Policies are judged
under the slip that they were learned with, against the optimum of that slippery world.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.learning.q_learning import Settings
from taskalgebra.paper.experiments.parallel import Progress
from taskalgebra.paper.experiments.record import Result, as_json
from taskalgebra.paper.experiments.rooms import Setting
from taskalgebra.paper.experiments.sixteen import Protocol, run_variants

NAME = "slips"


@dataclass(frozen=True)
class Config:
    """Learn four tables for each slip probability, then judge all 16 compositions."""

    slip_probabilities: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3)
    """How often a move goes astray; the paper shows 0.1 and 0.3."""
    epsilon: float = 0.5
    """ε, how often the learner acts at random."""
    learning_rate: float = 0.1
    """α."""
    learning_episodes: int = 50_000
    """Episodes to learn each table for."""
    runs: int = 5
    """How often everything is learned anew; the paper does not say, and shows one."""
    evaluation_episodes: int = 100_000
    """Episodes to judge each composed policy by, in each run."""
    max_steps: int = 100
    """Evaluation episodes are cut off after so many steps."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(learning_episodes=2000, runs=2, evaluation_episodes=500)


def run(config: Config = Config(), workers: int = 2, progress: Progress | None = None) -> Result:
    """Run the experiment."""
    protocol = Protocol(
        Settings(config.learning_rate, config.epsilon),
        config.learning_episodes,
        config.runs,
        config.evaluation_episodes,
        config.max_steps,
        config.seed,
    )
    variants = {
        f"slip {slip:g}": Setting(dense=True, shared_absorbing=False, slip_probability=slip)
        for slip in config.slip_probabilities
    }
    tables = run_variants(variants, protocol, workers, progress)
    return Result(
        NAME,
        as_json(config),
        {
            NAME: tables["summary"],
            f"{NAME}_runs": tables["runs"],
            f"{NAME}_returns": tables["counts"],
        },
    )
