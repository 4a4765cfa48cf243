"""Fig. 4, Fig. 5 and their twins in the supplement: extended values of networks on every cell.

The agent is put on every cell of one layout.  For each task and goal the table has the largest
value over actions, V̄(s, g), and the largest over goals, V(s), both of networks and of exact values.
By touch the exact values are those of the exact composition (`boxman.exact`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.boxman.board import Codes
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep.threads import one_thread
from taskalgebra.paper.experiments.boxman.settings import SETTINGS, exact_skills, world_of
from taskalgebra.paper.experiments.boxman.tables import play_table, screens, starts
from taskalgebra.paper.results.labels import FIXED, TOUCH
from taskalgebra.paper.results.parallel import Progress
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import q_bars

NAME = "boxman_values"
SHOWN = (FIXED, TOUCH)


@dataclass(frozen=True)
class Config:
    """Look at one layout per setting."""

    layout_seed: int = 3
    """Of the random layout by touch."""


QUICK = Config()


def run(
    config: Config, skills: Mapping[str, Skills], workers: int = 2, progress: Progress | None = None
) -> Result:
    """Run the experiment.

    The main table has one row per setting, task and cell.  `boxman_values_objects` says where the
    objects lie, and which tasks desire them; `boxman_values_errors` compares with exact values.
    """
    cells: list[tuple[object, ...]] = []
    objects: list[tuple[object, ...]] = []
    errors: list[dict[str, object]] = []
    names: tuple[str, ...] = ()
    for name in SHOWN:
        own, setting = skills[name], SETTINGS[name]
        world, code = world_of(own), layout(world_of(own), config.layout_seed)
        names = world.board.objects
        agents = [own[text] for text in setting.tasks]
        (batch,) = screens(world, code)
        with one_thread():
            learned = q_bars([agent.values for agent in agents], batch)
        exact = exact_skills(own, code)
        for text, agent, q_bar in zip(setting.tasks, agents, learned, strict=True):
            (best,) = exact.q_bar(agent.expression)
            cells += _cells(world, (name, text), q_bar, best)
            off = _errors(world, code, agent.task, q_bar, best)
            errors.append({"setting": name, "task": text, **off})
        for number, place in enumerate(code[0, 2:].tolist()):
            row, column = world.board.cells[place].tolist()
            desiring = [
                text
                for text, agent in zip(setting.tasks, agents, strict=True)
                if world.desired_goals(agent.task)[number]
            ]
            objects.append((name, names[number], row, column, " ; ".join(desiring)))
    per_goal = [f"{kind} {goal}" for kind in ("learned", "exact") for goal in (*names, "max")]
    where = ("setting", "task", "row", "column")
    return Result(
        NAME,
        as_json(config),
        {
            NAME: Table.of_rows((*where, "action", *per_goal), cells),
            f"{NAME}_objects": Table.of_rows(
                ("setting", "object", "row", "column", "wanted_by"), objects
            ),
            f"{NAME}_errors": Table.of_dicts(errors),
        },
    )


def layout(world: Boxman, seed: int) -> Codes:
    """[1, …], the layout that is looked at."""
    return starts(world, 1, seed)[:1]


def _cells(
    world: Boxman, names: tuple[str, str], learned: Array, exact: Array
) -> list[tuple[object, ...]]:
    columns = [_by_goal(learned), _by_goal(exact)]
    actions = greedy(learned)
    return [
        (
            *names,
            *world.board.cells[s].tolist(),
            world.space.action_names[actions[s]],
            *(round(float(x), 6) for values in columns for x in values[s]),
        )
        for s in range(world.board.n_cells)
    ]


def _by_goal(q_bar: Array) -> Array:
    """[cells, G + 1], V̄(s, g) and then V(s)."""
    v_bar = q_bar.max(axis=-1)
    return np.column_stack((v_bar, v_bar.max(axis=1)))


def _errors(
    world: Boxman, code: Codes, task: Task, learned: Array, exact: Array
) -> dict[str, object]:
    """How far values are off, on cells that an episode of the task can visit; and actions."""
    reachable = np.ones(world.board.n_cells, np.bool_)
    if world.by_touch:
        reachable[code[0, 2:][world.desired_goals(task)]] = False
    apart = np.abs(_by_goal(learned) - _by_goal(exact))[reachable]
    first = np.repeat(code, int(reachable.sum()), axis=0)
    first[:, 0] = np.flatnonzero(reachable)
    first[:, 1] = 0
    played = play_table(world, first, task, learned[None])
    v_bar, v = apart[:, :-1], apart[:, -1]
    return {
        "largest_error": round(float(v_bar.max()), 6),
        "mean_error": round(float(v_bar.mean()), 6),
        "largest_error_of_v": round(float(v.max()), 6),
        "mean_error_of_v": round(float(v.mean()), 6),
        "optimal_starts": played.n_optimal,
        "starts": len(first),
    }
