"""Environments and skills by name, for commands.

A name is one of `ENTRIES`, a text file with a map, or a directory with saved skills:

    skills = open_skills("four-rooms", slip_probability=0.1)
    skills = open_skills("maze.txt", tasks=["north=A,B", "west=A,C"])

`taskalgebra.from_file` says what a file with a map is.  Nothing heavy is imported before something
is opened, so that names can be completed while they are typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from taskalgebra import files
from taskalgebra.folder import MANIFEST
from taskalgebra.skills import SHIPPED_AT

if TYPE_CHECKING:
    from taskalgebra.learning.deep.learner import DeepQ
    from taskalgebra.skills.skills import Skills
    from taskalgebra.theory.goal_env import GoalEnv
    from taskalgebra.theory.tasks import Task, TaskSpace

DEFAULT = "four-rooms"


@final
@dataclass(frozen=True)
class Entry:
    """An environment of the library, perhaps with trained networks."""

    name: str
    title: str
    n_goals: int
    tasks: tuple[str, ...]  # base tasks, of the networks if there are any
    env: str  # the environment, and its arguments
    arguments: Mapping[str, Any] = field(default_factory=dict)
    recipes: str = ""  # the module with `RECIPES` for training its networks, if it has any
    slips: bool = False  # whether its moves may slip

    @property
    def networks(self) -> bool:
        """Whether trained networks come with the library."""
        return bool(self.recipes)


_RECIPES = "taskalgebra.envs.boxman.recipes"
_KINDS = ("blue", "square", "purple")
_ANYWHERE = {"layout": "random"}
_ALL = (
    Entry(
        "four-rooms",
        "Four Rooms, one goal per room (Section 4)",
        4,
        ("top", "left"),
        "FourRooms",
        slips=True,
    ),
    Entry(
        "forty-goals",
        "Four Rooms with 40 goals (Section 4.2)",
        40,
        ("x1", "x2", "x3", "x4", "x5", "x6"),
        "FourRooms",
        {"n_goals": 40},
        slips=True,
    ),
    Entry(
        "office",
        "Office: coffee, mail and decorations, for tasks over time",
        14,
        ("A", "B", "C", "D", "coffee", "mail", "office", "decoration"),
        "Office",
        slips=True,
    ),
    Entry(
        "flat-world",
        "FlatWorld: circles in a plane, for tasks over time",
        822,
        ("aqua", "blue", "green", "magenta", "orange", "red", "yellow"),
        "FlatWorld",
    ),
    Entry(
        "boxman", "the video game, as in the paper (Section 5)", 6, _KINDS, "Boxman", {}, _RECIPES
    ),
    Entry(
        "boxman-random",
        "the video game, objects anywhere",
        6,
        _KINDS,
        "Boxman",
        _ANYWHERE,
        _RECIPES,
    ),
    Entry(
        "minigrid-fetch",
        "MiniGrid's Fetch, objects anywhere (extra minigrid)",
        12,
        ("red", "green", "blue", "purple", "yellow", "grey", "key", "ball"),
        "MiniGrid",
        {"name": "MiniGrid-Fetch-8x8-N3-v0"},
        "taskalgebra.envs.minigrid.recipes",
    ),
    Entry(
        "letter-world",
        "LetterWorld, letters anywhere (LTL2Action, DeepLTL)",
        24,
        tuple("abcdefghijkl"),
        "RandomLetterWorld",
        {},
        "taskalgebra.envs.letter_recipes",
    ),
    Entry(
        "boxman-touch",
        "the same, collected by touch (supplement)",
        6,
        ("purple", "blue", "square"),
        "Boxman",
        {**_ANYWHERE, "collect": "touch"},
        _RECIPES,
    ),
)
ENTRIES: Mapping[str, Entry] = {entry.name: entry for entry in _ALL}
SHIPPED = tuple(name for name, entry in ENTRIES.items() if entry.networks)
"""The skills that come with the library."""


def completions(start: str) -> list[tuple[str, str]]:
    """Names that begin like this, each with a description: entries, maps and saved skills."""
    found = [(entry.name, entry.title) for entry in ENTRIES.values()]
    folder = Path(start[: start.rfind("/") + 1])
    try:
        nearby = sorted(folder.iterdir())
    except OSError:
        nearby = []
    found += [(str(path), "a map") for path in nearby if path.suffix == ".txt"]
    found += [(str(path), "saved skills") for path in nearby if (path / MANIFEST).is_file()]
    return [(name, about) for name, about in found if name.startswith(start)]


def open_world(
    name: str,
    *,
    slip_probability: float = 0.0,
    goal_reward: str | None = None,
    touch: bool = False,
) -> GoalEnv:
    """An environment by name, to plan, learn or check in.

    Args:
        name: of an entry, or of a text file with a map.
        slip_probability: of a move in one of the other three directions instead.
        goal_reward: r_U as a number in words, or "auto"; see `TaskSpace`.
        touch: whether the goals of a map are taken by moving onto their cells.

    Raises:
        ValueError: there is nothing of this name, or its map is not valid.
    """
    entry = ENTRIES.get(name)
    if entry is None:
        return _drawn(name, slip_probability, touch, _rewards(goal_reward))
    from taskalgebra.envs.registry import make

    _refuse_touch(name, touch)
    if entry.networks:
        _refuse_reward(name, goal_reward)
    if not entry.slips:
        _refuse_slips(name, slip_probability)
    slips = {"slip_probability": slip_probability} if entry.slips else {}
    return make(entry.env, **entry.arguments, **_rewards(goal_reward), **slips)


def base_tasks(name: str, world: GoalEnv, tasks: Sequence[str] = ()) -> dict[str, Task]:
    """Base tasks of an environment that was opened by this name.

    Args:
        name: the name.
        world: the environment.
        tasks: each the `NAME` of one of its tasks or `NAME=GOAL,GOAL`; by default those of the
            entry, or all tasks of a map.
    """
    entry = ENTRIES.get(name)
    own = list(world.tasks) if entry is None else entry.tasks
    return _tasks(tasks or own, world.space, world.tasks)


def recipe(name: str, *, paper: bool = False) -> tuple[DeepQ, str | None] | None:
    """How the networks of an entry are trained; None if it has none.

    Args:
        name: of the entry.
        paper: whether to use the paper's own network and settings, which start from scratch.

    Returns:
        The learner, and the name of the skills that it starts from, if any.
    """
    entry = ENTRIES.get(name)
    if entry is None or not entry.recipes:
        return None
    found = import_module(entry.recipes).RECIPES[name]
    if paper and found.paper is None:
        raise ValueError(f"{name} is not in the paper; leave out --paper")
    return (found.paper, None) if paper else (found.learner, found.start)


def open_skills(
    name: str,
    *,
    tasks: Sequence[str] = (),
    slip_probability: float = 0.0,
    goal_reward: str | None = None,
    touch: bool = False,
    expressions: Sequence[str] = (),
) -> Skills:
    """Skills by name: planned for a finite world, loaded for a game or a directory.

    `expressions` are what they are opened for: mistakes in them are found before anything is
    planned or loaded.

    Raises:
        ValueError: there are none of this name, or not with these arguments.
    """
    from taskalgebra.logic.formulas import parse

    entry = ENTRIES.get(name)
    loaded = files.at(name).is_dir() if entry is None else entry.networks
    for text in expressions:
        if not parse(text).temporal:  # over time it may name goals, which are known later
            parse(text, entry.tasks if entry is not None and loaded else None)
    from taskalgebra.skills.making import load, solve
    from taskalgebra.skills.plans import parsed

    if not loaded:
        world = open_world(
            name, slip_probability=slip_probability, goal_reward=goal_reward, touch=touch
        )
        base = base_tasks(name, world, tasks)
        for text in expressions:
            parsed(text, base, world.space.goal_names)
        return solve(world, base)
    _refuse_touch(name, touch)
    _refuse_reward(name, goal_reward)
    _refuse_slips(name, slip_probability)
    skills = load(name if entry is None else SHIPPED_AT / name)
    if tasks:
        raise ValueError(
            f"{name} holds skills with the base tasks {', '.join(skills)}; other base tasks need "
            f"a world to plan or learn in"
        )
    return skills


def _rewards(goal_reward: str | None) -> dict[str, Any]:
    """r_U as an argument of a task space, if it was given."""
    if goal_reward in (None, "auto"):
        return {} if goal_reward is None else {"r_universal": goal_reward}
    try:
        return {"r_universal": float(goal_reward or "")}
    except ValueError:
        raise ValueError(f"the goal reward is {goal_reward!r}, expected a number or auto") from None


def _refuse_touch(name: str, touch: bool) -> None:
    if touch:
        raise ValueError(f"touch is for files with a map; how goals are taken is fixed in {name}")


def _refuse_reward(name: str, goal_reward: str | None) -> None:
    if goal_reward is not None:
        raise ValueError(
            f"{name} has its own goal reward; that of maps and of worlds without networks can be "
            f"chosen"
        )


def _refuse_slips(name: str, slip_probability: float) -> None:
    if slip_probability:
        able = ", ".join(entry.name for entry in _ALL if entry.slips)
        raise ValueError(
            f"{name} has no slip probability; {able} and maps have one: learn in such a world and "
            f"open the skills that were saved"
        )


def _drawn(name: str, slip_probability: float, touch: bool, rewards: Mapping[str, Any]) -> GoalEnv:
    """The environment of a text file with a map."""
    from taskalgebra.envs.map_file import from_file
    from taskalgebra.validation import closest

    path = files.at(name)
    if not path.exists():
        raise ValueError(
            f"no world {name!r}: it is neither one of {', '.join(ENTRIES)} nor a file with a map "
            f"nor a directory with saved skills{closest(name, list(ENTRIES))}"
        )
    if path.is_dir():
        raise ValueError(
            f"{name} is a directory; a world is one of {', '.join(ENTRIES)} or a file with a map"
        )
    return from_file(path, slip_probability=slip_probability, touch=touch, **rewards)


def _tasks(texts: Iterable[str], space: TaskSpace, named: Mapping[str, Task]) -> dict[str, Task]:
    """Tasks as written by the user: `NAME` of an existing one, or `NAME=GOAL,GOAL`."""
    from taskalgebra.envs.map_file import defined_task, named_task

    tasks: dict[str, Task] = {}
    for text in texts:
        if "=" not in text:
            for word in (word.strip() for word in text.split(",")):
                tasks[word] = named_task(word, named)
            continue
        name, task = defined_task(text, space)
        if name in tasks:
            raise ValueError(f"the task {name!r} is given twice; name each task once")
        tasks[name] = task
    return tasks
