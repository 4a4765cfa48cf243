"""Requests to the playground's server, with their limits, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

MAX_BODY = 1_000_000
"""Bytes of a request."""
MAX_HEAD = 2**16
"""Bytes of its head: the path and all headers."""
MAX_SIDE = 128
"""Rows, and columns, of a map."""
MAX_GOALS = 64
MAX_TASKS = 6
"""Base tasks: their truth table has 64 rows."""
MAX_EXPRESSION = 10_000
"""Characters of an expression."""
MAX_STATES = 100
"""States of the automaton of a formula over time."""
MAX_PAIRS = 2**17
"""Cells times states: 8 states on the largest map."""
MAX_SLIP = 0.9
"""The largest share of moves that slip."""
MAX_NODES, MAX_NODE_VALUES = 24, 200_000
"""Nodes of a formula that are shown one by one, and values of their slices."""
MAX_TABLE = 20_000
"""States of a world that is sent as a table."""
MAX_NAME = 60
"""Characters of a name."""
MAX_REWARD, LEAST_COST = 1e3, 1e-6
"""The largest reward and the least cost of a step: within them, rounding hides no good action."""

Named = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Reward = Annotated[float, Field(ge=-MAX_REWARD, le=MAX_REWARD, allow_inf_nan=False)]
Index = Annotated[int, Field(ge=0, lt=MAX_SIDE)]
Cell = tuple[Index, Index]
Formula = Annotated[str, Field(max_length=MAX_EXPRESSION)]


class Request(BaseModel):
    """Part of a request: nothing is converted, nothing unknown is ignored."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class GoalDocument(Request):
    """A goal: its name, its cell as [row, column], and its colour on the page."""

    name: Named
    cell: Cell
    color: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")] | None = None


class TaskDocument(Request):
    """A base task: its name and the goals that it wants."""

    name: Named
    goals: Annotated[tuple[Named, ...], Field(max_length=MAX_GOALS)]


class WorldDocument(Request):
    """A world as the page draws it and the address holds it."""

    map: Annotated[
        tuple[Annotated[str, Field(pattern=rf"^[#.]{{1,{MAX_SIDE}}}$")], ...],
        Field(min_length=1, max_length=MAX_SIDE, description="rows of '#' wall and '.' floor"),
    ]
    goals: Annotated[tuple[GoalDocument, ...], Field(min_length=1, max_length=MAX_GOALS)]
    tasks: Annotated[tuple[TaskDocument, ...], Field(max_length=MAX_TASKS)] = ()
    step_reward: Reward = -0.1
    r_universal: Reward = 2.0
    r_empty: Annotated[
        Reward | None, Field(description="what any other goal pays; by default the step reward")
    ] = None
    touch: Annotated[
        bool, Field(description="whether goals are taken by moving onto them, not by staying there")
    ] = False
    slip: Annotated[
        float,
        Field(
            ge=0,
            le=MAX_SLIP,
            allow_inf_nan=False,
            description="the share of moves that go another way, each of the other three equally "
            "likely; staying never slips",
        ),
    ] = 0.0

    @property
    def r_other(self) -> float:
        """r_∅, what a goal pays that is not desired."""
        return self.step_reward if self.r_empty is None else self.r_empty


class TableDocument(Request):
    """A finite world that the server knows, a preset or one of `ta.playground`, with base tasks."""

    table: Annotated[str, Field(min_length=1, max_length=MAX_NAME, description="its id")]
    tasks: Annotated[tuple[TaskDocument, ...], Field(max_length=MAX_TASKS)] = ()


def _kind(given: Any) -> str:
    """Which kind of world a part of a request means to be."""
    if isinstance(given, TableDocument) or (isinstance(given, dict) and "table" in given):
        return TABLE
    return DRAWN


DRAWN, TABLE = "drawn world", "table"
World = Annotated[
    Annotated[WorldDocument, Tag(DRAWN)] | Annotated[TableDocument, Tag(TABLE)],
    Discriminator(_kind),
]


class SolveRequest(Request):
    """A world, and an expression over its base tasks; over time, over base tasks and goals."""

    world: World
    expression: Formula
    slices: Annotated[bool, Field(description="whether to send the slices of Q̄, one per goal")] = (
        False
    )
    composition: Annotated[
        bool, Field(description="whether to send every node of a Boolean formula")
    ] = False
    others: Annotated[
        bool, Field(description="whether to send what other methods do with the same base tasks")
    ] = False
    improve: Annotated[
        bool, Field(description="whether to send the agent made optimal by policy iteration")
    ] = False
