"""What others do with tasks and values, under one interface.

A `Baseline` learns some tables by interaction and then acts on expressions without learning more:

    learned = MaxOfTasks().learn(space, {"top": top, "left": left}, seed=0)
    actions = learned.actions("top | left")          # [S]

Each differs in the tables that it learns and in how it puts them together.  Q_M is a plain value
function `[S, A]`, Q̄_M an extended one `[S, G, A]`, ψ the successor features `[S, A, G + 1]`.

| baseline          | tables                      | acts greedily on              | expresses    |
|-------------------|-----------------------------|-------------------------------|--------------|
| `ExtendedValues`  | Q̄ of base tasks, M_U, M_∅   | min, max and ¬ on Q̄           | everything   |
| `MaxOfTasks`      | Q of base tasks             | max{Q₁, Q₂} for ∨             | ∨            |
| `MaxOfGoals`      | Q of single-goal tasks      | max_{g desired} Q_g           | all but M_∅  |
| `AverageOfTasks`  | Q of base tasks             | (Q₁ + Q₂)/2 for ∧, max for ∨  | ∧, ∨         |
| `FromScratch`     | Q of every task             | Q_M                           | everything   |
| `FeaturesOfTasks` | ψ of policies of base tasks | max_i ψ_i · w_M               | everything   |
| `FeaturesOfGoals` | ψ of policies to one goal   | max_g ψ_g · w_M               | everything   |

Where they are exact, given exact tables of a deterministic world that meets Assumption 1:
`ExtendedValues` and `FromScratch` always; `MaxOfTasks` and `MaxOfGoals` wherever they are defined;
`FeaturesOfGoals` wherever its policies reach their goals.  `FeaturesOfTasks` is never worse than
the best base policy, but no base policy goes to a goal that no base task wants.  `AverageOfTasks`
is exact without ∧ only.  What a method does not define raises `NotExpressible`; nothing is faked.

All tables are learned in the same way: each from a stream of experience of its own, by default at
random (ε = 1) and with α = 1, until the *whole* table is within 1e-5 of its exact value, tested
before every step, or until `max_steps`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning, q_learning
from taskalgebra.logic.algebra import Bounds
from taskalgebra.logic.expression import Expression, parse
from taskalgebra.logic.sum_of_products import sum_of_products
from taskalgebra.planning.exact import optimal_q, q_bar_star
from taskalgebra.theory.base_tasks import labels_of
from taskalgebra.theory.extended import compose
from taskalgebra.theory.policy import TIE, greedy
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import count, instance
from taskalgebra.worlds.chance import State, sampled, seeded, uniform
from taskalgebra.worlds.finite import FiniteMDP

TOLERANCE = 1e-5
"""A table is learned when no entry is further from its exact value."""

MOST_TASKS = 2**12
"""`FromScratch` learns a table for every task; beyond this many it refuses."""

SWEEPS = 100
"""Policies that need more sweeps a state to be evaluated are taken to be endless."""


class NotExpressible(ValueError):
    """The method does not say how to act on this expression."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """One learned table, and what it cost."""

    values: Array  # [S, A], [S, G, A] or [S, A, G + 1]
    n_steps: int  # of the environment
    converged: bool  # whether it is exact, up to TOLERANCE


@final
@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """The tables that a baseline has learned; from here on nothing is learned."""

    method: Baseline
    space: TaskSpace
    base_tasks: dict[str, Task]
    tables: dict[Task, Table]

    @property
    def n_tables(self) -> int:
        """How many tables were learned."""
        return len(self.tables)

    @property
    def n_entries(self) -> int:
        """How many numbers the tables hold."""
        return sum(table.values.size for table in self.tables.values())

    @property
    def n_samples(self) -> int:
        """How many environment steps were taken, over all tables."""
        return sum(table.n_steps for table in self.tables.values())

    @property
    def converged(self) -> bool:
        """Whether every table is exact."""
        return all(table.converged for table in self.tables.values())

    def values(self, expression: str | Expression) -> Array:
        """`[S, N, A]`, N value functions for an expression; the agent maximises over them.

        Raises:
            NotExpressible: the method does not define this.
            ExpressionError: the text is no formula over the base tasks.
        """
        if isinstance(expression, str):
            expression = parse(expression, self.base_tasks)
        if not isinstance(expression, Expression):
            raise TypeError(f"expected an expression over the base tasks, got {expression!r}")
        expression.steps_over(self.base_tasks)
        return self.method.compose(self, expression)

    def choices(self, expression: str | Expression) -> BoolArray:
        """`[S, A]`, the best actions: argmax_a max_n of the values, and all tied with it.

        Raises as `values`.
        """
        q = self.values(expression).max(axis=1)
        best = q.max(axis=1, keepdims=True)
        tied: BoolArray = q >= best - TIE * np.maximum(1.0, np.abs(best))
        return tied

    def actions(self, expression: str | Expression) -> NDArray[np.int64]:
        """`[S]`, the first of the best actions, as `policy.greedy`.  Raises as `values`."""
        first: NDArray[np.int64] = self.choices(expression).argmax(axis=1)
        return first

    def task(self, expression: Expression) -> Task:
        """The task that an expression stands for."""
        space = self.space
        return expression.evaluate(self.base_tasks, universal=space.universal, empty=space.empty)

    def table(self, task: Task) -> Array:
        """The values learned for a task."""
        return self.tables[task].values


@dataclass(frozen=True)
class Baseline(ABC):
    """A way to learn tables for base tasks, and to act on expressions over them."""

    settings: Settings = field(default_factory=Settings)
    """α, ε and γ of learning; the defaults suit deterministic worlds."""
    max_steps: int = 10_000_000
    """A table that is not exact after this many environment steps is taken as it is."""

    title: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse a limit that is no number of steps."""
        count(self.max_steps, "max_steps")

    @final
    def learn(self, space: TaskSpace, base_tasks: Mapping[str, Task], *, seed: int = 0) -> Learned:
        """Learn by interaction all that the method needs for expressions over these tasks.

        Args:
            space: the task space.
            base_tasks: two-valued tasks of that space, by name, with its step rewards.
            seed: each table has a random stream of its own, made from this number and the place
                of the table; so methods that learn the same tables learn them from the same steps.
        """
        _check(space, base_tasks)
        wanted = list(dict.fromkeys(self.to_learn(space, base_tasks)))
        try:
            seeds = np.random.SeedSequence(seed).generate_state(len(wanted), np.uint64)
        except (TypeError, ValueError):
            raise ValueError(f"seed is {seed!r}, expected a whole number of at least 0") from None
        tables = {
            task: self.learn_table(task, int(own)) for task, own in zip(wanted, seeds, strict=True)
        }
        return Learned(self, space, dict(base_tasks), tables)

    @abstractmethod
    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The tasks that need a table."""

    @abstractmethod
    def learn_table(self, task: Task, seed: int) -> Table:
        """Learn the table of one task."""

    @abstractmethod
    def compose(self, learned: Learned, expression: Expression) -> Array:
        """`[S, N, A]`, the values to maximise over; or raise `NotExpressible`."""

    def _stop(self, optimum: Array) -> Stop:
        return Stop(steps=self.max_steps, optimum=optimum, tolerance=TOLERANCE)


@final
@dataclass(frozen=True)
class ExtendedValues(Baseline):
    """The Boolean task algebra of the paper (Definition 4, Theorem 3).

    Q̄_{A∨B} = max{Q̄_A, Q̄_B},  Q̄_{A∧B} = min{Q̄_A, Q̄_B},  Q̄_{¬A} = (Q̄_U + Q̄_∅) − Q̄_A

    The bounds Q̄_U and Q̄_∅ are learned as well: K + 2 tables `[S, G, A]`.
    """

    title = "Boolean task algebra"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The base tasks, M_U and M_∅."""
        return [*base_tasks.values(), space.universal, space.empty]

    def learn_table(self, task: Task, seed: int) -> Table:
        """Q̄_M by goal-oriented Q-learning (Algorithm 1)."""
        exact = q_bar_star(task.space, [task]).values[0].q_bar(np.arange(task.space.mdp.n_states))
        run = goal_oriented_q_learning(task, self._stop(exact), settings=self.settings, seed=seed)
        return Table(run.q, run.n_steps, run.converged)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """Min, max and negation on extended values."""
        space = learned.space
        bounds = Bounds(learned.table(space.universal), learned.table(space.empty))
        tables = {name: learned.table(task) for name, task in learned.base_tasks.items()}
        return compose(expression, tables, bounds)


