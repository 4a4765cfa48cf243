"""A finite world as a table for the page, which shows it and walks through it: the scene.

States are numbers.  On a map several of them may share a cell, such as the headings of an agent:
each is then on a layer of its own.  Worlds without a map have positions instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from taskalgebra.apps import desired_names
from taskalgebra.apps.playground.layout import positions
from taskalgebra.apps.playground.schema import MAX_GOALS, MAX_TABLE, MAX_TASKS, TaskDocument
from taskalgebra.arrays import BoolArray, LongArray
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.finite import FiniteMDP

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
"""Of goals; colour-blind readers can tell them apart: Okabe and Ito's, with grey for black."""


class SceneGoal(BaseModel):
    """A goal: its absorbing state, and the cell where it is marked, if it has one."""

    name: str
    color: str
    state: int
    cell: int | None


class Thing(BaseModel):
    """Something that stands on a cell of the map."""

    name: str
    color: str
    cell: int


class Transitions(BaseModel):
    """The outcomes of action a in state s: places from offset[s·A + a] up to the next offset."""

    offset: list[int]
    successor: list[int]
    probability: list[float]


class Scene(BaseModel):
    """A finite world that is not drawn, with all that the page needs to show and play it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    title: str
    rows: int
    columns: int
    map: Annotated[
        list[str] | None, Field(description="'#' wall and '.' floor; null: see positions")
    ]
    layers: Annotated[list[str], Field(description="what states on the same cell differ in")]
    cell: Annotated[list[int], Field(description="[S], row · columns + column; −1: none")]
    layer: Annotated[list[int], Field(description="[S], where its cell is shown")]
    positions: Annotated[
        list[tuple[float, float]] | None,
        Field(description="[S], x and y in the unit square, y downwards, of a world without a map"),
    ]
    actions: list[str]
    arrows: Annotated[
        list[tuple[int, int] | None],
        Field(description="rows and columns that an action moves; null if it depends, or not"),
    ]
    goals: Annotated[list[SceneGoal], Field(max_length=MAX_GOALS)]
    tasks: Annotated[list[TaskDocument], Field(max_length=MAX_TASKS)]
    starts: Annotated[list[int], Field(description="one that is listed twice is twice as likely")]
    first: Annotated[int, Field(description="the state in which the page puts the agent")]
    transitions: Transitions
    step_reward: Annotated[float | list[float], Field(description="one number, or [S·A]")]
    r_universal: Annotated[float | list[float], Field(description="one number, or [G]")]
    r_empty: Annotated[float | list[float], Field(description="one number, or [G]")]
    resumes: Annotated[
        list[int] | None,
        Field(description="[G], where episodes go on after goals; null: no formulas over time"),
    ]
    walls: Annotated[
        list[tuple[int, int]], Field(description="pairs of neighbouring cells with a wall between")
    ] = []
    things: list[Thing] = []
    remark: Annotated[str, Field(description="what is shown, in a sentence; may be empty")] = ""


def scene(
    name: str,
    title: str,
    space: TaskSpace,
    tasks: dict[str, Task],
    *,
    cells: LongArray | None = None,
    layer: LongArray | None = None,
    layers: Sequence[str] = (),
    goal_cells: LongArray | None = None,
    rows: Sequence[str] | None = None,
    colours: Sequence[str] = COLOURS,
    first: int | None = None,
    remark: str = "",
    **more: Any,
) -> dict[str, Any]:
    """The scene of a finite world, as a JSON document.

    Args:
        name: its id.
        title: what people call it.
        space: the world, and what its goals pay.
        tasks: base tasks.
        cells: `[S, 2]`, row and column of every state, negative for none; by default the world's.
        layer: `[S]`; by default states that share a cell are numbered.
        layers: what layers are called.
        goal_cells: `[G, 2]`, where goals are marked; by default where episodes go on after them.
        rows: the map; by default there is a wall wherever there is no state.
        colours: of goals, taken in turns.
        first: the state to begin with; by default the first start.
        remark: what is shown, in a sentence.
        more: other fields of `Scene`.
    """
    mdp = space.mdp
    given = mdp.cells if cells is None else cells
    n_rows = n_columns = 0
    shown: LongArray = np.full(mdp.n_states, -1)
    marked: list[int | None] = [None] * mdp.n_goals
    if given is not None:
        n_rows, n_columns = (int(n) + 1 for n in given.max(axis=0))
        if rows is not None:
            n_rows, n_columns = len(rows), len(rows[0])
        shown = _numbers(given, n_columns)
        where = _marks(mdp, given) if goal_cells is None else goal_cells
        marked = [n if n >= 0 else None for n in _numbers(where, n_columns).tolist()]
        shown[mdp.goals[np.isin(shown[mdp.goals], shown[~mdp.is_goal])]] = -1  # only marked there
        rows = _map(shown, n_rows, n_columns) if rows is None else rows
    number = _numbered(shown) if layer is None else layer
    n_layers = int(number.max(initial=0)) + 1
    return {
        "id": name,
        "title": title,
        "rows": n_rows,
        "columns": n_columns,
        "map": None if given is None else list(rows or ()),
        "layers": list(layers) or [f"layer {i + 1}" for i in range(n_layers)],
        "cell": shown.tolist(),
        "layer": number.tolist(),
        "positions": positions(mdp) if given is None else None,
        "actions": list(mdp.action_names),
        "arrows": _arrows(mdp, shown, n_columns),
        "goals": [
            {"name": goal, "color": colours[g % len(colours)], "state": int(state), "cell": mark}
            for g, (goal, state, mark) in enumerate(
                zip(mdp.goal_names, mdp.goals, marked, strict=True)
            )
        ],
        "tasks": [{"name": task, "goals": desired_names(one)} for task, one in tasks.items()],
        "starts": mdp.starts.tolist(),
        "first": int(mdp.starts[0]) if first is None else first,
        "transitions": {
            "offset": mdp.offset.tolist(),
            "successor": mdp.successor.tolist(),
            "probability": mdp.probability.tolist(),
        },
        "step_reward": _steps(mdp),
        "r_universal": _one_or_all(space.r_universal),
        "r_empty": _one_or_all(space.r_empty),
        "resumes": None if mdp.resumes is None else mdp.resumes.tolist(),
        "remark": remark,
        **more,
    }


def why_not(mdp: FiniteMDP) -> str:
    """Why a world is too large to be shown, and what to do; "" if it is not."""
    limits = {
        "states": (mdp.n_states, MAX_TABLE),
        "outcomes of actions": (mdp.successor.size, 20 * MAX_TABLE),
        "goals": (mdp.n_goals, MAX_GOALS),
    }
    for what, (n, most) in limits.items():
        if n > most:
            return (
                f"this world has {n:,} {what}, and the playground shows up to {most:,}; use "
                f"agent.evaluate(), or make a smaller world"
            )
    return ""


def _marks(mdp: FiniteMDP, cells: LongArray) -> LongArray:
    """[G, 2], the cells of goals, or of the states in which episodes go on after them."""
    own = cells[mdp.goals]
    if mdp.resumes is None:
        return own
    found: LongArray = np.where(own.min(axis=1, keepdims=True) >= 0, own, cells[mdp.resumes])
    return found


def _numbers(cells: LongArray, n_columns: int) -> LongArray:
    """Cells `[N, 2]` by their numbers; −1 for none."""
    there = (cells >= 0).all(axis=1)
    found: LongArray = np.where(there, cells @ np.array([n_columns, 1]), -1)
    return found


def _map(shown: LongArray, n_rows: int, n_columns: int) -> list[str]:
    """A wall wherever no state is."""
    free: BoolArray = np.zeros(n_rows * n_columns, np.bool_)
    free[shown[shown >= 0]] = True
    return ["".join(row) for row in np.where(free, ".", "#").reshape(n_rows, n_columns)]


def _numbered(shown: LongArray) -> LongArray:
    """[S], the states of each cell, numbered from 0."""
    order = np.argsort(shown, kind="stable")
    _, first, counts = np.unique(shown[order], return_index=True, return_counts=True)
    number = np.zeros_like(shown)
    number[order] = np.arange(shown.size) - np.repeat(first, counts)
    return np.where(shown >= 0, number, 0)


def _arrows(mdp: FiniteMDP, shown: LongArray, n_columns: int) -> list[tuple[int, int] | None]:
    """Where each action moves, if it is one step and always the same where it moves most likely."""
    found: list[tuple[int, int] | None] = []
    for a in range(mdp.n_actions):
        pair = np.flatnonzero(shown >= 0) * mdp.n_actions + a
        counts = np.diff(mdp.offset)[pair]
        outcome = np.repeat(mdp.offset[pair] - np.cumsum(counts) + counts, counts)
        outcome = outcome + np.arange(counts.sum())
        here, there = np.repeat(shown[shown >= 0], counts), shown[mdp.successor[outcome]]
        moved = np.flatnonzero((there >= 0) & (there != here))
        down = there // max(n_columns, 1) - here // max(n_columns, 1)
        right = there % max(n_columns, 1) - here % max(n_columns, 1)
        ways, place = np.unique(np.stack((down, right), axis=1)[moved], axis=0, return_inverse=True)
        weight = np.bincount(place.ravel(), mdp.probability[outcome][moved], minlength=len(ways))
        best = int(weight.argmax()) if len(ways) else -1
        clear = best >= 0 and (weight[best] > 1.01 * np.delete(weight, best)).all()
        step = tuple(ways[best].tolist()) if clear else None
        found.append(step if step is not None and np.abs(step).max() <= 1 else None)
    return found


def _steps(mdp: FiniteMDP) -> float | list[float]:
    paid = mdp.step_reward[~mdp.is_goal]
    if (paid == paid.flat[0]).all():
        return float(paid.flat[0])
    found: list[float] = mdp.step_reward.ravel().tolist()
    return found


def _one_or_all(values: Any) -> float | list[float]:
    numbers: list[float] = np.asarray(values).tolist()
    return numbers[0] if len(set(numbers)) == 1 else numbers
