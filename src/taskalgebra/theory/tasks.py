"""Tasks and the space they span (Assumptions 1 and 2, Definition 1, Theorem 1).

All tasks of a space 𝓜 share one world.  By Assumption 1 they differ only in the reward for
reaching each goal, so a `Task` is little more than `goal_reward[G]`.  The space knows the universal
task M_U, which desires every goal, and the empty task M_∅, which desires none:

    space = TaskSpace(world)
    top = space.task(["top_left", "top_right"])
    left = space.task(["top_left", "bottom_left"])
    either_but_not_both = top ^ left
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.content import ByContent, number_bytes
from taskalgebra.logic.algebra import Bounds, conjunction, disjunction, negation
from taskalgebra.theory.assumptions import examine
from taskalgebra.theory.findings import (
    AssumptionReport,
    Candidate,
    Finding,
    candidate,
    candidate_of,
)
from taskalgebra.theory.rounding import scale_of
from taskalgebra.theory.shown import ShownTask
from taskalgebra.theory.worth import of_task, remarks, usual_rewards, worthwhile
from taskalgebra.validation import finite, goals_named, instance, listed, per_goal
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import Goal, OpenWorld


@final
@dataclass(frozen=True, eq=False, repr=False)
class Task(ShownTask):
    """A task M: the terminal reward r_M(g) of every goal; all else belongs to the space.

    `step_reward` is None under Assumption 1(iii).  A dense task, which breaks the assumption on
    purpose, has its own r_M(s, a) outside goals.
    """

    space: TaskSpace
    goal_reward: Array  # [G]
    step_reward: Array | None = None  # [S, A]

    def __post_init__(self) -> None:
        """Tasks are hashed, so their rewards must not change."""
        for rewards in (self.goal_reward, self.step_reward):
            if rewards is not None:
                rewards.setflags(write=False)

    @property
    def desired(self) -> BoolArray:
        """[G], the goals with r_M(g) = r_U, which is more than r_∅."""
        desired: BoolArray = self.space.wantable & (self.goal_reward == self.space.r_universal)
        return desired

    @property
    def wanted(self) -> BoolArray:
        """[G], the goals in which an episode succeeds.

        They are the desired ones, none for the empty task; where goals pay other rewards than r_∅
        and r_U, those that pay most.
        """
        if self.two_valued:
            return self.desired
        most: BoolArray = self.goal_reward == self.goal_reward.max()
        return most

    @property
    def two_valued(self) -> bool:
        """Whether every goal pays r_∅ or r_U: Assumption 2."""
        return bool((self.desired | (self.goal_reward == self.space.r_empty)).all())

    def __and__(self, other: Task) -> Task:
        """M₁ ∧ M₂ pays min{r₁, r₂}  (Definition 1)."""
        return self._pointwise(conjunction, other)

    def __or__(self, other: Task) -> Task:
        """M₁ ∨ M₂ pays max{r₁, r₂}  (Definition 1)."""
        return self._pointwise(disjunction, other)

    def __invert__(self) -> Task:
        """¬M pays (r_U + r_∅) − r_M  (Definition 1), exactly r_∅ where r_M is r_U and vice versa.

        In floating point (2 + −0.1) − 2 is not −0.1, and a task must not lose a goal to that.
        """
        space, goal, step = self.space, self.goal_reward, self.step_reward
        negated = negation(goal, Bounds(space.r_universal, space.r_empty))
        negated = np.where(goal == space.r_empty, space.r_universal, negated)
        negated = np.where(goal == space.r_universal, space.r_empty, negated)
        if step is not None:
            step = negation(step, Bounds(space.mdp.step_reward, space.mdp.step_reward))
        return Task(space, negated, step)

    def _pointwise(self, operator: Callable[[Array, Array], Array], other: Task) -> Task:
        if not isinstance(other, Task):
            return NotImplemented
        if other.space != self.space:
            raise ValueError(
                "these tasks belong to two spaces; compose tasks made by the same TaskSpace"
            )
        step = None
        if self.step_reward is not None or other.step_reward is not None:
            step = operator(self.steps, other.steps)
        return Task(self.space, operator(self.goal_reward, other.goal_reward), step)

    @property
    def steps(self) -> Array:
        """[S, A], r_M(s, a) outside goals: the world's, unless the task is dense."""
        return self.space.mdp.step_reward if self.step_reward is None else self.step_reward

    def worth_the_way(self) -> Finding:
        """Whether an optimal agent ends in a desired goal from every start that can reach one."""
        return of_task(*self._examined())

    def remarks(self) -> list[str]:
        """What may keep an agent from desired goals, in sentences."""
        return remarks(*self._examined())

    def _examined(self) -> tuple[Candidate, Array, Array]:
        return self.space._candidate("", self), self.space.r_empty, self.space.r_universal

    def of(self, space: TaskSpace) -> Task:
        """This task as one of an equal space, such as the one it was sent from."""
        return self if self.space is space else Task(space, self.goal_reward, self.step_reward)

    def __eq__(self, other: object) -> bool:
        """Equal spaces, same rewards."""
        return (
            isinstance(other, Task)
            and other.space == self.space
            and np.array_equal(self.goal_reward, other.goal_reward)
            and (self.step_reward is other.step_reward or np.array_equal(self.steps, other.steps))
        )

    def __hash__(self) -> int:
        """Equal tasks have equal hashes."""
        return hash((self.space, number_bytes(self.goal_reward)))

    def __repr__(self) -> str:
        """The desired goals, or all rewards when there are more than two values."""
        names = self.space.goal_names
        if self.two_valued:
            return f"Task{{{listed([n for n, d in zip(names, self.desired, strict=True) if d])}}}"
        pairs = [f"{n}: {r:g}" for n, r in zip(names, self.goal_reward, strict=True)]
        return f"Task{{{listed(pairs)}}}"