@dataclass(frozen=True)
class PlainValues(Baseline):
    """Baselines that learn plain value functions Q_M."""

    @final
    def learn_table(self, task: Task, seed: int) -> Table:
        """Q_M by Q-learning."""
        run = q_learning(task, self._stop(optimal_q(task)), settings=self.settings, seed=seed)
        return Table(run.q[:, 0], run.n_steps, run.converged)


@final
@dataclass(frozen=True)
class MaxOfTasks(PlainValues):
    """Disjunction by the maximum of plain values (van Niekerk et al. 2019, Corollary 1).

    Q_{A∨B} = max{Q_A, Q_B}

    It is exact: up to a goal all tasks earn the same, and the reward of the goal is the maximum.
    Conjunction and negation are not defined: a minimum over `[S, A]` compares ways to different
    goals.  An expression is simplified to a shortest sum of products first; it is expressible iff
    each product is one base task.
    """

    title = "max of base tasks"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The base tasks."""
        return list(base_tasks.values())

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One value function for each term of the disjunction."""
        products = positive_products(expression, self.title)
        for product in products:
            if len(product) > 1:
                raise NotExpressible(
                    f"{self.title}: plain values have no conjunction, and {expression!s} needs "
                    f"{' & '.join(product)}"
                )
        tables = [learned.table(learned.base_tasks[name]) for name, *_ in products]
        return np.stack(tables, axis=1)


