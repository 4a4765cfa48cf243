"""Fig. 4, Fig. 5 and their twins in the supplement: extended values of networks on every cell.

The agent is put on every cell of one layout.  For each task and goal the table has the largest
value over actions, V̄(s, g), and the largest over goals, V(s), both of networks and of exact values.
By touch the exact values are those of the exact composition (`boxman.exact`).

By touch a base task ends with the objects that it wants, so that an agent that has touched one
cannot reach the others any more.  There the values of the others dip; `boxman_values_touched` has
V̄(s, g) beside the touched object and after it was touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.envs.boxman.board import Codes
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.learning.deep.threads import one_thread
from taskalgebra.paper.experiments.boxman.settings import SETTINGS, exact_skills, world_of
from taskalgebra.paper.experiments.boxman.tables import play_table, screens, starts
from taskalgebra.paper.results.labels import FIXED, TOUCH
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.tasks import Task
from taskalgebra.theory.values import q_bars

NAME = "boxman_values"
SHOWN = (FIXED, TOUCH)
OF_TOUCHED = (
    *("setting", "task", "touched", "goal", "met"),
    *("beside", "after", "exact_beside", "exact_after"),
)


@dataclass(frozen=True)
class Config:
    """Look at one layout per setting."""

    layout_seed: int = 3
    """Of the random layout by touch."""


QUICK = Config()


def run(config: Config, skills: Mapping[str, Skills], sweep: Sweep = ALONE) -> Result:
    """Run the experiment.

    The main table has one row per setting, task and cell.  `boxman_values_objects` says where the
    objects lie, which tasks desire them, and which base tasks met them in training: the values of
    others were not learned.  `boxman_values_errors` compares with exact values.
    `boxman_values_touched` has one row per base task that ends by touch and per pair of objects
    that it wants.
    """
    cells: list[tuple[object, ...]] = []
    objects: list[tuple[object, ...]] = []
    errors: list[dict[str, object]] = []
    touched: list[tuple[object, ...]] = []
    names: tuple[str, ...] = ()
    for name in SHOWN:
        own, setting = skills[name], SETTINGS[name]
        world, code = world_of(own), layout(world_of(own), config.layout_seed)
        names = world.board.objects
        agents = [own.for_task(text) for text in setting.tasks]
        (batch,) = screens(world, code)
        with one_thread():
            learned = q_bars([agent.values for agent in agents], batch)
        exact = exact_skills(own, code)
        for text, agent, q_bar in zip(setting.tasks, agents, learned, strict=True):
            (best,) = exact.q_bar(agent.expression)
            cells += _cells(world, (name, text), q_bar, best)
            off = _errors(world, code, agent.task, q_bar, best)
            errors.append({"setting": name, "task": text, **off})
            if world.by_touch and text in setting.base:
                met = own.family.met[list(own.tasks).index(text)]
                touched += _touched(world, code, (name, text), agent, met, q_bar, best, exact.v_min)
        for number, place in enumerate(code[0, 2:].tolist()):
            row, column = world.board.cells[place].tolist()
            desiring = [
                text
                for text, agent in zip(setting.tasks, agents, strict=True)
                if world.desired_goals(agent.task)[number]
            ]
            met_by = [
                text for text, met in zip(own.tasks, own.family.met, strict=True) if met[number]
            ]
            both = (" ; ".join(desiring), " ; ".join(met_by))
            objects.append((name, names[number], row, column, *both))
    per_goal = [f"{kind} {goal}" for kind in ("learned", "exact") for goal in (*names, "max")]
    where = ("setting", "task", "row", "column")
    return Result(
        NAME,
        as_json(config),
        {
            NAME: Table.of_rows((*where, "action", *per_goal), cells),
            f"{NAME}_objects": Table.of_rows(
                ("setting", "object", "row", "column", "wanted_by", "met_by"), objects
            ),
            f"{NAME}_errors": Table.of_dicts(errors),
            f"{NAME}_touched": Table.of_rows(OF_TOUCHED, touched),
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


def _touched(
    world: Boxman,
    code: Codes,
    names: tuple[str, str],
    agent: Agent,
    met: BoolArray,
    learned: Array,
    exact: Array,
    v_min: float,
) -> list[tuple[object, ...]]:
    """V̄(s, g) of a base task for objects that it wants, before and after another is touched.

    Before is the lowest value on the cells beside the touched object that an episode can visit.
    """
    wanted = np.flatnonzero(world.desired_goals(agent.task))
    rows: list[tuple[object, ...]] = []
    for one in wanted:
        cell = code[0, 2 + one]
        beside = np.setdiff1d(world.board.neighbour[cell], code[0, 2:][wanted])
        held = code.copy()
        held[0, :2] = cell, one + 1
        with one_thread():
            after = agent.q_bar(world.games(1).frames(held))[0].max(axis=1)
        for goal in wanted[wanted != one]:
            before = [q_bar[beside, goal].max(axis=1).min() for q_bar in (learned, exact)]
            values = (before[0], after[goal], before[1], v_min + agent.task.goal_reward[goal])
            objects = (world.board.objects[one], world.board.objects[goal], int(met[goal]))
            rows.append((*names, *objects, *(round(float(x), 6) for x in values)))
    return rows


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
