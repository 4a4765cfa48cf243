"""One cell of a study: learn the base tasks once, compose every task, and play it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

from taskalgebra import files
from taskalgebra.progress import silent
from taskalgebra.skills import catalogue
from taskalgebra.skills.making import learn
from taskalgebra.studies.study import Learning, World
from taskalgebra.sweeps.cells import seed_of
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tasks import Task

FIGURES = (
    *("mean_return", "standard_error", "optimal_return", "success_rate", "mean_steps"),
    *("unfinished", "mean_loss", "worst_loss"),
)
"""The columns of figures: of the episodes, and V* − V^π over all starts, which is exact."""


@final
@dataclass(frozen=True)
class Opened:
    """A world that is ready to learn in."""

    env: GoalEnv
    base: dict[str, Task]


def opened(world: World) -> Opened:
    """The environment of a world, and its base tasks.

    Raises:
        ValueError: there is no such world, or a setting does not suit it.
    """
    if not world.map:
        # A cell is known by what its record holds: the text of a map, not the name of its file.
        if world.name not in catalogue.ENTRIES and files.at(world.name).is_file():
            raise ValueError(f"{world.name!r} is a file; write map = {world.name!r}, not name")
        return _opened(world.name, world)
    with TemporaryDirectory() as directory:
        path = Path(directory) / Path(world.name).name
        path.write_text(world.map, encoding="utf-8")
        return _opened(str(path), world)


def _opened(name: str, world: World) -> Opened:
    env = catalogue.open_world(
        name, slip_probability=world.slip, goal_reward=world.goal_reward, touch=world.touch
    )
    if not env.space.finite:
        raise ValueError(
            f"the world {world.name!r} is learned by networks; studies are of worlds with tables"
        )
    return Opened(env, catalogue.base_tasks(name, env, world.base))


def measure(cell: Learning) -> list[tuple[Any, ...]]:
    """Learn, and play every task: its text, then `FIGURES`."""
    found = opened(cell.world)
    seed = seed_of(cell.seed, cell.number) % 2**31
    skills = learn(found.env, found.base, learner=cell.learner.make(), seed=seed, listener=silent)
    rows = []
    for text in cell.tasks:
        agent = skills.for_task(text)
        one = agent.evaluate(cell.episodes, seed=seed, listener=silent)
        loss = agent.certificate()
        played = (one.mean_return, one.standard_error, one.optimal_return, one.success_rate)
        ended = (one.mean_steps, one.unfinished)
        rows.append((text, *played, *ended, float(loss.mean_loss), float(loss.worst_loss)))
    return rows
