"""Pictures of skills: the slices of their values, and what they can express."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from taskalgebra.drawing import html, worlds
from taskalgebra.theory.family import Family
from taskalgebra.theory.tasks import TaskSpace

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Figure, Panels, SubFigure

MOST_SHOWN = 4
"""Base tasks whose maps are shown unasked."""


class ShownSkills:
    """Pictures of skills."""

    family: Family
    space: TaskSpace
    if TYPE_CHECKING:

        @property
        def n_expressible(self) -> int:
            """How many tasks the base tasks express."""

        @property
        def can_negate(self) -> bool:
            """Whether `~` has a meaning."""

        def for_task(self, key: Any) -> Any:
            """The agent for an expression or a task."""

    def plot_goals(
        self,
        key: Any,
        figure: Figure | SubFigure | None = None,
        *,
        goals: Sequence[str | int] | None = None,
        seed: int = 0,
    ) -> Panels:
        """Draw the slices of Q̄ of an expression or a task; see `Agent.plot_goals`.

        Args:
            key: a Boolean expression over the base tasks, or a task.
            figure: where to draw; by default in a new figure.
            goals: which, by their names or numbers; by default the first 16.
            seed: of the layout, in an open world.
        """
        found: Panels = self.for_task(key).plot_goals(figure, goals=goals, seed=seed)
        return found

    def _repr_html_(self) -> str:
        """The base tasks, each with its policy on the map, for notebooks."""
        space, tasks = self.space, self.family.tasks
        drawn = []
        if space.finite and space.mdp.n_states * space.n_goals <= worlds.MOST_SOLVED:
            for name in list(tasks)[:MOST_SHOWN]:
                agent = self.for_task(space.universal if name not in tasks else tasks[name])
                shown = worlds.solved(
                    space.mdp, name, agent.v, agent.actions, agent.task.wanted, width=160
                )
                drawn.append(html.labelled(shown, html.code(name, 40)) if shown else "")
        bound = self.family.error_bound
        how = "learned" if bound is None else "planned" if not bound else f"known to {bound:.1g}"
        known = [["world", html.text(repr(space.world).strip("<>"))], ["values", html.text(how)]]
        if self.can_negate:
            known.insert(0, ["express", f"{html.text(_number(self.n_expressible))} tasks"])
        listed = worlds.tasks({name: task.wanted for name, task in tasks.items()}, space.goal_names)
        return html.shown(
            "Skills", html.names(list(tasks)), html.beside(*drawn, listed + html.rows(known))
        )


def _number(n: int) -> str:
    """A number, as a power of two if it is long."""
    return f"{n:,}" if n < 10**9 else f"2^{n.bit_length() - 1}"
