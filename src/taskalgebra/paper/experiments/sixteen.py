"""Learn four tables, compose all 16 tasks from them, and let each composed policy act.

The common part of the supplement's box plots (`relaxed` and `slips`).  The tables of the universal
and of the empty task are learned like those of `top` and `left`.  However a policy was learned, it
is judged in one way: sparse rewards, all four goals absorbing, random starts, at most 100 steps.

A failure is an episode that is cut off or ends in a wrong goal.  With many slips the *optimal*
policy fails too: from far away a wrong goal nearby is cheaper than the way to the right one.  Its
failure rate stands beside that of the composed policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.play import policy_return
from taskalgebra.learning.q_learning import Settings
from taskalgebra.logic.algebra import Bounds
from taskalgebra.paper.experiments.episodes import (
    CUT_OFF,
    OUTCOMES,
    WRONG,
    Episodes,
    play,
)
from taskalgebra.paper.experiments.parallel import Progress, part, seed_of, spread
from taskalgebra.paper.experiments.record import Table
from taskalgebra.paper.experiments.rooms import (
    BASE,
    EXACT,
    SIXTEEN,
    Setting,
    compose_actions,
    learn,
    marks,
    optimal_actions,
)
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.tasks import Task

NAMES = (*BASE, "true", "false")  # the last two: M_U and M_∅
OPTIMAL = "optimal policy"


@dataclass(frozen=True)
class Protocol:
    """How much to learn and how long to judge."""

    learning: Settings
    learning_episodes: int
    runs: int
    evaluation_episodes: int
    max_steps: int
    seed: int


@dataclass(frozen=True)
class _Judged:
    episodes: Episodes
    learning_steps: int
    optimal: bool


def run_variants(
    variants: Mapping[str, Setting], protocol: Protocol, workers: int, progress: Progress | None
) -> dict[str, Table]:
    """Tables of counts, of runs and of means for each variant and task."""
    jobs = [(v, r) for v in range(len(variants)) for r in range(protocol.runs)]
    settings = list(variants.values())
    judges = {s.slip_probability: _judges(s.slip_probability) for s in settings}

    def one_run(job: tuple[int, int]) -> list[_Judged]:
        v, r = job
        return _one_run(settings[v], protocol, (v, r), judges[settings[v].slip_probability])

    def best(v: int) -> list[Episodes]:
        policies = [optimal_actions(task) for task, _ in judges[settings[v].slip_probability]]
        seeds = [seed_of(protocol.seed, 2, v, t) for t in range(len(SIXTEEN))]
        tasks = [task for task, _ in judges[settings[v].slip_probability]]
        return [
            play(
                task,
                actions,
                episodes=protocol.evaluation_episodes,
                max_steps=protocol.max_steps,
                seed=seed,
            )
            for task, actions, seed in zip(tasks, policies, seeds, strict=True)
        ]

    judged = dict(
        zip(
            jobs,
            spread(one_run, jobs, workers=workers, progress=part(progress, 0.0, 0.9)),
            strict=True,
        )
    )
    optima = spread(best, range(len(variants)), workers=workers, progress=part(progress, 0.9, 1.0))

    counts: list[tuple[Any, ...]] = []
    runs: list[tuple[Any, ...]] = []
    summary: list[tuple[Any, ...]] = []
    for v, (variant, setting) in enumerate(variants.items()):
        for t, expression in enumerate(SIXTEEN):
            task, v_star = judges[setting.slip_probability][t]
            optimum = float(v_star[task.space.mdp.starts].mean())
            here = [judged[v, r][t] for r in range(protocol.runs)]
            pooled = here[0].episodes
            for other in here[1:]:
                pooled = pooled.add(other.episodes)
            label = (variant, str(expression))
            counts += [(*label, "composed", *row) for row in _counted(pooled)]
            counts += [(*label, OPTIMAL, *row) for row in _counted(optima[v][t])]
            runs += [
                (
                    *label,
                    r,
                    one.learning_steps,
                    one.episodes.mean,
                    one.episodes.mean_of(v_star) - one.episodes.mean,
                    one.episodes.rate(WRONG),
                    one.episodes.rate(CUT_OFF),
                    one.optimal,
                )
                for r, one in enumerate(here)
            ]
            summary.append(
                (
                    *label,
                    marks(task.desired),
                    pooled.mean,
                    optimum,
                    pooled.mean_of(v_star) - pooled.mean,
                    pooled.failure_rate,
                    pooled.rate(WRONG),
                    pooled.rate(CUT_OFF),
                    optima[v][t].failure_rate,
                    sum(one.optimal for one in here),
                    len(here),
                )
            )
    return {
        "counts": Table.of_rows(
            ("variant", "task", "policy", "outcome", "return", "episodes"), counts
        ),
        "runs": Table.of_rows(
            (
                "variant",
                "task",
                "run",
                "learning_steps",
                "mean",
                "gap",
                "wrong_goal_rate",
                "cut_off_rate",
                "optimal",
            ),
            runs,
        ),
        "summary": Table.of_rows(
            (
                "variant",
                "task",
                "goals",
                "mean",
                "optimum",
                "gap",
                "failure_rate",
                "wrong_goal_rate",
                "cut_off_rate",
                "optimum_failure_rate",
                "optimal_runs",
                "runs",
            ),
            summary,
        ),
    }


def _judges(slip_probability: float) -> list[tuple[Task, Array]]:
    """The 16 sparse tasks, all four goals absorbing, and V* of each."""
    world = FourRooms(slip_probability=slip_probability)
    tasks = [world.find_task(expression) for expression in SIXTEEN]
    return [(task, optimal_v(task)) for task in tasks]


def _one_run(
    setting: Setting,
    protocol: Protocol,
    job: tuple[int, int],
    judges: Sequence[tuple[Task, Array]],
) -> list[_Judged]:
    """Learn the four tables of one run, and judge the 16 policies that follow from them."""
    learned = {
        name: learn(
            setting,
            name,
            episodes=protocol.learning_episodes,
            learning=protocol.learning,
            seed=seed_of(protocol.seed, 0, *job, i),
        )
        for i, name in enumerate(NAMES)
    }
    steps = sum(n for _, n in learned.values())
    bounds = Bounds(learned["true"][0], learned["false"][0])
    policies = compose_actions(SIXTEEN, {name: learned[name][0] for name in BASE}, bounds)
    judged = []
    for t, ((task, v_star), actions) in enumerate(zip(judges, policies, strict=True)):
        starts = task.space.mdp.starts
        gap = v_star[starts] - policy_return(task, actions)[starts]
        episodes = play(
            task,
            actions,
            episodes=protocol.evaluation_episodes,
            max_steps=protocol.max_steps,
            seed=seed_of(protocol.seed, 1, *job, t),
        )
        judged.append(_Judged(episodes, steps, bool((gap <= EXACT).all())))
    return judged


def _counted(episodes: Episodes) -> list[tuple[str, float, int]]:
    """Outcome, return and number of episodes, without the zeros."""
    counts, returns = episodes.by_outcome(), episodes.returns()
    return [
        (OUTCOMES[i], round(float(returns[i, n]), 10), int(counts[i, n]))
        for i, n in np.argwhere(counts)
    ]
