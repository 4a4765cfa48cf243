"""The paper's lemmas and theorems, tested on exact tables: how many equations, how many broken.

All rewards are dyadic, so that sums are exact and `==` means equal.  In Four Rooms the laws are
tried on every triple of the 16 tasks; on random worlds, where dead ends and goals that cannot be
reached occur, on random tasks.  The right-hand sides come from value iteration, written here from
the definitions, which shares no code with the planner.

Two statements are also tried *as printed*, where the paper allows more than its proofs do: terminal
rewards that depend on the action, and a penalty that leaves out the last reward (PAPER.md,
deviations 1 and 2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from taskalgebra.arrays import Array, IntArray
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.logic.algebra import LAWS
from taskalgebra.paper.experiments.rooms import SIXTEEN
from taskalgebra.paper.results.labels import PRINTED
from taskalgebra.paper.results.record import Result
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.rewards import recover_q
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.theory.values import ExtendedQ
from taskalgebra.worlds.build import from_arrays

NAME = "theorems"
FOUR_ROOMS, RANDOM = "Four Rooms", "random worlds"
STEP = -0.125

Check = tuple[str, bool]
"""An item of the paper, and whether one of its equations holds."""


@dataclass(frozen=True)
class Config:
    """How much to try."""

    tasks: int = 16
    """Of the 16 tasks of Four Rooms, how many to form all triples of."""
    worlds: int = 200
    """Random worlds."""
    seed: int = 0
    """Of all random numbers."""


QUICK = Config(tasks=3, worlds=10)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Try every equation: one row per item and place, with how many were tried and broken."""
    places = (FOUR_ROOMS, RANDOM, PRINTED)
    found = sweep.map(_tried, [(config, place) for place in places])
    rows = sorted(row for rows in found for row in rows)
    return Result.of_rows(NAME, config, ("item", "place", "equations", "broken"), rows)


def _tried(cell: tuple[Config, str]) -> list[tuple[str, str, int, int]]:
    """The equations of one place: each item with how many were tried and broken."""
    config, place = cell
    checks = {FOUR_ROOMS: _four_rooms, RANDOM: _random, PRINTED: _printed}[place]
    tried: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for item, holds in checks(config):
        tried[item] += 1
        broken[item] += not holds
    return [(item, place, n, broken[item]) for item, n in tried.items()]


def value_iteration(next_state: IntArray, step_reward: Array, paid: Array) -> Array:
    """Q*(s, a) of a deterministic world: Q ← r + max_a' Q(s', a'), from −∞, until nothing changes.

    `paid` is `[S, A]`: what a goal pays, and NaN elsewhere.
    """
    ends = ~np.isnan(paid)
    q: Array = np.where(ends, paid, -np.inf)
    while True:
        new: Array = np.where(ends, paid, step_reward + q.max(axis=1)[next_state])
        if np.array_equal(new, q):
            return q
        q = new


def _q_star(space: TaskSpace, rewards: Array) -> Array:
    """Q* of the task whose goals pay these rewards, `[G]`."""
    mdp = space.mdp
    paid = np.full((mdp.n_states, mdp.n_actions), np.nan)
    paid[mdp.goals] = rewards[:, None]
    return value_iteration(mdp.next_state, mdp.step_reward, paid)


def _q_bar_star(task: Task, r_bar_min: float) -> Array:
    """Q̄*(s, g, a) from Definitions 2 and 3: for each g, all other goals pay r̄_MIN."""
    extended = np.where(np.eye(task.goal_reward.size, dtype=np.bool_), task.goal_reward, r_bar_min)
    return np.stack([_q_star(task.space, rewards) for rewards in extended], axis=1)


def _four_rooms(config: Config) -> Iterator[Check]:
    world = FourRooms(step_reward=STEP)
    space = world.space
    tasks = list(space.two_valued_tasks())
    yield from _values(space, tasks, q_bar_star(space, tasks))
    chosen = [tasks[i] for i in np.linspace(0, len(tasks) - 1, config.tasks).round().astype(int)]
    plan = q_bar_star(space, chosen)
    yield from _laws(space, chosen, plan, product(range(config.tasks), repeat=3))
    yield from _compositions(chosen, plan)
    base = q_bar_star(space, list(world.tasks.values()))
    values = dict(zip(world.tasks, base.values, strict=True))
    for expression in SIXTEEN:
        bounds = base.bounds
        composed = expression.evaluate(values, universal=bounds.universal, empty=bounds.empty)
        planned = _q_bar_star(world.find_task(expression), base.r_bar_min)
        yield "Corollary 2", np.array_equal(_table(composed), planned)


def _random(config: Config) -> Iterator[Check]:
    rng = np.random.default_rng(config.seed)
    for _ in range(config.worlds):
        space = _random_space(rng)
        tasks = [space.from_desired(rng.random(space.mdp.n_goals) < 0.5) for _ in range(3)]
        plan = q_bar_star(space, tasks)
        yield from _values(space, tasks, plan)
        yield from _laws(space, tasks, plan, [(0, 1, 2)])
        yield from _compositions(tasks, plan)


