"""Requests and answers of the playground's server, with their limits, as pydantic models.

Requests are checked against these models first.  Answers are written as JSON directly, for speed;
their models are the description in `/openapi.json`, and tests hold the answers to them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

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
MAX_NAME = 60
"""Characters of a name."""
MAX_REWARD, LEAST_COST = 1e3, 1e-6
"""The largest reward and the least cost of a step: within them, rounding hides no good action."""

Named = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Reward = Annotated[float, Field(ge=-MAX_REWARD, le=MAX_REWARD, allow_inf_nan=False)]
Index = Annotated[int, Field(ge=0, lt=MAX_SIDE)]
Cell = tuple[Index, Index]
Formula = Annotated[str, Field(max_length=MAX_EXPRESSION)]
Actions = Annotated[
    list[Annotated[int, Field(ge=0, le=4)] | None],
    Field(description="up, right, down, left, stay, of the composed agent"),
]


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

    @property
    def r_other(self) -> float:
        """r_∅, what a goal pays that is not desired."""
        return self.step_reward if self.r_empty is None else self.r_empty


class SolveRequest(Request):
    """A world, and an expression over its base tasks; over time, over base tasks and goals."""

    world: WorldDocument
    expression: Formula
    slices: Annotated[bool, Field(description="whether to send the slices of Q̄, one per goal")] = (
        False
    )


class TruthRow(BaseModel):
    """One assignment of truth values to the base tasks, and the goals with these labels."""

    inputs: Annotated[list[bool], Field(alias="in")]
    out: bool
    goals: list[str]


class TruthTable(BaseModel):
    """The value of the expression under every assignment, with the goals."""

    tasks: list[str]
    rows: list[TruthRow]


class TaskCount(BaseModel):
    """How many tasks the base tasks express: 2 to the power of the number of different labels.

    Those that desire only goals that no base task has met are not counted.
    """

    expressible: float
    labels: int
    bound: str


class Slice(BaseModel):
    """max_a Q̄(s, g, a) of one goal; null in walls and where the goal cannot be reached."""

    goal: str
    values: list[float | None]


class Rewards(BaseModel):
    """What a step, a desired goal and any other goal pay."""

    step: float
    desired: float
    other: float


class SolveAnswer(BaseModel):
    """The composed agent in every cell; cells are numbered row by row."""

    model_config = ConfigDict(extra="forbid")

    expression: str
    simplified: str
    desired: list[str]
    values: Annotated[list[float | None], Field(description="V(s), composed")]
    actions: Actions
    optimum: Annotated[list[float | None], Field(description="V*(s), planned without composing")]
    certificate: Annotated[str, Field(description="what the agent loses, in a line")]
    slices: list[Slice] | None = None
    truth_table: TruthTable
    n_tasks: TaskCount
    rewards: Rewards
    range: tuple[float, float]
    python: str
    notes: Annotated[list[str], Field(description="remarks about the result")] = []
    milliseconds: float


class AutomatonState(BaseModel):
    """A state of the automaton: whether the formula is satisfied there, or can no longer be."""

    accepting: bool
    dead: bool


class AutomatonAnswer(BaseModel):
    """The automaton of a formula, in which an episode moves on with every goal that it enters."""

    start: int
    states: Annotated[list[AutomatonState], Field(max_length=MAX_STATES)]
    svg: Annotated[
        str, Field(description="a drawing, in which `data-state` is the number of a state")
    ]


class FormulaState(BaseModel):
    """What the agent does while the automaton is in one state in which an episode may go on."""

    state: int
    values: Annotated[
        list[float | None],
        Field(description="V(s, u), composed; null where the formula cannot be satisfied"),
    ]
    actions: Actions
    goals: Annotated[
        list[Literal["leads on", "violates", "neither"]],
        Field(description="what entering each goal of the world does"),
    ]
    after_goal: Annotated[
        list[int], Field(description="the state after a step that enters each goal")
    ]
    after_none: Annotated[int, Field(description="the state after a step that enters none")]


class Impossible(BaseModel):
    """Why the formula cannot be satisfied from some cells."""

    reasons: list[str]
    cells: Annotated[
        list[int | None], Field(description="the number of the reason; null where it can be")
    ]


class FormulaRewards(BaseModel):
    """What a step and satisfying the formula pay."""

    step: float
    success: float


class FormulaAnswer(BaseModel):
    """The agent for a formula over time in every cell and every state of its automaton."""

    model_config = ConfigDict(extra="forbid")

    expression: str
    simplified: str
    automaton: AutomatonAnswer
    states: list[FormulaState]
    optimum: Annotated[
        list[float | None],
        Field(description="V*(s) of the start, planned on the product of world and automaton"),
    ]
    impossible: Impossible
    optimal: Annotated[bool, Field(description="whether the agent is known to be optimal")]
    certificate: Annotated[str, Field(description="how its values were found")]
    rewards: FormulaRewards
    range: Annotated[
        tuple[float, float] | None, Field(description="of the values in all states")
    ] = None
    python: str
    notes: Annotated[list[str], Field(description="remarks about the result")] = []
    milliseconds: float


class SkillsChoice(BaseModel):
    """Shipped skills of a game: the tasks that were trained, and the goals."""

    name: str
    title: str
    tasks: list[str]
    goals: list[str]


class Preset(BaseModel):
    """Something to start from: a world, or the shipped skills of a game."""

    id: str
    title: str
    expression: str
    examples: Annotated[list[str], Field(description="other tasks to try")] = []
    world: WorldDocument | None = None
    skills: list[SkillsChoice] | None = None
    available: bool = True
    reason: str | None = None


class Health(BaseModel):
    """The server is up."""

    status: Literal["ok"]
    version: str


class Trouble(BaseModel):
    """One sentence about what is wrong, and where."""

    message: str
    field: str | None = None
    start: int | None = None
    end: int | None = None


class ErrorAnswer(BaseModel):
    """The answer to every request that is refused."""

    error: Trouble
