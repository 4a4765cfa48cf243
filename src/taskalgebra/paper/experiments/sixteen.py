"""Learn four tables, compose all 16 tasks from them, and let each composed policy act.

The common part of the supplement's box plots (`relaxed` and `slips`).  The tables of the universal
and of the empty task are learned like those of `top` and `left`.  However a policy was learned, it
is judged in one way: sparse rewards, all four goals absorbing, random starts, at most 100 steps.

A failure is an episode that is cut off or ends in a wrong goal.  With many slips the *optimal*
policy fails too: from far away a wrong goal nearby is cheaper than the way to the right one.  Its
failure rate stands beside that of the composed policy.

A policy has a *trap* where it stands still for ever outside goals.  With a constant learning rate
below 1 the values of a slippery world never come to rest.  Q̄(s, g, STAY) is what V̄(s, g) was a few
visits ago, less one step: where V̄ has just fallen by more than that, STAY looks best.

Intervals are of the mean over runs (`taskalgebra.paper.results.resampling`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.algebra import Bounds
from taskalgebra.paper.experiments.episodes import CUT_OFF, OUTCOMES, WRONG, Episodes, play
from taskalgebra.paper.experiments.rooms import (
    BASE,
    SIXTEEN,
    Learning,
    Setting,
    has_trap,
    is_optimal,
    marks,
    optimum,
)
from taskalgebra.paper.results.labels import COMPOSED, OPTIMAL
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.paper.results.resampling import interval
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import Sweep
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import compose


@dataclass(frozen=True)
class Protocol(Learning):
    """How much to learn and how long to judge."""

    runs: int = 60
    """How often everything is learned from scratch; the paper does not say."""
    evaluation_episodes: int = 100_000
    """Episodes to judge each task by, shared among the runs and rounded up."""
    max_steps: int = 100
    """Evaluation episodes are cut off after this many steps."""
    seed: int = 0
    """Of all random numbers."""

    @property
    def episodes_of_a_run(self) -> int:
        """Episodes to judge the policy of one run by."""
        return math.ceil(self.evaluation_episodes / self.runs)

    def play(self, task: Task, actions: NDArray[np.int64], episodes: int, *seeds: int) -> Episodes:
        """The episodes by which a policy is judged."""
        return play(
            task,
            actions,
            episodes=episodes,
            max_steps=self.max_steps,
            seed=seed_of(self.seed, *seeds),
        )


class _Judge(NamedTuple):
    """One of the 16 sparse tasks, all four goals absorbing, and its optimum."""

    task: Task
    v_star: Array  # [S]
    best: NDArray[np.int64]  # [S], optimal actions


class _Judged(NamedTuple):
    episodes: Episodes
    learning_steps: int
    trapped_tables: int  # of the four learned ones
    trapped: bool
    optimal: bool


def run_variants(
    name: str,
    protocol: Protocol,
    variants: Mapping[str, Setting],
    sweep: Sweep,
) -> Result:
    """Means for each variant and task; the gaps of single runs, a column per task; counts."""
    jobs = [(v, r) for v in range(len(variants)) for r in range(protocol.runs)]
    settings = list(variants.values())
    slips = list(dict.fromkeys(setting.slip_probability for setting in settings))
    judges = {slip: _judges(slip) for slip in slips}
    runs_of = sweep.part(0.0, 0.95).map(
        _one_run, [(settings[v], protocol, (v, r)) for v, r in jobs]
    )
    best = sweep.part(0.95, 1.0).map(_best, [(s, protocol, v) for v, s in enumerate(settings)])

    def unpacked(v: int, rows: Sequence[tuple[Any, ...]]) -> list[_Judged]:
        own = judges[settings[v].slip_probability]
        return [
            _Judged(Episodes(judge.task, *arrays), *facts)
            for judge, (*arrays, facts) in zip(own, rows, strict=True)
        ]

    judged = {(v, r): unpacked(v, rows) for (v, r), rows in zip(jobs, runs_of, strict=True)}
    optima = [
        [
            Episodes(judge.task, *arrays)
            for judge, arrays in zip(judges[setting.slip_probability], rows, strict=True)
        ]
        for setting, rows in zip(settings, best, strict=True)
    ]

    counts: list[tuple[object, ...]] = []
    runs: dict[tuple[int, int], dict[str, object]] = {}
    summary: list[dict[str, object]] = []
    for v, (variant, setting) in enumerate(variants.items()):
        for t, expression in enumerate(SIXTEEN):
            task, v_star, _ = judges[setting.slip_probability][t]
            here = [judged[v, r][t] for r in range(protocol.runs)]
            pooled = reduce(Episodes.add, (one.episodes for one in here))
            named = {"variant": variant, "task": str(expression)}
            for policy, episodes in ((COMPOSED, pooled), (OPTIMAL, optima[v][t])):
                counts += [(*named.values(), policy, *row) for row in _counted(episodes)]
            lost = [one.episodes.mean_of(v_star) - one.episodes.mean for one in here]
            gap, failing = (
                (float(low), float(high))
                for low, high in map(interval, (lost, [one.episodes.failure_rate for one in here]))
            )
            for r in range(protocol.runs):
                row = runs.setdefault((v, r), _facts(variant, r, judged[v, r]))
                row[str(expression)] = round(lost[r], 6) + 0.0  # no −0
            summary.append(
                {
                    **named,
                    "goals": marks(task.desired),
                    "mean": pooled.mean,
                    "optimum": float(v_star[task.space.mdp.starts].mean()),
                    "gap": pooled.mean_of(v_star) - pooled.mean,
                    "gap_low": gap[0],
                    "gap_high": gap[1],
                    "failure_rate": pooled.failure_rate,
                    "failure_low": failing[0],
                    "failure_high": failing[1],
                    "wrong_goal_rate": pooled.rate(WRONG),
                    "cut_off_rate": pooled.rate(CUT_OFF),
                    "optimum_failure_rate": optima[v][t].failure_rate,
                    "trapped_runs": sum(one.trapped for one in here),
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
            f"{name}_runs": Table.of_dicts(list(runs.values())),
            f"{name}_returns": Table.of_rows(columns, counts),
        },
    )


def _facts(variant: str, run: int, judged: Sequence[_Judged]) -> dict[str, object]:
    """What a row about a run begins with."""
    return {
        "variant": variant,
        "run": run,
        "learning_steps": judged[0].learning_steps,
        "trapped_tables": judged[0].trapped_tables,
        "optimal_tasks": sum(one.optimal for one in judged),
    }


@lru_cache(16)
def _judges(slip_probability: float) -> list[_Judge]:
    world = FourRooms(slip_probability=slip_probability)
    tasks = [world.find_task(expression) for expression in SIXTEEN]
    return [_Judge(task, *optimum(task)) for task in tasks]


def _best(cell: tuple[Setting, Protocol, int]) -> list[tuple[Any, ...]]:
    """The optimal policies of a variant, played as often as all composed ones together."""
    setting, protocol, v = cell
    episodes = protocol.episodes_of_a_run * protocol.runs
    played = (
        protocol.play(judge.task, judge.best, episodes, 2, v, t)
        for t, judge in enumerate(_judges(setting.slip_probability))
    )
    return [(each.counts, each.n_started) for each in played]


def _one_run(cell: tuple[Setting, Protocol, tuple[int, int]]) -> list[tuple[Any, ...]]:
    """Learn the four tables of one run, and judge the 16 policies that follow from them."""
    setting, protocol, job = cell
    judges = _judges(setting.slip_probability)
    runs = [
        protocol.learn(setting, name, seed_of(protocol.seed, 0, *job, i))
        for i, name in enumerate((*BASE, "true", "false"))  # the last two: M_U and M_∅
    ]
    *base, universal, empty = (run.q for run in runs)
    tables, bounds = dict(zip(BASE, base, strict=True)), Bounds(universal, empty)
    steps = sum(run.n_steps for run in runs)
    trapped_tables = sum(has_trap(judges[0].task, greedy(run.q)) for run in runs)
    judged = []
    for t, (expression, (task, v_star, _)) in enumerate(zip(SIXTEEN, judges, strict=True)):
        actions = greedy(compose(expression, tables, bounds))
        episodes = protocol.play(task, actions, protocol.episodes_of_a_run, 1, *job, t)
        trapped = has_trap(task, actions)
        optimal = is_optimal(task, actions, v_star)
        facts = (steps, trapped_tables, trapped, optimal)
        judged.append((episodes.counts, episodes.n_started, facts))
    return judged


def _counted(episodes: Episodes) -> list[tuple[str, float, int]]:
    """Outcome, return and number of episodes, without the zeros."""
    counts, returns = episodes.counts, episodes.returns()
    return [
        (OUTCOMES[i], round(float(returns[i, n]), 10), int(counts[i, n]))
        for i, n in np.argwhere(counts)
    ]
