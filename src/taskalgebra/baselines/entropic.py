"""One equation for values that are soft: a maximum with a temperature.

Let w(a | s) be weights of actions and τ > 0.  The equation is

    X(s, a) = r(s, a) + γ Σ_s' ρ(s' | s, a) W(s')
    W(s)    = τ log Σ_a w(a | s) exp(X(s, a) / τ),     W(g) = what the goal g pays

- w = 1/A: the values of entropy-regularised reinforcement learning, in which every step costs
  τ KL(π(· | s) ‖ uniform).  The best policy is π(a | s) = w exp((X(s, a) − W(s)) / τ), and τ → 0
  gives plain values.  Adding the entropy itself, as others do, adds the constant τ log A to every
  step reward.
- w the geometric mean of policies, r = 0: the divergence correction (`divergence`).
- `in_desirabilities`, γ = 1: outcomes are averaged as desirabilities exp(W / τ), not as values,

      X(s, a) = r(s, a) + τ log Σ_s' ρ(s' | s, a) exp(W(s') / τ),

  which is linear in z = exp(W / τ): a linearly solvable world (`linear`).  Where outcomes are
  certain, both ways to average are the same.

All of it is computed with logarithms, so that no temperature underflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.baselines.interface import Table
from taskalgebra.compiled import kernel
from taskalgebra.learning.q_learning import Settings, Stop
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import number
from taskalgebra.worlds.chance import State, sampled, seeded, uniform
from taskalgebra.worlds.finite import FiniteMDP

TEMPERATURE = 0.02
"""τ by default: a fifth of what a step costs in Four Rooms, where more loses tasks."""
SWEEPS = 200_000
"""Equations that need more sweeps are taken to have no solution."""
PRECISION = 1e-14
"""The equation is solved when a sweep changes no value by more than this times its size."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class SoftEquation:
    """The equation above, for one world."""

    mdp: FiniteMDP
    reward: Array  # [S, A]
    log_weight: Array  # [S, A]
    terminal: Array  # [G]
    temperature: float
    discount: float = 1.0
    in_desirabilities: bool = False

    @classmethod
    def of_task(cls, task: Task, temperature: float, discount: float = 1.0) -> SoftEquation:
        """The entropy-regularised values of a task, with uniform weights."""
        mdp = task.space.mdp
        even = np.full((mdp.n_states, mdp.n_actions), -np.log(mdp.n_actions))
        return cls(mdp, task.steps, even, task.goal_reward, temperature, discount)

    @property
    def paid(self) -> Array:
        """`[S]`, what goals pay, and 0 elsewhere."""
        paid = np.zeros(self.mdp.n_states)
        paid[self.mdp.goals] = self.terminal
        return paid

    def value(self, x: Array) -> Array:
        """W `[S]` of a table X; in goals, whose every action pays the same, that."""
        return np.where(self.mdp.is_goal, x[:, 0], soft_max(x, self.log_weight, self.temperature))

    def policy(self, x: Array) -> Array:
        """Log π(a | s) `[S, A]`, the soft policy of a table X."""
        w = soft_max(x, self.log_weight, self.temperature)
        return self.log_weight + (x - w[:, None]) / self.temperature

    def solve(self) -> Array:
        """The solution X `[S, A]`, by sweeps over all states.

        Raises:
            ValueError: the sweeps do not settle, as where steps are free or no goal can be reached.
        """
        mdp = self.mdp
        x = self.first()
        x[mdp.goals] = self.terminal[:, None]
        settled = _sweep(
            mdp.offset,
            mdp.successor,
            mdp.probability,
            self.reward,
            self.log_weight,
            mdp.is_goal,
            self.temperature,
            self.discount,
            self.in_desirabilities,
            SWEEPS,
            x,
        )
        if not settled:
            raise ValueError(
                f"soft values do not settle in {SWEEPS:,} sweeps; make sure that goals can be "
                f"reached from every state and that steps cost"
            )
        return x

    def first(self) -> Array:
        """The table before anything is known: no desirability, or values of 0."""
        return np.full(self.reward.shape, -np.inf if self.in_desirabilities else 0.0)

    def learn(self, stop: Stop, settings: Settings, seed: int) -> Table:
        """Learn X by interaction: X moves towards r + γ W(s'), where s' is what happened.

        With `in_desirabilities` exp(X / τ) moves instead.  At a learning rate of 1 it is the same.
        """
        x = self.first()
        if stop.optimum is None or stop.optimum.shape != x.shape or stop.steps is None:
            raise ValueError(f"the stop rule needs steps and an optimum of shape {x.shape}")
        mdp = self.mdp
        n_steps, converged = _learn(
            mdp.offset,
            mdp.successor,
            mdp.probability,
            self.reward,
            self.log_weight,
            mdp.is_goal,
            self.paid,
            mdp.starts,
            self.temperature,
            self.discount,
            self.in_desirabilities,
            settings.constant_rate,
            settings.epsilon,
            seeded(seed),
            np.ascontiguousarray(stop.optimum),
            stop.tolerance,
            stop.steps,
            x,
        )
        return Table(x, n_steps, converged)


