"""Fig. 6 and the supplement's figure of returns: what composed networks earn in Boxman.

Every task is played by the composition of the skills, screen by screen, and held against two exact
numbers: the optimum of the task, and what the composition of exact values earns.  Where tasks share
their absorbing states the two are equal; by touch they are not (`boxman_exact`).

With fixed objects every start is played once, so the figures are no estimates, and their intervals
have no width.  With random objects the starts are a sample.  It shares no seed with the training,
nor with the starts by which the weights were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taskalgebra.envs.boxman import env as boxman
from taskalgebra.envs.boxman.board import Codes
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.paper.experiments.boxman.settings import (
    SETTINGS,
    exact_skills,
    expression_text,
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
from taskalgebra.paper.results.parallel import Progress, part
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.finite import NO_GOAL

NAME = "boxman_returns"
OF_SUBSETS = (
    *("setting", "objects", "n_objects", "expression", "mean", "optimum", "score", "success"),
    *("failures", "optimal_episodes", "episodes"),
)
_NORMAL_95 = 1.96
_SHARE = {FIXED: 0.01, RANDOM: 0.55, TOUCH: 0.44}  # of the time; only progress is told by it


@dataclass(frozen=True)
class Config:
    """Play every task of every setting."""

    episodes: int = 1000
    """Starts with random objects; with fixed ones every start is played."""
    seed: int = 2020
    """Of the starts."""


QUICK = Config(episodes=20)


def run(
    config: Config, skills: Mapping[str, Skills], workers: int = 2, progress: Progress | None = None
) -> Result:
    """Run the experiment.

    The main table has one row a setting and task.  `boxman_returns_counts` counts episodes by
    return and outcome.  `boxman_subsets` has one row for each of the 63 sets of objects.
    """
    rows: list[dict[str, object]] = []
    counts: list[tuple[object, ...]] = []
    subsets: list[tuple[object, ...]] = []
    done = 0.0
    for name, own in skills.items():
        setting, world = SETTINGS[name], world_of(own)
        codes = starts(world, config.episodes, config.seed)
        agents = [own[expression_text(task)] for task in setting.tasks]
        sets = [task for task in all_tasks(world) if setting.subsets and task in own]
        every = [*agents, *(own[task] for task in sets)]
        outcomes = _play(world, codes, every, workers, part(progress, done, done + _SHARE[name]))
        exact = exact_skills(own, layouts(world, codes))
        for text, agent, outcome in zip(setting.tasks, agents, outcomes, strict=False):
            ceiling = play_table(world, codes, agent.task, exact.q_bar(agent.expression))
            kind = "base" if text in setting.base else "composed"
            named = {"setting": name, "task": text, "kind": kind}
            rows.append({**named, **_figures(world, outcome, ceiling)})
            counts += _counts((name, text), outcome, ceiling)
        for task, agent, outcome in zip(
            sets, every[len(agents) :], outcomes[len(agents) :], strict=True
        ):
            subsets.append(_subset(name, task, agent, outcome))
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


def _play(
    world: Boxman, codes: Codes, agents: list[Agent], workers: int, progress: Progress | None
) -> list[Outcome]:
    """The episodes of several agents, each from every start."""
    chosen = actions_on_cells(
        world, [agent.values for agent in agents], codes, workers=workers, progress=progress
    )
    return [
        play_actions(world, codes, agent.task, actions)
        for agent, actions in zip(agents, chosen, strict=True)
    ]


def _figures(world: Boxman, outcome: Outcome, ceiling: Outcome) -> dict[str, object]:
    found, exact = outcome.evaluation, float(ceiling.returns.mean())
    mean, reach = found.mean_return, _NORMAL_95 * found.standard_error
    low, high = found.success_interval
    if world.layout == boxman.FIXED:
        reach, low, high = 0.0, found.success_rate, found.success_rate
    figures: dict[str, float] = {
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
        "exact_composition": exact,
        "score_of_exact": ceiling.score,
        "score_to_exact": mean / exact,
    }
    return dict(zip(figures, _rounded(*figures.values()), strict=True))


def _rounded(*numbers: float) -> tuple[float, ...]:
    """Without the noise of summing in another order; whole numbers stay whole."""
    return tuple(round(number, 9) for number in numbers)


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


def _ends(outcome: Outcome) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.where(
        outcome.success,
        "wanted object",
        np.where(outcome.goals == NO_GOAL, "cut off", "wrong object"),
    )


def _subset(name: str, task: Task, agent: Agent, outcome: Outcome) -> tuple[object, ...]:
    found = outcome.evaluation
    objects = [task.space.goal_names[g] for g in np.flatnonzero(task.desired)]
    return (
        name,
        " + ".join(objects),
        len(objects),
        str(agent.expression),
        *_rounded(found.mean_return, found.optimal_return, found.score, found.success_rate),
        found.episodes - found.n_success,
        outcome.n_optimal,
        found.episodes,
    )
