"""The supplement's first box plot: sparse or dense rewards, same or different absorbing sets.

Theorem 3 assumes sparse rewards and shared absorbing states.  Here either is given up, or both.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.learning.q_learning import Settings
from taskalgebra.paper.experiments.parallel import Progress
from taskalgebra.paper.experiments.record import Result, as_json
from taskalgebra.paper.experiments.rooms import Setting
from taskalgebra.paper.experiments.sixteen import Protocol, run_variants

NAME = "relaxed"
VARIANTS = {
    "sparse, same": Setting(),
    "sparse, different": Setting(shared_absorbing=False),
    "dense, same": Setting(dense=True),
    "dense, different": Setting(dense=True, shared_absorbing=False),
}


@dataclass(frozen=True)
class Config:
    """Learn four tables in each of four variants, then judge all 16 compositions."""

    epsilon: float = 1.0
    """ε, how often the learner acts at random."""
    learning_rate: float = 1.0
    """α."""
    learning_episodes: int = 500
    """Episodes to learn each table for."""
    runs: int = 5
    """How often everything is learned anew; the paper does not say, and shows one."""
    evaluation_episodes: int = 100_000
    """Episodes to judge each composed policy by, in each run."""
    max_steps: int = 100
    """Evaluation episodes are cut off after so many steps."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(runs=2, evaluation_episodes=500)


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
    tables = run_variants(VARIANTS, protocol, workers, progress)
    return Result(
        NAME,
        as_json(config),
        {
            NAME: tables["summary"],
            f"{NAME}_runs": tables["runs"],
            f"{NAME}_returns": tables["counts"],
        },
    )
