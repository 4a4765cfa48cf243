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
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.algebra import Bounds
from taskalgebra.paper.experiments.episodes import CUT_OFF, OUTCOMES, WRONG, Episodes, play
from taskalgebra.paper.experiments.rooms import (
    BASE,
    EXACT,
    SIXTEEN,
    Learning,
    Setting,
    gaps,
    marks,
    optimal_actions,
)
from taskalgebra.paper.results.labels import COMPOSED, OPTIMAL
from taskalgebra.paper.results.parallel import Progress, part, seed_of, spread
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.planning.exact import optimal_v
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import compose


@dataclass(frozen=True)
class Protocol(Learning):
    """How much to learn and how long to judge."""

    runs: int = 5
    """How often everything is learned from scratch; the paper does not say, and shows one."""
    evaluation_episodes: int = 100_000
    """Episodes to judge each composed policy by, in each run."""
    max_steps: int = 100
    """Evaluation episodes are cut off after this many steps."""
    seed: int = 0
    """Of all random numbers."""

    def play(self, task: Task, actions: NDArray[np.int64], *seeds: int) -> Episodes:
        """The episodes by which a policy is judged."""
        return play(
            task,
            actions,
            episodes=self.evaluation_episodes,
            max_steps=self.max_steps,
            seed=seed_of(self.seed, *seeds),
        )


class _Judged(NamedTuple):
    episodes: Episodes
    learning_steps: int
    optimal: bool


def run_variants(
    name: str,
    protocol: Protocol,
    variants: Mapping[str, Setting],
    workers: int,
    progress: Progress | None,
) -> Result:
    """The main table has means for each variant and task; others have single runs, and counts."""
    jobs = [(v, r) for v in range(len(variants)) for r in range(protocol.runs)]
    settings = list(variants.values())
    judges = {s.slip_probability: _judges(s.slip_probability) for s in settings}

    def one_run(job: tuple[int, int]) -> list[_Judged]:
        v, r = job
        return _one_run(settings[v], protocol, (v, r), judges[settings[v].slip_probability])

    def best(v: int) -> list[Episodes]:
        tasks = [task for task, _ in judges[settings[v].slip_probability]]
        return [protocol.play(task, optimal_actions(task), 2, v, t) for t, task in enumerate(tasks)]

    found = spread(one_run, jobs, workers=workers, progress=part(progress, 0.0, 0.9))
    judged = dict(zip(jobs, found, strict=True))
    optima = spread(best, range(len(variants)), workers=workers, progress=part(progress, 0.9, 1.0))

    counts: list[tuple[object, ...]] = []
    runs: list[dict[str, object]] = []
    summary: list[dict[str, object]] = []
    for v, (variant, setting) in enumerate(variants.items()):
        for t, expression in enumerate(SIXTEEN):
            task, v_star = judges[setting.slip_probability][t]
            here = [judged[v, r][t] for r in range(protocol.runs)]
            pooled = reduce(Episodes.add, (one.episodes for one in here))
            named = {"variant": variant, "task": str(expression)}
            for policy, episodes in ((COMPOSED, pooled), (OPTIMAL, optima[v][t])):
                counts += [(*named.values(), policy, *row) for row in _counted(episodes)]
            runs += [
                {
                    **named,
                    "run": r,
                    "learning_steps": one.learning_steps,
                    "mean": one.episodes.mean,
                    "gap": one.episodes.mean_of(v_star) - one.episodes.mean,
                    "wrong_goal_rate": one.episodes.rate(WRONG),
                    "cut_off_rate": one.episodes.rate(CUT_OFF),
                    "optimal": one.optimal,
                }
                for r, one in enumerate(here)
            ]
            summary.append(
                {
                    **named,
                    "goals": marks(task.desired),
                    "mean": pooled.mean,
                    "optimum": float(v_star[task.space.mdp.starts].mean()),
                    "gap": pooled.mean_of(v_star) - pooled.mean,
                    "failure_rate": pooled.failure_rate,
                    "wrong_goal_rate": pooled.rate(WRONG),
                    "cut_off_rate": pooled.rate(CUT_OFF),
                    "optimum_failure_rate": optima[v][t].failure_rate,
                    "optimal_runs": sum(one.optimal for one in here),
                    "runs": len(here),
                }
            )
    columns = ("variant", "task", "policy", "outcome", "return", "episodes")
    return Result(
        name,
        as_json(protocol),
        {
            name: Table.of_dicts(summary),
            f"{name}_runs": Table.of_dicts(runs),
            f"{name}_returns": Table.of_rows(columns, counts),
        },
    )


def _judges(slip_probability: float) -> list[tuple[Task, Array]]:
    """The 16 sparse tasks, all four goals absorbing, and V* of each."""
    world = FourRooms(slip_probability=slip_probability)
    tasks = [world.find_task(expression) for expression in SIXTEEN]
    return [(task, optimal_v(task)) for task in tasks]


def _one_run(
    setting: Setting, protocol: Protocol, job: tuple[int, int], judges: Sequence[tuple[Task, Array]]
) -> list[_Judged]:
    """Learn the four tables of one run, and judge the 16 policies that follow from them."""
    runs = [
        protocol.learn(setting, name, seed_of(protocol.seed, 0, *job, i))
        for i, name in enumerate((*BASE, "true", "false"))  # the last two: M_U and M_∅
    ]
    *base, universal, empty = (run.q for run in runs)
    tables, bounds = dict(zip(BASE, base, strict=True)), Bounds(universal, empty)
    steps = sum(run.n_steps for run in runs)
    judged = []
    for t, (expression, (task, _)) in enumerate(zip(SIXTEEN, judges, strict=True)):
        actions = greedy(compose(expression, tables, bounds))
        episodes = protocol.play(task, actions, 1, *job, t)
        judged.append(_Judged(episodes, steps, bool((gaps(task, actions) <= EXACT).all())))
    return judged


def _counted(episodes: Episodes) -> list[tuple[str, float, int]]:
    """Outcome, return and number of episodes, without the zeros."""
    counts, returns = episodes.counts, episodes.returns()
    return [
        (OUTCOMES[i], round(float(returns[i, n]), 10), int(counts[i, n]))
        for i, n in np.argwhere(counts)
    ]
