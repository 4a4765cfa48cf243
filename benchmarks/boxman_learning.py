"""How fast networks learn Boxman: all 63 goal sets, with a fixed layout and with random ones.

python benchmarks/boxman_learning.py                              three seeds, and five: an hour
python benchmarks/boxman_learning.py --layout random --seeds 3 4  some of them
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

from report import Report
from taskalgebra.envs.boxman.env import FIXED, RANDOM, Boxman
from taskalgebra.learning.deep import training
from taskalgebra.paper.experiments.boxman.tables import (
    all_tasks,
    play_table,
    returns_on_cells,
    starts,
    worst_score,
)
from taskalgebra.progress import Event

BASE = ("blue", "square", "purple")
SEEDS = {FIXED: (0, 1, 2), RANDOM: (0, 1, 2, 3, 4)}
SECONDS = {FIXED: 60, RANDOM: 600}
STEPS = {FIXED: 60_000, RANDOM: 200_000}
LEAST_SCORE = 0.99
SCORED = 200  # random layouts on which weights are scored during training
JUDGED, JUDGED_SEED = 300, 77  # random layouts that are neither trained on nor scored on


@dataclass(frozen=True)
class Learned:
    """What one training took, and how good it became."""

    seconds: float
    cpu: float
    steps: int
    scores: np.ndarray  # [63], of every goal set
    optimal: float  # the share of optimal episodes


def learned(layout: str, seed: int, **changes: object) -> Learned:
    """Train with the game's own learner, scoring included, and judge on other layouts."""
    world = Boxman(layout=layout)
    learner = world.learner.changed(**changes)
    steps = 0

    def note(event: Event) -> None:
        nonlocal steps
        steps = event.n_steps or 0
        print(f"  {event.n_updates:>6} updates {steps:>8} steps  {event.score:.4f}", flush=True)

    wall, cpu = time.perf_counter(), time.process_time()
    family, _ = training.train(
        world,
        {name: world.tasks[name] for name in BASE},
        learner.network,
        learner.settings,
        seed=seed,
        score=worst_score(world, all_tasks(world), n=SCORED),
        listener=note,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    codes = starts(world, JUDGED, JUDGED_SEED)
    table = returns_on_cells(world, family.reaches[0], codes)
    outcomes = [
        play_table(world, codes, task, table + task.goal_reward[:, None])
        for task in all_tasks(world)
    ]
    optimal = float(np.mean([outcome.n_optimal / len(codes) for outcome in outcomes]))
    return Learned(wall, cpu, steps, np.array([outcome.score for outcome in outcomes]), optimal)


def main(arguments: list[str] | None = None) -> None:
    """Train with each seed; a line per bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layout", choices=list(SEEDS), help="default: both")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args(arguments)
    report = Report()
    for layout in SEEDS if given.layout is None else [given.layout]:
        for seed in SEEDS[layout] if given.seeds is None else given.seeds:
            found = learned(layout, seed, threads=given.threads)
            name = f"Boxman, {layout} layout, seed {seed}"
            report.note(f"{name}: CPU seconds", found.cpu, "s")
            report.at_most(f"{name}: seconds", found.seconds, SECONDS[layout], "s")
            report.at_most(f"{name}: steps", found.steps, STEPS[layout], "")
            report.note(f"{name}: mean score of 63 goal sets", float(found.scores.mean()), "")
            if layout == FIXED:
                report.at_least(f"{name}: share of optimal episodes", found.optimal, 1.0, "")
            else:
                report.at_least(f"{name}: worst score", float(found.scores.min()), LEAST_SCORE, "")
    report.finish()


if __name__ == "__main__":
    main()
