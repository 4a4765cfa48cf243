"""How tasks show themselves in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.drawing import html, worlds
from taskalgebra.logic.algebra import BooleanElement

MOST_REWARDS = 12
WIDTH = 180


class ShownTask(BooleanElement):
    """The picture of a task."""

    if TYPE_CHECKING:
        space: Any
        goal_reward: Array

        @property
        def wanted(self) -> BoolArray:
            """[G], the goals in which an episode succeeds."""

    def _repr_html_(self) -> str:
        """The goals that it desires, and what goals pay, for notebooks."""
        space, wanted = self.space, self.wanted
        drawn = ""
        if space.finite:
            drawn = worlds.picture(space.mdp, "task", wanted, WIDTH)
        names = [name for name, one in zip(space.goal_names, wanted, strict=True) if one]
        order = sorted(range(space.n_goals), key=lambda goal: -self.goal_reward[goal])
        pays = [
            [html.code(space.goal_names[g], 60), html.text(f"{self.goal_reward[g]:g}")]
            for g in order[:MOST_REWARDS]
        ]
        more = space.n_goals - len(pays)
        rest = html.soft(f"and {more:,} more goals") if more else ""
        title = html.names(names) or html.soft("desires no goal")
        table = html.rows(pays, ["goal", "pays"])
        return html.shown("Task", title, html.beside(drawn, table + rest))
