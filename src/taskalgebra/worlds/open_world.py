"""Open worlds: what is known of a world before it is played (Section 5).

In a video game the observations are images and every episode has another layout.  No table of
states and transitions describes such a world, but its tasks still differ only in what each goal
pays (Assumption 1).  So the names of the goals and of the actions are all that tasks, expressions
and their composition need:

    world = OpenWorld(("blue square", "blue circle", "beige square"), ("up", "right", "down"))
    blue = TaskSpace(world).task(["blue square", "blue circle"])

Planning, tables and pictures need states, and so a `FiniteMDP`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from taskalgebra.drawing import html
from taskalgebra.validation import counted, goal_index, unique_names

CONTINUOUS: tuple[str, ...] = ("continuous",)
"""The one name of actions that are not numbered."""


class Goal(NamedTuple):
    """A goal as predicates see it; in an open world it has neither state nor cell."""

    number: int
    name: str
    state: int | None
    cell: tuple[int, int] | None


@final
@dataclass(frozen=True, repr=False)
class OpenWorld:
    """A world that is known only by playing it: the names of its goals 𝒢 and its actions 𝒜.

    >>> world = OpenWorld(("square", "circle"), ("up", "right", "down", "left"))
    >>> world
    <open world: 2 goals, 4 actions>
    >>> world.goal_index("circle")
    1
    """

    goal_names: tuple[str, ...]
    action_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that names are distinct and not empty, at least one of each kind."""
        object.__setattr__(self, "goal_names", _names(self.goal_names, "goal"))
        object.__setattr__(self, "action_names", _names(self.action_names, "action"))

    @property
    def n_goals(self) -> int:
        """|𝒢|."""
        return len(self.goal_names)

    @property
    def n_actions(self) -> int:
        """|𝒜|."""
        return len(self.action_names)

    def goal_index(self, goal: str | int) -> int:
        """The position of a goal in `goal_names`, by its name or by its position."""
        return goal_index(goal, self.goal_names)

    def _repr_html_(self) -> str:
        """Goals and actions, for notebooks."""
        known = [["goals", html.names(self.goal_names)], ["actions", html.names(self.action_names)]]
        return html.shown("Open world", html.soft("known by playing it"), html.rows(known))

    def __repr__(self) -> str:
        """Sizes only, as of finite worlds."""
        actions = counted(self.n_actions, "action")
        if self.action_names == CONTINUOUS:
            actions = "continuous actions"
        return f"<open world: {counted(self.n_goals, 'goal')}, {actions}>"


def _names(given: object, what: str) -> tuple[str, ...]:
    if not isinstance(given, tuple | list):
        raise TypeError(f"{what}_names must be a tuple of names, got {given!r}")
    if not given:
        raise ValueError(f"{what}_names is empty; an open world needs at least one {what}")
    return unique_names(given, what, "", len(given))
