"""Finite goal MDPs: what all tasks of a world share (Section 2, Assumption 1).

A world is (𝒮, 𝒜, ρ, r_{s,a}) with an absorbing set 𝒢 ⊆ 𝒮.  It fixes everything but the reward for
reaching each goal, in which tasks differ (`taskalgebra.theory.tasks`).

Notation and axis order, here and everywhere: S states, A actions, G goals; arrays are indexed
`[S, G, A]`, with missing axes left out.  States are the numbers 0 … S − 1.

A goal g ∈ 𝒢 is a state.  Entering it costs the step reward of the action that entered it.  The next
action, whatever it is, pays the terminal reward r(g) and ends the episode (the virtual state ω of
footnote 1).  `goals` always means all absorbing states, desired or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.content import ByContent
from taskalgebra.drawing import html, worlds
from taskalgebra.limits import MOST_OUTCOMES
from taskalgebra.validation import counted, goal_index
from taskalgebra.worlds import graph
from taskalgebra.worlds.graph import Predecessors

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.paper import Axes

NO_GOAL = -1
NO_LIMIT = 2**62
"""Of the steps of an episode that is never cut off."""


@dataclass(frozen=True, eq=False, repr=False)
class FiniteMDP(ByContent):
    """A finite world with absorbing goals.

    Make one with `from_arrays`, `from_outcomes`, `from_text` or `from_gymnasium`.  The dynamics ρ
    are held as outcomes in compressed rows: those of action a in state s are `successor[k]`, each
    with `probability[k]`, for k from `offset[s·A + a]` up to `offset[s·A + a + 1]`.  The rows of
    goals are self-loops, and their step rewards are 0; neither is ever used.
    """

    offset: LongArray  # [S·A + 1]
    successor: IntArray  # [number of outcomes]
    probability: Array  # [number of outcomes]
    step_reward: Array  # [S, A], r_{s,a}
    goals: IntArray  # [G], states
    goal_names: tuple[str, ...]
    action_names: tuple[str, ...]
    starts: IntArray  # in which episodes begin, all equally likely; one may be there twice
    goal_reward: Array | None = None  # [G], terminal rewards of the world's own task, if it has one
    cells: LongArray | None = None  # [S, 2], row and column of each state on a map
    ends: IntArray | None = None  # [G], what the environment itself calls the state of each goal
    max_episode_steps: int | None = None  # after which the environment itself ends an episode
    resumes: IntArray | None = (
        None  # [G], the state in which an episode that outlives a goal goes on
    )
    row_error: float = 0.0  # the L1 error of outcomes, where they were estimated from samples

    def __post_init__(self) -> None:
        """Refuse what searches would miscount."""
        if self.successor.size > MOST_OUTCOMES:
            raise ValueError(
                f"the world has {self.successor.size:,} outcomes of {self.n_states:,} states and "
                f"{self.n_actions:,} actions, and {MOST_OUTCOMES:,} are the most"
            )

    @property
    def limit_ignored(self) -> str:
        """What is lost where the environment's own limit is not planned for; "" without one."""
        n = self.max_episode_steps
        if n is None:
            return ""
        return (
            f"episodes of this environment end after {n} steps; plan for it with "
            f"solve(world, horizon={n})"
        )

    @property
    def n_states(self) -> int:
        """|𝒮|, absorbing states included."""
        return int(self.step_reward.shape[0])

    @property
    def n_actions(self) -> int:
        """|𝒜|."""
        return int(self.step_reward.shape[1])

    @property
    def n_goals(self) -> int:
        """|𝒢|."""
        return self.goals.size

    @cached_property
    def is_goal(self) -> BoolArray:
        """[S], whether a state is absorbing."""
        is_goal = np.zeros(self.n_states, np.bool_)
        is_goal[self.goals] = True
        return is_goal

    @cached_property
    def goal_of_state(self) -> IntArray:
        """[S], the number of the goal that a state is, or −1."""
        goal_of_state = np.full(self.n_states, NO_GOAL, np.int32)
        goal_of_state[self.goals] = np.arange(self.n_goals)
        return goal_of_state

    @property
    def deterministic(self) -> bool:
        """Whether every action has one outcome: Assumption 1(ii)."""
        return self.successor.size == self.step_reward.size

    @property
    def next_state(self) -> IntArray:
        """[S, A], the successor of each state and action in a deterministic world."""
        if not self.deterministic:
            raise ValueError(
                "next_state is defined for deterministic worlds only; "
                "this one has random outcomes: use offset, successor and probability"
            )
        return self.successor.reshape(self.n_states, self.n_actions)

    @cached_property
    def support(self) -> IntArray:
        """[S, W], the possible successors of each state, padded with the state itself."""
        if self.deterministic:
            return self.next_state
        counts = np.diff(self.offset[:: self.n_actions])
        column = np.arange(self.successor.size) - np.repeat(
            self.offset[: -1 : self.n_actions], counts
        )
        support = np.repeat(np.arange(self.n_states, dtype=np.int32)[:, None], counts.max(), axis=1)
        support[np.repeat(np.arange(self.n_states), counts), column] = self.successor
        return support

    @cached_property
    def predecessors(self) -> Predecessors:
        """The reversed graph of possible transitions."""
        if self.deterministic:
            return graph.predecessors(self.support, with_edges=True)
        return graph.predecessors_of(self.offset, self.successor, self.n_actions)

    @cached_property
    def diameter(self) -> int:
        """D of Definition 2; see `graph.diameter`."""
        if self.n_states > graph.EXACT_DIAMETER:
            return self.n_states - 1
        return graph.diameter(self.support)

    @cached_property
    def ending(self) -> BoolArray:
        """[S], whether some policy reaches 𝒢 from s with probability one (a proper policy)."""
        if self.deterministic:
            offset, state, _ = self.predecessors
            return graph.can_reach(offset, state, self.goals)
        return graph.almost_surely(self.offset, self.successor, self.n_actions, self.is_goal)

    @property
    def after_goals(self) -> IntArray:
        """[G], the states in which episodes go on after goals.

        Raises:
            ValueError: the world does not say.
        """
        if self.resumes is None:
            raise ValueError(
                "this world does not say in which state an episode goes on after a goal, which "
                "tasks with time need; draw it with from_text, pass resumes=[...] to from_arrays "
                "or from_outcomes, or continuing=True to from_gymnasium or explore"
            )
        return self.resumes

    def goal_index(self, goal: str | int) -> int:
        """The position of a goal in `goals`, by its name or by its position."""
        return goal_index(goal, self.goal_names)

    def state_name(self, state: int) -> str:
        """A state in words: its goal, its cell on the map, or its number."""
        if self.is_goal[state]:
            return f"goal {self.goal_names[self.goal_of_state[state]]!r}"
        if self.cells is not None:
            row, column = self.cells[state]
            return f"cell ({row}, {column})"
        return f"state {state}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map with the names of goals, or the graph of the states if there is no map.

        Args:
            ax: where to draw; by default in a new figure.

        Raises:
            ValueError: the world has no map, and too many states for a graph.
        """
        return worlds.plot(self, self._in_words.capitalize(), ax)

    def _repr_html_(self) -> str:
        """The map and the sizes, for notebooks."""
        drawn = worlds.picture(self, self._in_words)
        known = [["goals", html.names(self.goal_names)], ["actions", html.names(self.action_names)]]
        return html.shown("World", html.soft(self._in_words), html.beside(drawn, html.rows(known)))

    @property
    def _in_words(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        sizes = ((self.n_states, "state"), (self.n_goals, "goal"), (self.n_actions, "action"))
        return f"{kind} world: {', '.join(counted(*size) for size in sizes)}"

    def __repr__(self) -> str:
        """Sizes only: the arrays are long."""
        return f"<{self._in_words}>"