class TaskSpace(ByContent):
    """The set of tasks 𝓜 of one world, with its bounds M_U and M_∅.

    Args:
        world: the world that all tasks share, finite or open.
        r_universal: r_U, what a desired goal pays; one number, or one per goal.  "auto" is the
            default, or more if some goal is then not worth the way from some start: one step's cost
            more than the least that is (see `theory.worth`).
        r_empty: r_∅, what any other goal pays.  Where both are equal, no task wants the goal.

    By default, a world with a task of its own sets them to the largest and the smallest reward of
    its goals (if all goals pay the same, r_∅ is the lowest step reward, but at least 1 below r_U);
    any other world uses the numbers of the paper, 2 and −0.1.
    """

    def __init__(
        self,
        world: FiniteMDP | OpenWorld,
        *,
        r_universal: ArrayLike | Literal["auto"] | None = None,
        r_empty: ArrayLike | None = None,
    ) -> None:
        """Fix the world and the two terminal rewards."""
        if not isinstance(world, FiniteMDP | OpenWorld):
            raise TypeError(
                f"the world of a TaskSpace must be a FiniteMDP or an OpenWorld, got {world!r}"
                + ("; an environment has its space: env.space" if hasattr(world, "space") else "")
            )
        self.world = world
        self.goal_names, self.action_names = world.goal_names, world.action_names
        self.n_goals, self.n_actions = world.n_goals, world.n_actions
        low, high = usual_rewards(world)
        self.r_empty = per_goal(low if r_empty is None else r_empty, "r_empty", self.n_goals)
        if isinstance(r_universal, str):
            r_universal = worthwhile(world, r_universal, high, self.r_empty)
        self.r_universal = per_goal(
            high if r_universal is None else r_universal, "r_universal", self.n_goals
        )
        self.wantable: BoolArray = self.r_empty < self.r_universal  # [G]
        wrong = self.r_empty > self.r_universal if self.wantable.any() else ~self.wantable
        if wrong.any():
            g = int(np.argmax(wrong))
            raise ValueError(
                f"r_empty = {self.r_empty[g]:g} is not below r_universal = "
                f"{self.r_universal[g]:g} for goal {self.goal_names[g]!r}; a desired goal must pay "
                f"more than any other"
            )
        self.universal = Task(self, self.r_universal)
        self.empty = Task(self, self.r_empty)

    @cached_property
    def mdp(self) -> FiniteMDP:
        """The world, which must be finite.

        Raises:
            TypeError: the world is open.
        """
        if not isinstance(self.world, FiniteMDP):
            raise TypeError(
                "this task space belongs to an open world, known only by playing it; planning, "
                "bounds, tables and pictures need a finite one: explore(world) makes one of an "
                "environment that can be put back into its states"
            )
        return self.world

    @property
    def finite(self) -> bool:
        """Whether the world is finite, so that its states can be listed."""
        return isinstance(self.world, FiniteMDP)

    @property
    def r_min(self) -> float:
        """r_MIN over all rewards of all tasks."""
        return float(min(self._live_steps.min(), self.r_empty.min()))

    @property
    def r_max(self) -> float:
        """r_MAX over all rewards of all tasks."""
        return float(max(self._live_steps.max(), self.r_universal.max()))

    @cached_property
    def reward_scale(self) -> float:
        """The size of the largest reward, by which rounding errors of values are measured."""
        if self.finite:
            return scale_of(self.mdp, self.r_empty, self.r_universal)
        return float(np.abs([self.r_empty, self.r_universal]).max())

    @property
    def _live_steps(self) -> Array:
        return self.mdp.step_reward[~self.mdp.is_goal]

    @property
    def goals(self) -> tuple[Goal, ...]:
        """𝒢, as records for predicates."""
        if not self.finite:
            return tuple(Goal(i, name, None, None) for i, name in enumerate(self.goal_names))
        cells = self.mdp.cells
        return tuple(
            Goal(i, name, int(s), None if cells is None else (int(cells[s][0]), int(cells[s][1])))
            for i, (name, s) in enumerate(zip(self.goal_names, self.mdp.goals, strict=True))
        )

    def task(self, desired: Iterable[str | int] | Callable[[Goal], bool]) -> Task:
        """The task that desires some goals: by name, kind or position, or by a predicate.

        Of goals that are numbered, such as "rock 1" and "rock 2", the kind "rock" is all.

        >>> from taskalgebra.worlds.grid import from_text
        >>> space = TaskSpace(from_text("A.B.C"))
        >>> space.task(["A", "C"])
        Task{A, C}
        >>> space.task(lambda goal: goal.cell[1] < 4)
        Task{A, B}
        """
        if callable(desired):
            chosen = [goal.number for goal in self.goals if desired(goal)]
            asked = "the predicate"
        else:
            named = [desired] if isinstance(desired, str | int | np.integer) else desired
            if not isinstance(named, Iterable):
                raise ValueError(f"{desired!r} is neither a list of goals nor a predicate")
            named = list(named)
            chosen = [g for goal in named for g in goals_named(goal, self.goal_names)]
            asked = f"{named!r}"
            if len(set(chosen)) != len(chosen):
                raise ValueError(f"{asked} lists a goal twice")
        if not chosen:
            raise ValueError(
                f"{asked} selects no goal; this world has {listed(self.goal_names)}. "
                f"The task that desires no goal is space.empty"
            )
        if not self.wantable[chosen].any():
            raise ValueError(
                f"{asked} selects {listed([self.goal_names[goal] for goal in chosen])}, which no "
                f"task can want: r_∅ and r_U are the same there"
            )
        return self.from_desired(np.isin(np.arange(self.n_goals), chosen))

    def from_desired(self, desired: ArrayLike) -> Task:
        """The two-valued task with this truth value for each goal, `[G]`."""
        given = np.asarray(desired)
        if given.shape != (self.n_goals,) or not np.isin(given, (0, 1)).all():
            raise ValueError(
                f"desired must hold true or false for each of the {self.n_goals} goals, "
                f"got {desired!r}"
            )
        return Task(self, np.where(given.astype(np.bool_), self.r_universal, self.r_empty))

    def from_rewards(self, goal_reward: ArrayLike, step_reward: ArrayLike | None = None) -> Task:
        """The task with these terminal rewards, `[G]` or `[G, A]`, between r_∅ and r_U.

        Rewards r(g, a) that depend on the action are rejected: Theorems 2 and 3 do not hold for
        them (see PAPER.md).  `step_reward`, `[S, A]`, makes a dense task.
        """
        given = np.asarray(goal_reward)
        if given.ndim == 2:
            table = finite(given, "goal_reward", (self.n_goals, self.n_actions))
            differ = np.argwhere(table != table[:, :1])
            if differ.size:
                g, a = differ[0]
                raise ValueError(
                    f"goal {self.goal_names[g]!r} pays {table[g, 0]:g} for {self.action_names[0]}, "
                    f"{table[g, a]:g} for {self.action_names[a]}; terminal rewards must not depend "
                    f"on the action, or composition is not optimal: give one reward per goal"
                )
            given = table[:, 0]
        rewards = finite(given, "goal_reward", (self.n_goals,))
        outside = (rewards < self.r_empty) | (rewards > self.r_universal)
        if outside.any():
            g = int(np.argmax(outside))
            raise ValueError(
                f"goal {self.goal_names[g]!r} pays {rewards[g]:g}, outside [r_∅, r_U] = "
                f"[{self.r_empty[g]:g}, {self.r_universal[g]:g}]; make the TaskSpace with "
                f"wider r_empty and r_universal"
            )
        if step_reward is None:
            return Task(self, rewards)
        if not self.finite:
            raise TypeError(
                "step_reward holds one reward for each state and action, but an open world has no "
                "list of states; give goal_reward alone"
            )
        steps = finite(step_reward, "step_reward", (self.mdp.n_states, self.n_actions))
        steps[self.mdp.goals] = 0.0
        return Task(self, rewards, steps)

    def from_labels(self, labels: Mapping[str, Sequence[int] | ArrayLike]) -> dict[str, Task]:
        """One task per column of a label table: `{"top": [1, 1, 0, 0], "left": [1, 0, 1, 0]}`."""
        if not instance(labels, Mapping, "labels"):  # type: ignore[type-abstract]
            raise ValueError("the label table has no columns; give at least one task")
        tasks = {}
        for name, column in labels.items():
            try:
                tasks[name] = self.from_desired(column)
            except ValueError as error:
                raise ValueError(f"the labels of task {name!r} do not fit: {error}") from None
        return tasks

    @property
    def original(self) -> Task:
        """The task that the world itself poses, for worlds taken from an environment."""
        if not self.finite or self.mdp.goal_reward is None:
            raise ValueError("this world poses no task of its own; make one with space.task(...)")
        return self.from_rewards(self.mdp.goal_reward)

    def two_valued_tasks(self) -> Iterator[Task]:
        """All 2^G two-valued tasks; task i desires goal j iff bit j of i is set."""
        for i in range(2**self.n_goals):
            yield self.from_desired([i >> j & 1 for j in range(self.n_goals)])

    def check(
        self,
        tasks: Mapping[str, Task | FiniteMDP | ArrayLike]
        | Sequence[Task | FiniteMDP | ArrayLike]
        | Task = (),
    ) -> AssumptionReport:
        """Report which of the paper's assumptions hold for these tasks, and the first offenders.

        A task may be a `Task` of any space, a world with rewards of its own, or a reward table:
        `[G]` or `[G, A]` terminal rewards, or `[S, A]` rewards of all states.
        """
        if isinstance(tasks, Task):
            tasks = [tasks]
        if isinstance(tasks, str):
            raise TypeError(f"tasks must be tasks, by name or in a list, got the string {tasks!r}")
        if not isinstance(tasks, Mapping):
            tasks = {f"task {i}": task for i, task in enumerate(tasks)}
        candidates = [self._candidate(name, task) for name, task in tasks.items()]
        return examine(self.mdp, candidates, self.r_empty, self.r_universal)

    def _candidate(self, name: str, task: Task | FiniteMDP | ArrayLike) -> Candidate:
        if isinstance(task, Task):
            return candidate(name, task.space.mdp, task.steps, task.goal_reward)
        return candidate_of(name, self.mdp, task)

    _held = ("world", "r_empty", "r_universal")  # all else follows

    def __repr__(self) -> str:
        """The world and the two rewards."""
        high, low = self.r_universal[0], self.r_empty[0]
        return f"TaskSpace({self.world!r}, r_U = {high:g}, r_∅ = {low:g})"
