"""Exact planning with random outcomes: a stochastic shortest path, bracketed from both sides.

For each goal g and each terminal reward it may have, the extended task is a stochastic shortest
path (Bertsekas and Tsitsiklis 1991): V(s) = max_a r(s, a) + Σ p V(s'), ending in 𝒢 with r̄.
Repeated backups are applied to a lower and an upper bound of the optimum over proper policies,
until they meet.  Half their distance is the error bound, up to the rounding errors of the sweeps:

- upper: the largest terminal reward, because steps earn nothing (r ≤ 0 is required);
- lower: the policy π that ends soonest, with a certified number of steps.  If w ≥ 0 satisfies
  1 + P_π w ≤ w + δ with δ < 1, then w / (1 − δ) is at least the expected number of steps of π.

A set of states in which an agent can stay forever at no cost would hold the upper bound up.  It is
treated as one state: all its members are worth its best way out (the "end components" of
probabilistic model checking).  From states without any proper policy the value is −∞.

Large worlds in which every step costs something are swept in waves (`planning.waves`), and bounds
follow from the residuals.  The rest of this module is for all others.

Bounds move by one step with each sweep, so episodes of a million steps would take millions of
sweeps; and steps that cost less than a rounding error move nothing.  Where bounds stay apart, and
the world is not too large for linear systems, `policy_iteration` finds verified ones.  The closer
ones count; those of the sweeps after their rounding errors are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.planning import policy_iteration
from taskalgebra.planning.policy_iteration import (
    EPSILON,
    Best,
    Choices,
    ConvergenceError,
    verified_lower,
    verified_upper,
)
from taskalgebra.planning.waves import LARGE, Waves
from taskalgebra.theory.assumptions import free_components
from taskalgebra.worlds.finite import FiniteMDP

PATIENT_SWEEPS = 10_000
"""Sweeps after which a world that is not too large is solved by policy iteration."""
MOST_SWEEPS = 200_000
"""Sweeps after which a larger one is given up."""
SWEPT_AT_ONCE = 2**25
"""Outcomes that a compiled loop looks at before it returns: some tenths of a second."""
ROUNDING_ERRORS = 64
"""Bounds that stop moving this close to each other are as close as float64 can tell."""
SPARED = 10.0 ** np.arange(-16, -5)
"""What steps may be spared for an upper bound, relative to the largest reward."""


class ShortestPaths:
    """What all stochastic shortest paths of a world share, whatever their terminal rewards.

    Raises:
        ValueError: some step pays more than 0.
        ConvergenceError: even a policy that tries to end takes too long.
    """

    def __init__(self, mdp: FiniteMDP, step_reward: Array) -> None:
        """Find how long it takes to end, and where an agent can stay at no cost."""
        positive = np.argwhere(step_reward > 0)
        if positive.size:
            s, a = positive[0]
            raise ValueError(
                f"{mdp.action_names[a]} in {mdp.state_name(s)} pays {step_reward[s, a]:g}; with "
                f"random outcomes, step rewards must be at most 0: lower all of them"
            )
        self.mdp = mdp
        self.step_reward = step_reward
        self.ending = mdp.ending
        # [S·A], whether a proper policy exists after every outcome of an action
        self.usable = np.logical_and.reduceat(self.ending[mdp.successor], mdp.offset[:-1])
        self.solvable = int((self.ending & ~mdp.is_goal).sum()) <= policy_iteration.LARGEST_SYSTEM
        self.sweeps = PATIENT_SWEEPS if self.solvable else MOST_SWEEPS
        self.waves = self._waves()
        if self.waves is None:
            self.duration = self._certified_duration()
            self.component, self.inner = free_components(mdp, step_reward)

    def _waves(self) -> Waves | None:
        """Sweeps in waves, for large worlds in which every step costs something."""
        if self.mdp.n_states < LARGE:
            return None
        waves = Waves(self.mdp, self.step_reward, self.usable)
        return waves if waves.cost > 0 else None

    def solve_all(self, terminals: Sequence[Array], tolerance: float) -> list[tuple[Array, float]]:
        """What `solve` returns, for each of these; large worlds on all cores."""
        if self.waves is not None:
            return self.waves.solve_all(terminals, tolerance)
        return [self.solve(terminal, tolerance) for terminal in terminals]

    def solve(self, terminal: Array, tolerance: float) -> tuple[Array, float]:
        """V over proper policies, given the terminal reward of each goal; and its error bound.

        Rounding errors add up over an episode, so the error bound may exceed the tolerance.
        """
        if self.waves is not None:
            return self.waves.solve(terminal, tolerance)
        mdp, walking = self.mdp, self.ending & ~self.mdp.is_goal
        lower = terminal.min() + self.step_reward.min() * self.duration
        upper = np.full(mdp.n_states, terminal.max())
        for bound in (lower, upper):
            bound[~self.ending] = -np.inf
            bound[mdp.goals] = terminal
        lowest = lower.copy()
        gap, still = np.inf, False
        for n_sweeps in self._turns():
            gap, still = _bracket(
                mdp.offset,
                mdp.successor,
                mdp.probability,
                self.step_reward,
                self.usable,
                mdp.is_goal | ~self.ending,
                self.component,
                self.inner,
                lower,
                upper,
                tolerance,
                n_sweeps,
            )
            if still:
                break
        if still and gap <= max(tolerance, ROUNDING_ERRORS * EPSILON * self._size(lower, upper)):
            return (lower + upper) / 2, gap / 2
        if self.solvable:
            lower[walking] -= self._rounding(lowest, lower)
            upper[walking] += self._rounding(terminal, upper)
            choices = self._choices(0.0)
            best = choices.best(terminal)
            try:
                lower = np.maximum(lower, verified_lower(choices, best, terminal))
                upper = np.minimum(upper, self._upper(choices, best, terminal))
            except ConvergenceError:
                if not still:
                    raise
            gap = float((upper[self.ending] - lower[self.ending]).max())
        elif not still:
            raise ConvergenceError(
                f"after {self.sweeps:,} sweeps values are known only to {gap:.1e}, "
                f"expected {tolerance:.1e}; raise the tolerance"
            )
        return (lower + upper) / 2, gap / 2

    def _size(self, *bounds: Array) -> float:
        """The size of the largest number in a backup of these bounds."""
        held = max(float(np.abs(bound[np.isfinite(bound)]).max()) for bound in bounds)
        return held - float(self.step_reward.min())

    def _rounding(self, *ends: Array) -> float:
        """What the rounding errors of all sweeps add up to, as bounds moved between these.

        A backup errs by some rounding errors, and a sweep hands errors on to at most all states.
        """
        terms = float(np.diff(self.mdp.offset).max()) + 4
        return self.sweeps * self.mdp.n_states * terms * EPSILON * self._size(*ends)

    def _turns(self) -> Iterator[int]:
        """All sweeps in turns, so that Ctrl-C is heard.

        A turn has an even number of them, because directions alternate.
        """
        at_once = 2 * max(1, SWEPT_AT_ONCE // (2 * self.mdp.successor.size))
        for first in range(0, self.sweeps, at_once):
            yield min(at_once, self.sweeps - first)

    def _choices(self, spared: float) -> Choices:
        """The actions of policies, where steps that cost at most `spared` cost nothing."""
        mdp, reward = self.mdp, np.where(self.step_reward < -spared, self.step_reward, 0.0)
        component, inner = free_components(mdp, reward)
        return Choices.of(mdp, reward, self.usable & ~inner, component)

    def _upper(self, choices: Choices, best: Best, terminal: Array) -> Array:
        """[S], a verified upper bound; if need be, one for steps that cost a little less."""
        size = max(float(np.abs(terminal).max()), float(-self.step_reward.min()))
        upper = verified_upper(choices, best, terminal)
        for spared in size * SPARED:
            if upper is None:
                choices = self._choices(spared)
                upper = verified_upper(choices, choices.best(terminal), terminal)
        if upper is None:
            raise ConvergenceError(
                "some steps cost so little that rounding errors hide it; let their costs be more "
                "alike"
            )
        return upper

    def _certified_duration(self) -> Array:
        """[S], an upper bound on the expected steps of the policy that ends soonest."""
        mdp = self.mdp
        duration = np.zeros(mdp.n_states)
        walking = self.ending & ~mdp.is_goal
        delta = 1.0
        for n_sweeps in self._turns():
            delta = _hurry(
                mdp.offset,
                mdp.successor,
                mdp.probability,
                self.usable,
                walking,
                duration,
                n_sweeps,
            )
            if delta <= 0.5:
                break
        if delta <= 0.5:
            return duration / (1.0 - delta)
        if not self.solvable:
            raise ConvergenceError(
                f"from some state even the fastest policy needs more than about {self.sweeps:,} "
                f"steps to end; episodes of this world are too long to plan"
            )
        steps, alone = np.full_like(self.step_reward, -1.0), np.full(mdp.n_states, -1, np.int32)
        choices = Choices.of(mdp, steps, self.usable, alone)
        nothing = np.zeros(mdp.n_goals)
        lower = verified_lower(choices, choices.best(nothing), nothing)
        return np.where(walking, -lower, 0.0)


def bracketed_tables(
    mdp: FiniteMDP, step_reward: Array, goal_reward: Array, r_bar_min: float, tolerance: float
) -> tuple[list[Array], float]:
    """Q̄ tables `[S, G, A]`, one per row of `goal_reward[tasks, G]`, and a bound on their error.

    r̄_M(·, g, ·) depends on the task only through r_M(g), so each goal is solved once for each
    terminal reward it has in some task, not once per task.
    """
    n_tasks, n_goals = goal_reward.shape
    wanted = [(g, float(r)) for g in range(n_goals) for r in np.unique(goal_reward[:, g])]
    solved, error = solutions(ShortestPaths(mdp, step_reward), wanted, r_bar_min, tolerance)
    v_bar = np.empty((n_tasks, n_goals, mdp.n_states))
    for (g, reward), values in zip(wanted, solved, strict=True):
        v_bar[goal_reward[:, g] == reward, g] = values
    tables = [
        _backup(mdp, step_reward, v_bar[t], goal_reward[t], r_bar_min) for t in range(n_tasks)
    ]
    return tables, error


def solutions(
    paths: ShortestPaths, wanted: Sequence[tuple[int, float]], r_bar_min: float, tolerance: float
) -> tuple[list[Array], float]:
    """V̄(·, g) `[S]` for each goal and terminal reward, and a bound on their error.

    Those with the same terminal rewards of all goals are one solution.
    """
    terminals: dict[tuple[int, float], Array] = {}
    for g, reward in wanted:
        terminal = np.full(paths.mdp.n_goals, r_bar_min)
        terminal[g] = reward
        terminals.setdefault(solution_key(g, reward, r_bar_min), terminal)
    found = dict(zip(terminals, paths.solve_all(list(terminals.values()), tolerance), strict=True))
    of_wanted = [found[solution_key(g, reward, r_bar_min)][0] for g, reward in wanted]
    return of_wanted, max((error for _, error in found.values()), default=0.0)


def solution_key(goal: int, reward: float, r_bar_min: float) -> tuple[int, float]:
    """What tells solutions apart; a goal that pays r̄_MIN is like all others."""
    return (-1 if reward == r_bar_min else goal), reward


@kernel
def _hurry(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    usable: BoolArray,
    walking: BoolArray,
    duration: Array,
    most_sweeps: int,
) -> float:
    """Raise w towards 1 + min_a P_a w; return the largest δ = 1 + min_a P_a w − w."""
    n_actions = usable.size // walking.size
    delta = 1.0
    for _ in range(most_sweeps):
        delta = 0.0
        raised = duration.copy()
        for s in range(walking.size):
            if walking[s]:
                raised[s] = np.inf
                for pair in range(s * n_actions, (s + 1) * n_actions):
                    if usable[pair]:
                        steps = 1.0
                        for k in range(offset[pair], offset[pair + 1]):
                            steps += probability[k] * duration[successor[k]]
                        raised[s] = min(raised[s], steps)
                delta = max(delta, raised[s] - duration[s])
        if delta <= 0.5:
            return delta
        duration[:] = raised
    return delta


@kernel
def _bracket(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    usable: BoolArray,
    fixed: BoolArray,
    component: IntArray,
    inner: BoolArray,
    lower: Array,
    upper: Array,
    tolerance: float,
    most_sweeps: int,
) -> tuple[float, bool]:
    """Back up both bounds in place, in alternating directions, until they are close.

    Returns their largest distance, and whether they are close or stand still.  Both remain bounds
    and move monotonically, so a sweep that changes neither is the last.
    """
    n_states, n_actions = step_reward.shape
    n_components = component.max() + 1
    out_lower = np.empty(n_components)
    out_upper = np.empty(n_components)
    gap = np.inf
    for sweep in range(most_sweeps):
        gap, moved = 0.0, False
        out_lower[:] = -np.inf
        out_upper[:] = -np.inf
        for i in range(n_states):
            s = i if sweep % 2 == 0 else n_states - 1 - i
            if fixed[s]:
                continue
            best_lower, best_upper = -np.inf, -np.inf
            for a in range(n_actions):
                pair = s * n_actions + a
                if not usable[pair] or inner[pair]:
                    continue
                low = high = step_reward[s, a]
                for k in range(offset[pair], offset[pair + 1]):
                    low += probability[k] * lower[successor[k]]
                    high += probability[k] * upper[successor[k]]
                best_lower, best_upper = max(best_lower, low), max(best_upper, high)
            c = component[s]
            if c >= 0:
                out_lower[c] = max(out_lower[c], best_lower)
                out_upper[c] = max(out_upper[c], best_upper)
                continue
            if best_lower > lower[s]:
                lower[s], moved = best_lower, True
            if best_upper < upper[s]:
                upper[s], moved = best_upper, True
            gap = max(gap, upper[s] - lower[s])
        for s in range(n_states):
            c = component[s]
            if c >= 0:
                if out_lower[c] > lower[s]:
                    lower[s], moved = out_lower[c], True
                if out_upper[c] < upper[s]:
                    upper[s], moved = out_upper[c], True
                gap = max(gap, upper[s] - lower[s])
        if gap <= tolerance or not moved:
            return gap, True
    return gap, False


def _backup(
    mdp: FiniteMDP, step_reward: Array, v_bar: Array, goal_reward: Array, r_bar_min: float
) -> Array:
    """Q̄(s, g, a) = r̄(s, g, a) + Σ p V̄(s', g)  (Definition 3), from V̄ as `[G, S]`."""
    expected = np.add.reduceat(mdp.probability * v_bar[:, mdp.successor], mdp.offset[:-1], axis=1)
    q_bar = step_reward[:, None, :] + expected.reshape(
        mdp.n_goals, mdp.n_states, mdp.n_actions
    ).transpose(1, 0, 2)
    q_bar[mdp.goals] = r_bar_min
    q_bar[mdp.goals, np.arange(mdp.n_goals)] = goal_reward[:, None]
    return np.ascontiguousarray(q_bar)
