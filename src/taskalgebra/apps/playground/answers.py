"""Answers of the playground's server, as pydantic models.

Answers are written as JSON directly, for speed; these models are the description in
`/openapi.json`, and tests hold the answers to them.  Values are per cell of a map, row by row.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from taskalgebra.apps.playground.scene import Scene
from taskalgebra.apps.playground.schema import MAX_NODES, MAX_STATES, WorldDocument

Actions = Annotated[
    list[Annotated[int, Field(ge=0)] | None],
    Field(description="of the agent; on a map up, right, down, left, stay"),
]
Values = list[float | None]
Number = Annotated[float | None, Field(description="null: infinite")]


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
    values: Values


class Node(BaseModel):
    """A node of a formula: what its agent is worth, and the slices of its Q̄."""

    text: str
    operator: Literal["task", "true", "false", "not", "and", "or", "xor"]
    children: Annotated[list[int], Field(description="places of its operands among the nodes")]
    desired: list[str]
    values: Values
    slices: list[Slice]


class Composition(BaseModel):
    """All nodes of a formula, children first and the whole formula last, equal ones once."""

    nodes: Annotated[list[Node], Field(max_length=MAX_NODES)]


class Method(BaseModel):
    """What a method believes and does, and exact figures of what comes of it, over all starts."""

    id: Literal["extended", "max", "average"]
    title: str
    how: str
    values: Annotated[Values, Field(description="what the method believes")]
    actions: Actions
    desired_reached: Annotated[float, Field(description="how often it ends in a desired goal")]
    mean_return: Annotated[float | None, Field(description="null: it may never end")]
    mean_loss: Annotated[float | None, Field(description="null: it may never end")]
    failures: Annotated[
        float, Field(description="the share of starts from which no desired goal is surely reached")
    ]


class LossAnswer(BaseModel):
    """What the agent loses against the optimum, exactly, over the starts of episodes."""

    optimal: bool
    mean: Number
    worst: Number
    worst_cell: Annotated[int | None, Field(description="where; null if nothing is lost")]
    bound: Annotated[float | None, Field(description="the most it loses, found without planning")]
    because: Annotated[list[str], Field(description="what is to blame")]


class ImprovementAnswer(BaseModel):
    """What it took to make the agent optimal."""

    rounds: int
    sweeps: Annotated[int | None, Field(description="over all states and actions")]


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
    loss: LossAnswer | None
    improvement: ImprovementAnswer | None = None
    slices: list[Slice] | None = None
    composition: Annotated[
        Composition | None, Field(description="null if it is too large to be shown")
    ] = None
    others: Annotated[
        list[Method] | None, Field(description="ours first; null where no other method applies")
    ] = None
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
    loss: LossAnswer | None
    improvement: ImprovementAnswer | None = None
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
    scene: Annotated[Scene | None, Field(description="a world that is no drawing")] = None
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
