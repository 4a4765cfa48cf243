"""Fig. 2 and its twin in the supplement: learned extended values, composed without learning more.

With the sparse rewards of the paper and with dense ones, tasks L and T are learned, and from them
L ∨ T, L ∧ T, L xor T and L nor T are composed.  The bounds Q̄_U and Q̄_∅ are learned as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.formulas import parse
from taskalgebra.paper.experiments.rooms import BASE, EXACT, Learning, Setting, gaps, planned
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.rewards import recover_v
from taskalgebra.theory.values import compose

NAME = "composition"
PANELS = {
    "left": "L",
    "top": "T",
    "left | top": "L ∨ T",
    "left & top": "L ∧ T",
    "(left | top) & ~(left & top)": "L xor T",
    "~(left | top)": "L nor T",
}
REWARDS = ("sparse", "dense")


@dataclass(frozen=True)
class Config(Learning):
    """Learn L, T and the bounds, with sparse and with dense rewards; compose four tasks."""

    seed: int = 0
    """Of all random numbers."""


QUICK = Config()


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment.

    The main table has one row per free cell: V̄(s, g) of the four goals, V(s), the greedy action.
    The table `composition_errors` compares each panel with exact planning.
    """
    names = (*BASE, "true", "false")
    jobs = [(i, j) for i in range(len(REWARDS)) for j in range(len(names))]

    values_of = sweep.map(_learned, [(config, i, j, names[j]) for i, j in jobs])
    tables = dict(zip(jobs, values_of, strict=True))
    cells, errors = [], []
    for i, rewards in enumerate(REWARDS):
        values = {name: tables[i, j] for j, name in enumerate(names)}
        bounds = Bounds(values["true"], values["false"])
        for text, panel in PANELS.items():
            q_bar = compose(parse(text, BASE), {name: values[name] for name in BASE}, bounds)
            cells += _cells(rewards, panel, q_bar)
            errors.append((rewards, panel, *_errors(rewards, text, q_bar)))
    columns = ("rewards", "panel", "row", "column")
    goals = FourRooms().space.mdp.goal_names
    return Result(
        NAME,
        as_json(config),
        {
            NAME: Table.of_rows((*columns, *goals, "v", "action"), cells),
            f"{NAME}_errors": Table.of_rows(
                ("rewards", "panel", "largest_error", "optimal_starts", "starts"), errors
            ),
        },
    )


def _learned(cell: tuple[Config, int, int, str]) -> Array:
    """The table of one task."""
    config, i, j, name = cell
    setting = Setting(dense=REWARDS[i] == "dense")
    return config.learn(setting, name, seed_of(config.seed, i, j)).q


def _cells(rewards: str, panel: str, q_bar: Array) -> list[tuple[object, ...]]:
    mdp = FourRooms().space.mdp
    if mdp.cells is None:
        raise ValueError("Four Rooms is a map")
    v_bar, v, actions = q_bar.max(axis=-1), recover_v(q_bar), greedy(q_bar)
    return [
        (
            rewards,
            panel,
            *(int(i) for i in mdp.cells[s]),
            *(round(float(x), 12) for x in (*v_bar[s], v[s])),
            mdp.action_names[actions[s]],
        )
        for s in mdp.starts
    ]


def _errors(rewards: str, text: str, q_bar: Array) -> tuple[float, int, int]:
    """|Q̄ − Q̄*| of the composite task with these rewards, and how many starts act optimally.

    The policy is judged in the sparse task, as in the other experiments.
    """
    task = Setting(dense=rewards == "dense").world().find_task(text)
    gap = gaps(FourRooms().find_task(text), greedy(q_bar))
    return float(np.abs(q_bar - planned(task)).max()), int((gap <= EXACT).sum()), gap.size
