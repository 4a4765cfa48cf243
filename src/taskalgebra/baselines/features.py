"""Successor features and generalised policy improvement (Barreto et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.baselines.interface import Baseline, Learned, Table, ahead, single_goals
from taskalgebra.compiled import kernel
from taskalgebra.learning.q_learning import Settings, Stop
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.exact import optimal_q
from taskalgebra.theory.policy import greedy
from taskalgebra.theory.rounding import TIE
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.worlds.chance import State, sampled, seeded, uniform
from taskalgebra.worlds.finite import FiniteMDP

SWEEPS = 100
"""Policies that need more sweeps per state to be evaluated are taken to never end."""


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

    A new task is solved by generalised policy improvement: argmax_a max_i ψ_i(s, a) · w_M.  It is
    at least as good as every π_i, in every state; it need not be optimal.
    """

    @final
    def exact_table(self, task: Task, known: Learned) -> Array:
        """ψ of the optimal policy of a task."""
        return exact_features(task)

    @final
    def learn_table(self, task: Task, stop: Stop, seed: int, known: Learned) -> Table:
        """The same by temporal differences."""
        return successor_features(task, stop, self.settings, seed)

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


@final
@dataclass(frozen=True)
class FeaturesOfGoals(SuccessorFeatures):
    """Successor features (see `SuccessorFeatures`) of the policies of the single-goal tasks.

    If each policy reaches its goal, max_g ψ_g · w_M = max_g G*(s:g, a) + r_M(g) = Q*_M(s, a) by
    Corollary 1 and Lemma 1: every task is solved, with one table per goal, where the algebra needs
    one per base task and two bounds.
    """

    title = "successor features of single goals"

    def to_learn(self, space: TaskSpace, base_tasks: Mapping[str, Task]) -> list[Task]:
        """One task for each goal."""
        return single_goals(space)


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

    The equation is iterated until nothing changes: in a deterministic world for as many sweeps as
    the longest path has steps, and then it is exact.
    """
    mdp = task.space.mdp
    phi = features(mdp)
    chosen = greedy(optimal_q(task)[:, None], task.space.reward_scale)
    live = ~mdp.is_goal
    psi = phi.copy()
    for _ in range(SWEEPS * mdp.n_states):
        before = psi.copy()
        psi[live] = (phi + ahead(mdp, psi[np.arange(mdp.n_states), chosen]))[live]
        if np.abs(psi - before).max() <= 1e-12:
            break
    if np.allclose(psi[:, :, :-1].sum(axis=2), 1.0):  # every episode ends, in one goal
        return psi
    raise ValueError(
        f"an optimal policy of {task!r} never ends from some state, so its successor features are "
        f"infinite; make sure that goals can be reached and that steps cost"
    )


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
        settings.constant_rate,
        settings.epsilon,
        settings.discount,
        seeded(seed),
        stop.optimum,
        stop.tolerance,
        stop.steps,
        task.space.reward_scale,
        psi,
    )
    return Table(psi, n_steps, converged)


@kernel
def _learn_features(
    offset: LongArray,
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
    scale: float,
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
            a = _best_action(psi, w, s, scale)
        steps += 1
        t, b = -1, 0
        if not is_goal[s]:
            t = successor[sampled(offset, probability, s * n_actions + a, stream)]
            b = _best_action(psi, w, t, scale)
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
def _best_action(psi: Array, w: Array, s: int, scale: float) -> int:
    """argmax_a ψ(s, a) · w; of tied actions the first, as `policy.greedy` does."""
    best = -np.inf
    for a in range(psi.shape[1]):
        best = max(best, _dot(psi, w, s, a))
    for a in range(psi.shape[1]):
        if _dot(psi, w, s, a) >= best - TIE * max(scale, abs(best)):
            return a
    return 0


@kernel
def _dot(psi: Array, w: Array, s: int, a: int) -> float:
    value = 0.0
    for f in range(w.size):
        value += psi[s, a, f] * w[f]
    return value