def _random_space(rng: np.random.Generator) -> TaskSpace:
    """Any graph whose steps cost, with 1 to 4 goals; one of them can be reached."""
    n_states, n_actions = int(rng.integers(6, 30)), int(rng.integers(1, 4))
    goals = rng.choice(n_states, int(rng.integers(1, 5)), replace=False)
    next_state = rng.integers(0, n_states, (n_states, n_actions))
    start = rng.choice(np.setdiff1d(np.arange(n_states), goals))
    next_state[start, 0] = goals[0]
    steps = -rng.integers(1, 17, (n_states, n_actions)) / 8
    r_empty, r_universal = np.sort(rng.choice(49, 2, replace=False) - 24) / 8
    world = from_arrays(next_state, steps, goals)
    return TaskSpace(world, r_empty=float(r_empty), r_universal=float(r_universal))


def _table(values: ExtendedQ) -> Array:
    """`[S, G, A]`."""
    return values.q_bar(np.arange(values.space.mdp.n_states))


def _values(space: TaskSpace, tasks: Sequence[Task], plan: TableFamily) -> Iterator[Check]:
    """Definition 3, Lemmas 1 and 2, Corollary 1."""
    live = ~space.mdp.is_goal
    tables = [_table(values) for values in plan.values]
    single = np.where(np.eye(space.mdp.n_goals, dtype=np.bool_), 0.0, -np.inf)
    reached = np.isfinite(np.stack([_q_star(space, rewards) for rewards in single], axis=1))
    for task, table in zip(tasks, tables, strict=True):
        yield "Definition 3", np.array_equal(table, _q_bar_star(task, plan.r_bar_min))
        yield "Lemma 1", np.array_equal(recover_q(table), _q_star(space, task.goal_reward))
        best, first = (t[live] == t[live].max(axis=2, keepdims=True) for t in (table, tables[0]))
        yield "Lemma 2", np.array_equal(best, first)
        change = np.where(reached, (task.goal_reward - tasks[0].goal_reward)[:, None], 0.0)
        yield "Corollary 1", np.array_equal(table[live], (tables[0] + change)[live])


def _laws(
    space: TaskSpace, tasks: Sequence[Task], plan: TableFamily, triples: Iterable[tuple[int, ...]]
) -> Iterator[Check]:
    """Theorems 1 and 2: every law of a Boolean algebra, on tasks and on their values."""
    bounds = plan.bounds
    for i, j, k in triples:
        a, b, c = tasks[i], tasks[j], tasks[k]
        x, y, z = plan.values[i], plan.values[j], plan.values[k]
        for law in LAWS:
            for left, right in law.sides(a, b, c, space.empty, space.universal):
                yield "Theorem 1", left == right
            for left, right in law.sides(x, y, z, bounds.empty, bounds.universal):
                yield "Theorem 2", left == right


def _compositions(tasks: Sequence[Task], plan: TableFamily) -> Iterator[Check]:
    """Theorem 3: composed values are those of the composed task."""
    known: dict[bytes, Array] = {}
    for (a, x), (b, y) in product(zip(tasks, plan.values, strict=True), repeat=2):
        for task, composed in ((~a, ~x), (a | b, x | y), (a & b, x & y), (a ^ b, x ^ y)):
            key = task.goal_reward.tobytes()
            if key not in known:
                known[key] = _q_bar_star(task, plan.r_bar_min)
            yield "Theorem 3", np.array_equal(_table(composed), known[key])


def _printed(config: Config) -> Iterator[Check]:
    """Two worlds that the paper's assumptions allow and its proofs do not cover."""
    # One step to the one goal.  M₁ pays (1, 0) for the two actions there, M₂ pays (0, 1).
    one, two = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    universal, empty = np.maximum(one, two), np.minimum(one, two)

    def value(paid: Array) -> float:
        steps, nowhere = np.full((2, 2), STEP), np.full(2, np.nan)
        return float(
            value_iteration(np.ones((2, 2), np.int32), steps, np.stack([nowhere, paid]))[0, 0]
        )

    yield "Theorem 3", value(np.maximum(one, two)) == max(value(one), value(two))
    yield "Theorem 3", value(np.minimum(one, two)) == min(value(one), value(two))
    total = value(universal) + value(empty)
    yield "Theorem 3", value(universal + empty - one) == total - value(one)
    values_of_tasks = [(value(np.array(paid)), *paid) for paid in product((0.0, 1.0), repeat=2)]
    conjunction = (min(value(one), value(two)), *np.minimum(one, two).tolist())
    yield "Theorem 2", conjunction in values_of_tasks  # else ∧ leaves the set of optimal values
    # One step leads to either goal, so D = 1; the way to the first costs 2, to the other 1/8.
    world = from_arrays(
        [[1, 2], [1, 1], [2, 2]], np.array([[-2, STEP], [0, 0], [0, 0]]), goals=[1, 2]
    )
    space = TaskSpace(world, r_universal=0.125, r_empty=-2)
    penalty = min(space.r_min, (space.r_min - space.r_max) * world.diameter)
    tables = [_q_bar_star(task, penalty) for task in (space.task(["g0"]), space.empty)]
    towards_first = [int(table[0, 0].argmax()) for table in tables]
    yield "Lemma 2", towards_first[0] == towards_first[1]
