"""Fig. 6 and the supplement's figure of returns: what composed networks earn in Boxman.

Every task is played by the composition of the skills, screen by screen, and compared with two exact
numbers: the optimum of the task, and what the composition of exact values earns.  Where tasks share
their absorbing states the two are equal; by touch they are not (`boxman.exact`).

With fixed objects every start is played once, so the figures are exact and their intervals have no
width.  With random objects the starts are a sample.  It shares no seed with the training,
nor with the starts by which the weights were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskalgebra.envs.boxman import env as boxman
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.paper.experiments.boxman.settings import (
    SETTINGS,
    exact_skills,
    expression_text,
    network_name,
    world_of,
)
from taskalgebra.paper.experiments.boxman.tables import (
    Outcome,
    actions_on_cells,
    all_tasks,
    layouts,
    play_actions,
    play_table,
    starts,
)
from taskalgebra.paper.results.labels import AGENT, EXACT, FIXED, OPTIMAL, RANDOM, TOUCH
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.worlds.finite import NO_GOAL

NAME = "boxman_returns"
OF_SUBSETS = (
    *("setting", "objects", "n_objects", "expression", "mean", "optimum", "score", "success"),
    *("failures", "optimal_episodes", "episodes"),
)
_NORMAL_95 = 1.96
_SHARE = {FIXED: 0.01, RANDOM: 0.55, TOUCH: 0.44}  # of the time, for progress


@dataclass(frozen=True)
class Config:
    """Play every task of every setting."""

    episodes: int = 1000
    """Starts with random objects; with fixed ones every start is played."""
    seed: int = 2020
    """Of the starts."""


QUICK = Config(episodes=20)


def run(config: Config, skills: Mapping[str, Skills], sweep: Sweep = ALONE) -> Result:
    """Run the experiment.

    The main table has one row per setting and task.  `boxman_returns_counts` counts episodes by
    return and outcome.  `boxman_subsets` has one row for each of the 63 sets of objects.
    """
    rows: list[dict[str, object]] = []
    counts: list[tuple[object, ...]] = []
    subsets: list[tuple[object, ...]] = []
    done = 0.0
    for name, own in skills.items():
        setting, world = SETTINGS[name], world_of(own)
        network = network_name(own)
        codes = starts(world, config.episodes, config.seed)
        agents = [own.for_task(expression_text(task)) for task in setting.tasks]
        if world.shared_absorbing:  # any set of objects is a task
            agents += [own.for_task(task) for task in all_tasks(world) if task in own]
        actions = actions_on_cells(
            world,
            [agent.values for agent in agents],
            codes,
            sweep=sweep.part(done, done + _SHARE[name]),
        )
        outcomes = [
            play_actions(world, codes, agent.task, chosen)
            for agent, chosen in zip(agents, actions, strict=True)
        ]
        exact = exact_skills(own, layouts(world, codes))
        for text, agent, outcome in zip(setting.tasks, agents, outcomes, strict=False):
            ceiling = play_table(world, codes, agent.task, exact.q_bar(agent.expression))
            kind = "base" if text in setting.base else "composed"
            named = {"setting": name, "task": text, "kind": kind, "network": network}
            rows.append({**named, **_figures(world, outcome), **_compared(outcome, ceiling)})
            counts += _counts((name, text), outcome, ceiling)
        for i in range(len(setting.tasks), len(agents)):
            subsets.append(_subset(name, agents[i], _figures(world, outcomes[i])))
        done += _SHARE[name]
    return Result(
        NAME,
        as_json(config),
        {
            NAME: Table.of_dicts(rows),
            f"{NAME}_counts": Table.of_rows(
                ("setting", "task", "policy", "return", "outcome", "episodes"), counts
            ),
            "boxman_subsets": Table.of_rows(OF_SUBSETS, subsets),
        },
    )


def _figures(world: Boxman, outcome: Outcome) -> dict[str, float]:
    found = outcome.evaluation
    mean, reach = found.mean_return, _NORMAL_95 * found.standard_error
    low, high = found.success_interval
    if world.layout == boxman.FIXED:
        reach, low, high = 0.0, found.success_rate, found.success_rate
    return _rounded(
        {
            "episodes": found.episodes,
            "mean": mean,
            "mean_low": mean - reach,
            "mean_high": mean + reach,
            "optimum": found.optimal_return,
            "score": found.score,
            "success": found.success_rate,
            "success_low": low,
            "success_high": high,
            "failures": found.episodes - found.n_success,
            "cut_off": found.unfinished,
            "optimal_episodes": outcome.n_optimal,
        }
    )


def _compared(outcome: Outcome, ceiling: Outcome) -> dict[str, float]:
    """The exact composition, against the optimum and against what was earned."""
    exact = float(ceiling.returns.mean())
    return _rounded(
        {
            "exact_composition": exact,
            "score_of_exact": ceiling.score,
            "score_to_exact": float(outcome.returns.mean()) / exact,
        }
    )


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    """Without the noise of summing in another order; whole numbers stay whole."""
    return {name: round(number, 9) for name, number in figures.items()}


def _counts(task: tuple[str, str], outcome: Outcome, ceiling: Outcome) -> list[tuple[object, ...]]:
    """Episodes by policy, return and outcome."""
    rows: list[tuple[object, ...]] = []
    best = np.full(outcome.returns.size, "wanted object")
    for policy, returns, ends in (
        (AGENT, outcome.returns, _ends(outcome)),
        (OPTIMAL, outcome.optimal, best),
        (EXACT, ceiling.returns, _ends(ceiling)),
    ):
        pairs = list(zip(returns.round(6).tolist(), ends.tolist(), strict=True))
        rows += [(*task, policy, *pair, pairs.count(pair)) for pair in sorted(set(pairs))]
    return rows


def _ends(outcome: Outcome) -> NDArray[np.str_]:
    failed = np.where(outcome.goals == NO_GOAL, "cut off", "wrong object")
    return np.where(outcome.success, "wanted object", failed)


def _subset(name: str, agent: Agent, figures: dict[str, float]) -> tuple[object, ...]:
    task = agent.task
    objects = [task.space.goal_names[g] for g in np.flatnonzero(task.desired)]
    which = (name, " + ".join(objects), len(objects), str(agent.expression))
    return *which, *(figures[column] for column in OF_SUBSETS[len(which) :])