@final
@dataclass(frozen=True)
class MaxOfGoals(PlainValues):
    """The same with the minimal base set of van Niekerk et al. 2019: one task a goal.

    Q_M = max_{g desired} Q_{g}

    Every set of goals but the empty one is a disjunction, and exact, whatever the expression for
    it.  The price is one table a goal.
    """

    title = "max of single goals"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """One task for each goal."""
        return _single_goals(space)

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One value function for each desired goal."""
        goals = np.flatnonzero(learned.task(expression).desired)
        if not goals.size:
            raise NotExpressible(
                f"{self.title}: {expression!s} wants no goal, and a disjunction of no tasks is not "
                f"defined"
            )
        tables = list(learned.tables.values())  # one a goal, in the order of goals
        return np.stack([tables[g].values for g in goals], axis=1)


@final
@dataclass(frozen=True)
class AverageOfTasks(PlainValues):
    """Conjunction by the average of plain values (Haarnoja et al. 2018, Hunt et al. 2019).

    Q_{A∧B} ≈ (Q_A + Q_B)/2,   Q_{A∨B} = max{Q_A, Q_B}

    The average is near the value of the *average reward*, in which a goal that one of two tasks
    wants still pays half (Figure 1 of the paper).  It is also not the value of any one policy: Q_A
    and Q_B may follow ways to different goals, and between these their average is flat, so that
    the greedy agent has no direction and may go round for ever.  Both papers work with
    entropy-regularised, random policies, and Hunt et al. correct the average by a learned term;
    this is the uncorrected average with a greedy agent, as in the paper's comparison.

    Negation is not defined.  An expression is simplified to a shortest sum of products first; it
    is expressible iff no product has a negated task.  A product of n tasks is the mean of all n.
    """

    title = "average for conjunction"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The base tasks."""
        return list(base_tasks.values())

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """One average for each product of the sum."""
        products = positive_products(expression, self.title)
        averages = [
            np.mean([learned.table(learned.base_tasks[name]) for name in product], axis=0)
            for product in products
        ]
        return np.stack(averages, axis=1)


@final
@dataclass(frozen=True)
class FromScratch(PlainValues):
    """No composition: plain Q-learning of every task that the base tasks can express.

    Q(s, a) ← (1 − α) Q(s, a) + α (r + γ max_b Q(s', b))

    Exact, at the price of 2^(2^K) tables.
    """

    title = "from scratch"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """All tasks that an expression over the base tasks can stand for."""
        different, label = np.unique(labels_of(base_tasks), axis=0, return_inverse=True)
        n = len(different)
        if 2**n > MOST_TASKS:
            raise ValueError(
                f"{n} goals or groups of goals make 2^{n} tasks, and this method learns each; "
                f"at most {MOST_TASKS} are learned"
            )
        truth = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
        return [space.from_desired(desired) for desired in truth[:, label.ravel()]]

    def compose(self, learned: Learned, expression: Expression) -> Array:
        """The values of the task itself."""
        return learned.table(learned.task(expression))[:, None]


