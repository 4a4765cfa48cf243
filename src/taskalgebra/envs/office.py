"""Office (Skill Machines, ICLR 2024): rooms with coffee, mail, an office and things to break.

Tasks here have an order and a taboo: "coffee, then the office, and never a decoration".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from taskalgebra.arrays import IntArray
from taskalgebra.envs.finite_env import FiniteEnv, FiniteVectorEnv
from taskalgebra.envs.registry import spec_of
from taskalgebra.logic.expression import Expression
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import flag, one_of
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.grid import Cell, from_text
from taskalgebra.worlds.open_world import Goal
from taskalgebra.worlds.visits import Visits, counting

MAP = """
#################
#...#...#...#...#
#...............#
#...#...#...#...#
##.###.###.###.##
#...#...#...#...#
#...#...#...#...#
#...#...#...#...#
##.###########.##
#...#...#...#...#
#...............#
#...#...#...#...#
#################
"""

PLACES: dict[str, Cell | list[Cell]] = {
    "A": (2, 2),
    "B": (2, 14),
    "C": (10, 14),
    "D": (10, 2),
    "coffee": [(3, 5), (9, 11)],
    "mail": (6, 10),
    "office": (6, 6),
    "decoration": [(2, 6), (2, 10), (6, 2), (6, 14), (10, 6), (10, 10)],
}
TRAP: Cell = (9, 11)
PAYS = 4.0  # more than the longest way to a goal costs, 31 steps of 0.1
SUPPLY = {"mail": ("mail_left", 2), "office": ("people", 4)}
"""How many visits find some mail left, and people in the office."""

SAFE = "G !decoration"
FORMULAS = {
    "Coffee": f"F(coffee & X F office) & {SAFE}",
    "Patrol": f"F(A & X F(B & X F(C & X F D))) & {SAFE}",
    "CoffeeMail": "(F(mail & X F(coffee & X F office)) | F(coffee & X F(mail & X F office))) & "
    + SAFE,
    "CoffeeStrict": "F office & (!office U coffee)",
    "Long": "F(mail & X F(office & X(!mail U (!mail_left & mail & X F(coffee & X(!office U "
    "(!people & office & X F(A & X F(B & X F(C & X F(D & X F A))))))))))) & " + SAFE,
}
"""The published tasks."""


class Office(FiniteEnv):
    """Fetch coffee and mail, and patrol; registered with Gymnasium as `TaskAlgebra/Office-v0`.

    The map has 120 free cells, 14 of them with something to touch.  Actions are up, right, down and
    left; a move into a wall has no effect but costs its step.  Every step that ends on one of the
    14 cells enters a goal (see `taskalgebra.worlds.grid`, by touch), so that no way to a goal leads
    over another one: what is to be avoided is avoided.

    The goals are named after what lies there, with a number where there is more than one: `"A"`,
    `"coffee 1"`, `"decoration 6"`.  The base tasks are the propositions, without the number: `A`,
    `B`, `C`, `D`, `coffee`, `mail`, `office`, `decoration`.

    Episodes start in any free cell; what lies there is not read.  In the publication a start is
    drawn again while its label alone would end the task: on a decoration for most tasks, in the
    office for CoffeeStrict.  `published_starts(name)` are the states that remain.

    Published returns are sums over 100 episodes of γⁿ⁻¹, γ = 0.9, for a success after n steps,
    whose steps cost nothing.  Here steps cost 0.1, so that the best agent takes the fewest steps in
    both, and the published figure follows from the numbers of steps.

    Args:
        trap: Office-Mod: the coffee at (9, 11) is still coffee, but no move leaves its cell.  No
            episode starts there.
        visits: whether mail runs out and people go home: `mail_left` holds at the first 2 visits to
            the mail in an episode, `people` at the first 4 to the office.  States and goals then
            also count visits, each goal those before it: `"coffee 1 (mail 2, office 0)"`.
        step_reward: r_{s,a} of every step.
        r_universal: r_U, the reward of a desired goal, by default more than the longest way costs;
            or "auto" (see `TaskSpace`).
        slip_probability: how often a move goes to one of the other three directions.
        task: the task that `step` pays for: a `Task`, a name or an expression; by default every
            goal is desired.
        render_mode: None, "ansi" or "rgb_array".
    """

    def __init__(
        self,
        *,
        trap: bool = False,
        visits: bool = False,
        step_reward: float = -0.1,
        r_universal: float | Literal["auto"] = PAYS,
        slip_probability: float = 0.0,
        task: Task | Expression | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Build the world, and name its propositions."""
        self.trap, self.visits = flag(trap, "trap"), flag(visits, "visits")
        mdp = _rooms(self.trap, step_reward, slip_probability)
        counts: Visits | None = None
        if self.visits:
            counts = counting(mdp, {name: ({name}, limit) for name, (_, limit) in SUPPLY.items()})
            mdp = counts.mdp
        space = TaskSpace(mdp, r_universal=r_universal)
        tasks = {name: space.task(_lies_there(name)) for name in PLACES}
        for name, visited in counts.before.items() if counts else ():
            proposition, limit = SUPPLY[name]
            tasks[proposition] = space.from_desired(tasks[name].desired & (visited < limit))
        self.counts = counts
        """How states and goals count visits; None without `visits=True`."""
        super().__init__(space, tasks, task, render_mode=render_mode)
        self.spec = spec_of(
            self,
            trap=self.trap,
            visits=self.visits,
            step_reward=float(step_reward),
            r_universal=r_universal if isinstance(r_universal, str) else float(r_universal),
            slip_probability=float(slip_probability),
        )

    @property
    def formulas(self) -> dict[str, str]:
        """The published tasks whose propositions this world has; Long needs `visits=True`."""
        return {name: text for name, text in FORMULAS.items() if self.visits or name != "Long"}

    def published_starts(self, name: str) -> IntArray:
        """The states in which episodes of a published task start: not on what would end it."""
        one_of(name, tuple(self.formulas), "the published task")
        taboo = np.atleast_2d(PLACES["office" if name == "CoffeeStrict" else "decoration"])
        mdp = self.space.mdp
        assert mdp.cells is not None
        on_taboo = (mdp.cells[mdp.starts][:, None] == taboo).all(axis=2).any(axis=1)
        remaining: IntArray = mdp.starts[~on_taboo]
        return remaining


def _rooms(trap: bool, step_reward: float, slip_probability: float) -> FiniteMDP:
    """The world without counters."""
    rows = MAP.split()
    free = [(r, c) for r, row in enumerate(rows) for c, symbol in enumerate(row) if symbol == "."]
    return from_text(
        rows,
        PLACES,
        step_reward=step_reward,
        slip_probability=slip_probability,
        touch=True,
        traps=[TRAP] if trap else [],
        starts=[cell for cell in free if not (trap and cell == TRAP)],
    )


def _lies_there(name: str) -> Callable[[Goal], bool]:
    """Whether a goal is one of this name, whatever its numbers."""
    return lambda goal: goal.name.split()[0] == name


def office(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> FiniteVectorEnv:
    """N copies of Office, for `gym.make_vec`; other arguments are those of `Office`."""
    return FiniteVectorEnv(Office(**arguments), num_envs, max_episode_steps=max_episode_steps)
