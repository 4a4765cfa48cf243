"""The layout of Four Rooms and Table 1 of the supplement, for 4 and for 40 goals."""

from __future__ import annotations

from dataclasses import dataclass

from taskalgebra.envs.four_rooms import MAP, FourRooms
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.base_tasks import labels_of

NAME = "layout"


@dataclass(frozen=True)
class Config:
    """Nothing to choose but the number of goals."""

    n_goals: tuple[int, ...] = (4, 40)
    """The worlds to lay out."""


QUICK = Config()


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: the cells of the map, and one table of labels per world."""
    cells = [
        (r, c, symbol == "#") for r, row in enumerate(MAP.split()) for c, symbol in enumerate(row)
    ]
    tables = {NAME: Table.of_rows(("row", "column", "wall"), cells)}
    for n_goals in config.n_goals:
        world = FourRooms(n_goals)
        goals = world.space.goals
        labels = labels_of(world.tasks)
        tables[f"{NAME}_{n_goals}_goals"] = Table(
            {
                "goal": [goal.name for goal in goals],
                "row": [goal.cell[0] if goal.cell else -1 for goal in goals],
                "column": [goal.cell[1] if goal.cell else -1 for goal in goals],
                **{name: labels[:, k] for k, name in enumerate(world.tasks)},
            }
        )
    return Result(NAME, as_json(config), tables)