@dataclass(frozen=True)
class SuccessorFeatures(Baseline):
    """Successor features and generalised policy improvement (Barreto et al. 2017).

    A reward that is linear in features, r_M(s, a) = φ(s, a) · w_M, makes values linear as well:

        ψ^π(s, a) = E_π[φ(s₀, a₀) + φ(s₁, a₁) + … | s₀ = s, a₀ = a]
        Q^π_M(s, a) = ψ^π(s, a) · w_M

    Here the features are one indicator for each goal, 1 where the episode ends in it, and the step
    reward, which all tasks share: φ = (1[s = g₁], …, 1[s = g_G], r_{s,a}), w_M = (r_M(g₁), …, 1).
    So every task has weights, negations too.  The policy π_i is the optimal one of task i, of tied
    actions the first, and ψ_i is learned beside it by temporal differences:

        ψ_i(s, a) ← (1 − α) ψ_i(s, a) + α (φ(s, a) + γ ψ_i(s', b)),  b = argmax_b ψ_i(s', b) · w_i

    A new task is met by generalised policy improvement: argmax_a max_i ψ_i(s, a) · w_M.  It is at
    least as good as every π_i, in every state; it need not be optimal.
    """

    @final
    def learn_table(self, task: Task, seed: int) -> Table:
        """ψ of the optimal policy of a task."""
        return successor_features(task, self._stop(exact_features(task)), self.settings, seed)

    @final
    def compose(self, learned: Learned, expression: Expression) -> Array:
        """ψ_i · w_M, one value function for each policy."""
        w = weights(learned.task(expression))
        return np.stack([table.values @ w for table in learned.tables.values()], axis=1)


@final
@dataclass(frozen=True)
class FeaturesOfTasks(SuccessorFeatures):
    """Successor features (see `SuccessorFeatures`) of the policies of the base tasks."""

    title = "successor features of base tasks"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """The base tasks."""
        return list(base_tasks.values())


@final
@dataclass(frozen=True)
class FeaturesOfGoals(SuccessorFeatures):
    """Successor features (see `SuccessorFeatures`) of the policies of the single-goal tasks.

    If each policy reaches its goal, max_g ψ_g · w_M = max_g G*(s:g, a) + r_M(g) = Q*_M(s, a) by
    Corollary 1 and Lemma 1: every task is solved, with one table a goal, where the algebra needs
    one a base task and two bounds.
    """

    title = "successor features of single goals"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """One task for each goal."""
        return _single_goals(space)


ALL: tuple[type[Baseline], ...] = (
    ExtendedValues,
    MaxOfTasks,
    MaxOfGoals,
    AverageOfTasks,
    FromScratch,
    FeaturesOfTasks,
    FeaturesOfGoals,
)
"""Every baseline, ours first."""


def positive_products(expression: Expression, method: str) -> list[tuple[str, ...]]:
    """The products of a shortest sum of products without negation, each as its names.

    Raises:
        NotExpressible: a product has a negated task, or the formula is constant.
    """
    meaning = expression.canonical()
    products = []
    for cube in sum_of_products(meaning.table, 0, len(meaning.names)):
        if cube.negative:
            negated = [name for j, name in enumerate(meaning.names) if cube.negative >> j & 1]
            raise NotExpressible(
                f"{method}: plain values have no negation, and {expression!s} needs ~{negated[0]}"
            )
        products.append(
            tuple(name for j, name in enumerate(meaning.names) if cube.positive >> j & 1)
        )
    if not meaning.names:
        raise NotExpressible(
            f"{method}: {expression!s} is {'every goal' if products else 'no goal'}, whatever the "
            f"base tasks; plain values of base tasks do not tell"
        )
    return products


def weights(task: Task) -> Array:
    """`[G + 1]`, w_M = (r_M(g₁), …, r_M(g_G), 1), the weights of the features of a task."""
    return np.append(task.goal_reward, 1.0)


def features(mdp: FiniteMDP) -> Array:
    """`[S, A, G + 1]`, φ(s, a) = (1[s = g₁], …, 1[s = g_G], r_{s,a})."""
    phi = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_goals + 1))
    phi[mdp.goals, :, np.arange(mdp.n_goals)] = 1.0
    phi[:, :, -1] = np.where(mdp.is_goal[:, None], 0.0, mdp.step_reward)
    return phi


def exact_features(task: Task) -> Array:
    """`[S, A, G + 1]`, ψ^π = φ + P ψ^π of the optimal policy π of a task.

    The equation is applied until nothing changes: in a deterministic world as often as the longest
    path has steps, and then it is exact.
    """
    mdp = task.space.mdp
    phi = features(mdp)
    chosen = greedy(optimal_q(task)[:, None])
    live = ~mdp.is_goal
    psi = phi.copy()
    for _ in range(SWEEPS * mdp.n_states):
        before = psi.copy()
        psi[live] = (phi + _ahead(mdp, psi[np.arange(mdp.n_states), chosen]))[live]
        if np.abs(psi - before).max() <= 1e-12:
            break
    if np.allclose(psi[:, :, :-1].sum(axis=2), 1.0):  # every episode ends, in one goal
        return psi
    raise ValueError(
        f"an optimal policy of {task!r} never ends from some state, so that its successor features "
        f"are infinite; make sure that goals can be reached and that steps cost"
    )