def checked_temperature(given: object) -> float:
    """A temperature above 0."""
    temperature = number(given, "temperature")
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature:g}, expected a number above 0")
    return temperature


def soft_max(values: Array, log_weight: Array | float, temperature: float, axis: int = 1) -> Array:
    """τ log Σ w exp(values / τ) along an axis; −∞ where all values are −∞."""
    scaled = values / temperature + log_weight
    top = scaled.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found = np.log(np.exp(scaled - top).sum(axis=axis)) + np.squeeze(top, axis)
    result: Array = temperature * found
    return result


@kernel
def _soft(x: Array, log_weight: Array, s: int, tau: float) -> float:
    """W(s) = τ log Σ_a w(a | s) exp(X(s, a) / τ)."""
    top = -np.inf
    for a in range(x.shape[1]):
        top = max(top, x[s, a] / tau + log_weight[s, a])
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for a in range(x.shape[1]):
        total += np.exp(x[s, a] / tau + log_weight[s, a] - top)
    return tau * (top + float(np.log(total)))


@kernel
def _mixed(old: float, new: float, alpha: float, tau: float, in_desirabilities: bool) -> float:
    """(1 − α) old + α new, of values or of desirabilities."""
    if alpha >= 1.0:
        return new
    if not in_desirabilities:
        return (1.0 - alpha) * old + alpha * new
    top = max(old, new)
    if top == -np.inf:
        return -np.inf
    mean = (1.0 - alpha) * np.exp((old - top) / tau) + alpha * np.exp((new - top) / tau)
    return top + tau * float(np.log(mean))


@kernel
def _sweep(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    reward: Array,
    log_weight: Array,
    is_goal: BoolArray,
    tau: float,
    gamma: float,
    in_desirabilities: bool,
    most: int,
    x: Array,
) -> bool:
    """Sweep over states, with the newest values, until nothing changes; say whether that was."""
    n_states, n_actions = x.shape
    w = np.empty(n_states)
    for s in range(n_states):
        w[s] = x[s, 0] if is_goal[s] else _soft(x, log_weight, s, tau)
    for _ in range(most):
        moved = False
        for s in range(n_states):
            if is_goal[s]:
                continue
            for a in range(n_actions):
                first, last = offset[s * n_actions + a], offset[s * n_actions + a + 1]
                ahead = 0.0
                if in_desirabilities:
                    top = -np.inf
                    for k in range(first, last):
                        top = max(top, w[successor[k]])
                    if top > -np.inf:
                        for k in range(first, last):
                            ahead += probability[k] * np.exp((w[successor[k]] - top) / tau)
                        ahead = top + tau * np.log(ahead)
                    else:
                        ahead = top
                else:
                    for k in range(first, last):
                        ahead += probability[k] * w[successor[k]]
                new = reward[s, a] + gamma * ahead
                moved |= _off(x[s, a], new, PRECISION * max(1.0, abs(new)))
                x[s, a] = new
            w[s] = _soft(x, log_weight, s, tau)
        if not moved:
            return True
    return False


@kernel
def _off(one: float, other: float, tolerance: float) -> bool:
    """Whether two values differ; two infinities do not."""
    return one != other and not abs(one - other) <= tolerance


@kernel
def _learn(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    reward: Array,
    log_weight: Array,
    is_goal: BoolArray,
    paid: Array,
    starts: IntArray,
    tau: float,
    gamma: float,
    in_desirabilities: bool,
    alpha: float,
    epsilon: float,
    stream: State,
    optimum: Array,
    tolerance: float,
    last_step: int,
    x: Array,
) -> tuple[int, bool]:
    """Fill x; return the steps taken and whether it agrees with the optimum.

    `wrong` counts the entries that differ, so that the test before every step costs nothing.
    """
    n_states, n_actions = x.shape
    wrong = 0
    for s in range(n_states):
        for a in range(n_actions):
            wrong += _off(x[s, a], optimum[s, a], tolerance)
    steps = 0
    s = -1
    while wrong > 0 and steps < last_step:
        if s < 0:
            s = starts[int(uniform(stream) * starts.size)]
        if epsilon >= 1.0 or uniform(stream) < epsilon:
            a = int(uniform(stream) * n_actions)
        else:
            a = int(np.argmax(x[s]))
        steps += 1
        t, target = -1, paid[s]
        if not is_goal[s]:
            t = successor[sampled(offset, probability, s * n_actions + a, stream)]
            # in a goal W is what its actions are known to pay, and weights do not count
            ahead = x[t].max() if is_goal[t] else _soft(x, log_weight, t, tau)
            target = reward[s, a] + gamma * ahead
        new = _mixed(x[s, a], target, alpha, tau, in_desirabilities)
        wrong -= _off(x[s, a], optimum[s, a], tolerance)
        wrong += _off(new, optimum[s, a], tolerance)
        x[s, a] = new
        s = t
    return steps, wrong == 0
