"""Office, with values that were planned, learned by Algorithm 1, and learned in few steps.

The published figure is the sum of discounted rewards over 100 episodes: 100 times the mean of
γⁿ⁻¹ over starts, γ = 0.9, for a success after n steps.  Every published start is played once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, final

import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import Array
from taskalgebra.envs.office import FORMULAS, MAP, PLACES, SUPPLY, TRAP
from taskalgebra.progress import Event
from taskalgebra.showcase.temporal.judge import (
    Board,
    Episode,
    Reading,
    fewest,
    follow_from,
    steps_of,
)
from taskalgebra.showcase.temporal.published import MOD, NOTHING_LEFT, OFFICE
from taskalgebra.showcase.temporal.record import FEW_STEPS, PLANNED, TABLES, Entry, Measured
from taskalgebra.skills.skills import Skills
from taskalgebra.worlds.grid import Cell

SCORE = "sum of discounted rewards"  # over 100 episodes
DISCOUNT = 0.9
LIMIT = 1_000
SEEDS = range(5)
QUICK = 20  # at toy size, one start in so many
N_TABLES = 3  # of M_U, of M_∅ and of one base task; formulas read the first
BUDGETS = tuple(N_TABLES * n for n in (5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 133_333))
"""Steps of all tables together, up to the 400,000 of the publication."""

Place = tuple[Cell, tuple[int, ...]]
Make = Callable[[ta.Office], tuple[Skills, int]]
"""From a world to skills, and the steps that they took to learn."""


@final
@dataclass(frozen=True)
class Case:
    """A task of the table, and the world that it is played in."""

    world: str
    task: str
    formula: str
    trap: bool = False
    visits: bool = False
    starts: str = "Coffee"
    """The published task whose starts are meant: not on what would end it."""


CASES = (
    *(Case(OFFICE, task, FORMULAS[task]) for task in ("Coffee", "Patrol", "CoffeeMail")),
    Case(OFFICE, "CoffeeStrict", FORMULAS["CoffeeStrict"], starts="CoffeeStrict"),
    Case(OFFICE, "Long", FORMULAS["Long"], visits=True, starts="Long"),
    Case(
        OFFICE,
        NOTHING_LEFT,
        FORMULAS["Long"].replace("!mail_left & ", "").replace("!people & ", ""),
    ),
    Case(MOD, "Coffee", FORMULAS["Coffee"], trap=True),
    Case(MOD, "CoffeeStrict", FORMULAS["CoffeeStrict"], trap=True, starts="CoffeeStrict"),
)


def board(*, trap: bool = False, visits: bool = False) -> Board:
    """The office as the judge sees it; a place is a cell and the visits to what runs out."""
    rows = MAP.split()
    lies = {
        cell: name
        for name, cells in PLACES.items()
        for cell in (cells if isinstance(cells, list) else [cells])
    }
    counted = list(SUPPLY)

    def enter(cell: Cell, before: tuple[int, ...]) -> tuple[Place, frozenset[str]]:
        name = lies.get(cell)
        if name is None or not visits or name not in SUPPLY:
            return (cell, before), frozenset([name] if name else [])
        more, limit = SUPPLY[name]
        n = before[counted.index(name)]
        after = tuple(
            m + (other == name and m < limit) for other, m in zip(counted, before, strict=True)
        )
        return (cell, after), frozenset([name, more] if n < limit else [name])

    @cache
    def moves(place: Place) -> list[tuple[Place, frozenset[str]]]:
        (row, column), before = place
        found = []
        for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            there = row + down, column + right
            stuck = trap and (row, column) == TRAP
            blocked = stuck or rows[there[0]][there[1]] == "#"
            found.append(enter((row, column) if blocked else there, before))
        return found

    letters = [frozenset([name]) for name in PLACES]
    letters += [frozenset([name, more]) for name, (more, _) in SUPPLY.items()]
    return Board(moves, tuple(letters))


def discounted(steps: Array) -> float:
    """100 · mean γⁿ⁻¹; nothing for an episode that fails."""
    return float(100 * np.where(np.isfinite(steps), DISCOUNT ** (steps - 1), 0.0).mean())


@final
class Judge:
    """The starts of a task, and the fewest steps from each."""

    def __init__(self, case: Case, every: int) -> None:
        """Search from every start, or from one in some."""
        self.case = case
        self.env = ta.Office(trap=case.trap, visits=case.visits)
        self.board = board(trap=case.trap, visits=case.visits)
        self.task = Reading.of(case.formula, self.board.letters)
        self.states = self.env.published_starts(case.starts)[::every].tolist()
        cells = self.env.space.mdp.cells
        assert cells is not None
        unvisited = (0,) * len(SUPPLY)
        self.places = [((row, column), unvisited) for row, column in cells[self.states].tolist()]
        if case.trap:  # here no episode starts there, in the publication one does
            self.places.append((TRAP, unvisited))
        self.fewest = np.array([fewest(self.board, self.task, place) for place in self.places])

    def measure(self, skills: Skills, **of: Any) -> Measured:
        """Play the task from every start."""
        agent = skills.for_formula(self.case.formula)
        episodes = [Episode(self.board, self.task, place) for place in self.places]
        follow_from(agent, self.env, self.states, episodes[: len(self.states)], LIMIT)
        return Measured.of(
            steps_of(episodes),
            self.fewest,
            world=self.case.world,
            task=self.case.task,
            formula=self.case.formula,
            score=discounted,
            **of,
        )


@cache
def judges(quick: bool) -> tuple[Judge, ...]:
    """One for each task."""
    return tuple(Judge(case, QUICK if quick else 1) for case in CASES)


def measured(make: Make, quick: bool, **of: Any) -> Iterator[Measured]:
    """Make skills of the office and of the one with the trap, and play all tasks."""
    worlds = {trap: make(ta.Office(trap=trap)) for trap in (False, True)}
    for judge in judges(quick):
        skills, learning_steps = worlds[judge.case.trap]
        if judge.env.counts is not None:  # counters change what goals mean, and not the way there
            returns = judge.env.counts.returns(skills.family.to_goals().returns)
            skills = ta.from_values(returns, judge.env)
        yield judge.measure(skills, learning_steps=learning_steps, **of)


def solved(world: ta.Office) -> tuple[Skills, int]:
    """Planned."""
    return ta.solve(world, ["office"]), 0


def learned(learner: ta.Learner, seed: int, world: ta.Office) -> tuple[Skills, int]:
    """Learned, with one base task: formulas over time read nothing but the returns to goals."""
    taken: dict[str, int] = {}

    def count(event: Event) -> None:
        taken[event.what] = event.n_steps

    skills = ta.learn(world, ["office"], learner=learner, seed=seed, listener=count)
    return skills, sum(taken.values())


def planned(quick: bool) -> Iterator[Measured]:
    """By planning."""
    yield from measured(solved, quick, values=PLANNED)


def by_algorithm_1(quick: bool, budgets: Sequence[int] = BUDGETS) -> Iterator[Measured]:
    """By Algorithm 1 with more and more steps."""
    for budget in budgets[-1:] if quick else budgets:
        learner = ta.QLearning(steps=budget // N_TABLES)
        for seed in SEEDS[:1] if quick else SEEDS:
            make = partial(learned, learner, seed)
            yield from measured(make, quick, values=TABLES, seed=seed, budget=budget)


def in_few_steps(quick: bool) -> Iterator[Measured]:
    """In as few steps as the learner takes; it stops by itself."""
    for seed in SEEDS[:1] if quick else SEEDS:
        make = partial(learned, ta.FewSteps(), seed)
        yield from measured(make, quick, values=FEW_STEPS, seed=seed)


OPTIMAL = "the optimum from every start"
ENTRIES = (
    Entry("office-planned", "Office, planned", PLANNED, planned, OPTIMAL, score=SCORE),
    Entry(
        "office-algorithm-1",
        "Office, Algorithm 1",
        TABLES,
        by_algorithm_1,
        f"{OPTIMAL}, with at most 400,000 steps of learning, 5 seeds",
        score=SCORE,
    ),
    Entry(
        "office-few-steps",
        "Office, few steps",
        FEW_STEPS,
        in_few_steps,
        f"{OPTIMAL}, 5 seeds",
        score=SCORE,
    ),
)