def _ahead(mdp: FiniteMDP, values: Array) -> Array:
    """Σ_s' ρ(s' | s, a) values[s'], as `[S, A, …]`."""
    weight = mdp.probability.reshape(-1, *[1] * (values.ndim - 1))
    summed = np.add.reduceat(weight * values[mdp.successor], mdp.offset[:-1])
    return summed.reshape(mdp.n_states, mdp.n_actions, *values.shape[1:])


def successor_features(task: Task, stop: Stop, settings: Settings, seed: int) -> Table:
    """Learn ψ of the optimal policy of a task, and the policy, by temporal differences."""
    mdp = task.space.mdp
    psi = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_goals + 1))
    if stop.optimum is None or stop.optimum.shape != psi.shape or stop.steps is None:
        raise ValueError(f"the stop rule needs steps and an optimum of shape {psi.shape}")
    n_steps, converged = _learn_features(
        mdp.offset,
        mdp.successor,
        mdp.probability,
        features(mdp),
        weights(task),
        mdp.is_goal,
        mdp.starts,
        settings.learning_rate,
        settings.epsilon,
        settings.discount,
        seeded(seed),
        stop.optimum,
        stop.tolerance,
        stop.steps,
        psi,
    )
    return Table(psi, n_steps, converged)


@kernel
def _learn_features(
    offset: NDArray[np.int64],
    successor: IntArray,
    probability: Array,
    phi: Array,
    w: Array,
    is_goal: BoolArray,
    starts: IntArray,
    alpha: float,
    epsilon: float,
    gamma: float,
    stream: State,
    optimum: Array,
    tolerance: float,
    last_step: int,
    psi: Array,
) -> tuple[int, bool]:
    """Fill psi; return the steps taken and whether it agrees with the optimum.

    `wrong` counts the entries that differ, so that the test before every step costs nothing.
    """
    n_states, n_actions, n_features = psi.shape
    wrong = 0
    for s in range(n_states):
        for a in range(n_actions):
            for f in range(n_features):
                wrong += not abs(psi[s, a, f] - optimum[s, a, f]) <= tolerance
    steps = 0
    s = -1
    while wrong > 0 and steps < last_step:
        if s < 0:
            s = starts[int(uniform(stream) * starts.size)]
        if epsilon >= 1.0 or uniform(stream) < epsilon:
            a = int(uniform(stream) * n_actions)
        else:
            a = _best_action(psi, w, s)
        steps += 1
        t, b = -1, 0
        if not is_goal[s]:
            t = successor[sampled(offset, probability, s * n_actions + a, stream)]
            b = _best_action(psi, w, t)
        for f in range(n_features):
            target = phi[s, a, f]
            if t >= 0:
                target += gamma * psi[t, b, f]
            new = (1.0 - alpha) * psi[s, a, f] + alpha * target
            wrong -= not abs(psi[s, a, f] - optimum[s, a, f]) <= tolerance
            wrong += not abs(new - optimum[s, a, f]) <= tolerance
            psi[s, a, f] = new
        s = t
    return steps, wrong == 0


@kernel
def _best_action(psi: Array, w: Array, s: int) -> int:
    """argmax_a ψ(s, a) · w; of tied actions the first, as `policy.greedy` does."""
    best = -np.inf
    for a in range(psi.shape[1]):
        best = max(best, _dot(psi, w, s, a))
    for a in range(psi.shape[1]):
        if _dot(psi, w, s, a) >= best - TIE * max(1.0, abs(best)):
            return a
    return 0


@kernel
def _dot(psi: Array, w: Array, s: int, a: int) -> float:
    value = 0.0
    for f in range(w.size):
        value += psi[s, a, f] * w[f]
    return value


def _single_goals(space: TaskSpace) -> list[Task]:
    return [space.from_desired(row) for row in np.eye(space.mdp.n_goals, dtype=np.bool_)]


def _check(space: TaskSpace, base_tasks: Mapping[str, Task]) -> None:
    """The base tasks are two-valued tasks of this space, and none is dense."""
    instance(space, TaskSpace, "the space")
    labels_of(base_tasks)
    for name, task in base_tasks.items():
        if task.space is not space:
            raise ValueError(f"task {name!r} belongs to another space; use tasks of the one given")
        if task.step_reward is not None:
            raise ValueError(
                f"task {name!r} is dense; baselines compare tasks that share their step rewards"
            )
