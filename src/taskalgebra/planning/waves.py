"""Stochastic shortest paths of large worlds: sweeps that follow a wave from the goals outwards.

V(s) = max_a r(s, a) + Σ p V(s') is solved by backups in place (Gauss and Seidel).  A sweep over all
states carries what is known at the goals outwards, but every accident that throws an agent back
has to wait for the next sweep, and an episode of thousands of steps has hundreds of accidents.
Most of them are small: an agent that slips comes back to where it was after a few steps.  So states
are sorted by how far they are from a goal, and swept in a window that moves outwards, a few dozen
steps wide.  In it a policy is improved and evaluated in turns until values stand still, given a
guess for the states just outside; then the window moves on by half its width.  Where accidents
are small, one wave finds all values.  Where they are not, waves are repeated, with a window that
grows, in the end to the whole world.  Where agents are thrown back so far and so often that even
these sweeps creep, their limit is extrapolated.

**How far** is the least sum of −r(s, a) / p(s' | s, a), from Dijkstra's algorithm over single
outcomes: what it costs to try until that outcome comes.

**How good** the result is follows from its residuals, whatever was computed before.  Let every step
cost at least c > 0, M be the most that a goal pays, and A(s, a) = r(s, a) + Σ p (V(s') − V(s)).

- If A ≤ δ for all actions, U = V + α (M − V) with α = δ / (c + δ) does not rise under any action:
  r + Σ p (U(s') − U(s)) = (1 − α) A + α r ≤ (1 − α) δ − α c = 0.  So V* ≤ U.
- If A ≥ −δ for the best action, L = V − β (M − V) with β = δ / (c − δ) does not fall under it:
  (1 + β) A − β r ≥ −(1 + β) δ + β c = 0.  Every step costs, so that a policy under which a bounded
  L does not fall must end, and L ≤ V*.

Both δ include a bound on the rounding errors of the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.planning.distances import backwards, by_distance
from taskalgebra.planning.extrapolation import limit
from taskalgebra.planning.policy_iteration import EPSILON, ConvergenceError
from taskalgebra.threads import n_threads as cores
from taskalgebra.worlds.finite import FiniteMDP

LARGE = 2**14
"""States from which worlds are swept in waves."""
WIDTH = 48.0
"""The width of the window, in typical steps."""
ROUNDS = 40
"""How often a policy is improved, at most, before the window moves on."""
EVALUATIONS = 8
"""Sweeps over the window between two improvements, at most."""
ALONE = 4
"""Waves after which policies are no longer evaluated by sweeps: plain backups always converge."""
LEAP = 16
"""Sweeps from which a limit is extrapolated, between such waves."""
MOST_WAVES = 2_000
"""Waves after which a world is given up; one or two are usual."""
SHARE = 0.5
"""What a change may be at first, as a share of the residual that the tolerance allows."""
AT_ONCE = 2**23
"""State-action pairs that a compiled loop looks at before it returns: a fraction of a second."""
ROUNDING_ERRORS = 16
"""Residuals within so many rounding errors cannot be made smaller."""
TOO_LONG = (
    "episodes of this policy are too long: rounding errors hide their number of steps; let the "
    "rarest outcomes of the world be likelier"
)


class Waves:
    """What all solutions for one set of step rewards share.

    Every step that is allowed must cost something.
    """

    def __init__(self, mdp: FiniteMDP, step_reward: Array, allowed: BoolArray) -> None:
        """Take `allowed[S·A]`, the pairs that a policy may choose; at least one where it ends."""
        self.mdp = mdp
        self._rows = (mdp.offset, mdp.successor, mdp.probability, step_reward, allowed)
        live = allowed.reshape(step_reward.shape) & ~mdp.is_goal[:, None]
        self.cost = float(-step_reward.max(where=live, initial=-np.inf))
        self.edges = backwards(mdp.offset, mdp.successor, mdp.probability, -step_reward, allowed)

    def solve(
        self, terminal: Array, tolerance: float, stop: Event | None = None
    ) -> tuple[Array, float]:
        """V `[S]`, given what goals pay, and a bound on its error; −∞ where nothing is allowed.

        The bound exceeds the tolerance only where rounding errors hide more.

        Raises:
            ConvergenceError: `MOST_WAVES` are not enough.
            KeyboardInterrupt: another thread has set `stop`.
        """
        mdp, top = self.mdp, float(terminal.max())
        order, far, typical = by_distance(*self.edges, mdp.goals, top - terminal)
        values = np.full(mdp.n_states, -np.inf)
        values[mdp.goals] = terminal
        if not order.size:
            return values, 0.0
        policy = np.zeros(mdp.n_states, np.int32)
        widest, size = float(far[order[-1]]), float(np.abs(terminal).max())
        best, error = values, np.inf
        for wave in range(MOST_WAVES):
            if wave > ALONE:
                self._leap(order, values, policy)
            floor = EPSILON * max(widest, size)
            allowed = tolerance * self.cost / max(widest, self.cost)
            self._wave(
                order,
                far,
                _width(wave) * typical,
                max(SHARE * 0.25**wave * allowed, 4 * floor),
                EVALUATIONS if wave < ALONE else 0,
                values,
                policy,
                stop,
            )
            above, below, rounding = residuals(*self._rows, order, values)
            widest = top - float(values[order].min())
            if below < self.cost:
                share = max(above / (self.cost + above), below / (self.cost - below))
                bound = share * widest * (1 + 8 * EPSILON)
                if bound < error:
                    best, error = values.copy(), bound
            hidden = max(above, below) <= ROUNDING_ERRORS * (rounding + floor)
            if error <= tolerance or (hidden and error < np.inf):
                return best, error
        raise ConvergenceError(
            f"after {MOST_WAVES:,} waves of sweeps values are known only to {error:.1e}, "
            f"expected {tolerance:.1e}; raise the tolerance"
        )

    def _wave(
        self,
        order: IntArray,
        far: Array,
        width: float,
        enough: float,
        evaluations: int,
        values: Array,
        policy: IntArray,
        stop: Event | None,
    ) -> None:
        """Sweep once from near to far, in parts, so that Ctrl-C is heard."""
        window = np.zeros(3, np.int64)
        of = (*self._rows, order, far, width, enough, evaluations, values, policy, window)
        while sweep(*of, AT_ONCE):
            if stop is not None and stop.is_set():
                raise KeyboardInterrupt

    def _leap(self, order: IntArray, values: Array, policy: IntArray) -> None:
        """Go to the limit of evaluations, if it solves the equations of the policy better."""
        of = (*self._rows[:4], order, 0, order.size)
        tried, history = values.copy(), np.empty((LEAP, order.size))
        moved = []
        for reached in history:
            reached[:] = tried[order]
            moved.append(_evaluate(*of, tried, policy))
        tried[order] = limit(history)
        if _evaluate(*of, tried, policy) < min(moved):
            values[:] = tried

    def solve_all(self, terminals: Sequence[Array], tolerance: float) -> list[tuple[Array, float]]:
        """Several solutions, on one thread per core."""
        n_threads = min(cores(), len(terminals))
        if n_threads <= 1:
            return [self.solve(terminal, tolerance) for terminal in terminals]
        stop = Event()
        solve = partial(self.solve, tolerance=tolerance, stop=stop)
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                return list(pool.map(solve, terminals))
            except BaseException:
                stop.set()
                raise


def evaluate(
    mdp: FiniteMDP,
    steps: Array,
    actions: LongArray,
    live: LongArray,
    values: Array,
    most_sweeps: int,
) -> int:
    """Fill in V^π of the live states, from which π ends, from what stands there if it is finite.

    Returns the number of sweeps over these states that it took, in waves of any number of them.

    Raises:
        ConvergenceError: it takes more than `most_sweeps`.
    """
    allowed = np.zeros(steps.size, np.bool_)
    allowed[live * mdp.n_actions + actions[live]] = True
    rows = (mdp.offset, mdp.successor, mdp.probability, steps, allowed)
    edges = backwards(*rows[:3], np.ones(steps.shape), allowed)
    order, far, typical = by_distance(*edges, mdp.goals, np.zeros(mdp.n_goals))
    values[live] = np.where(np.isfinite(values[live]), values[live], -np.inf)
    policy = actions.astype(np.int32)
    ends = np.abs(values[mdp.goals])
    size = float(ends.max(initial=0.0, where=np.isfinite(ends)))
    size = max(size, float(far[order[-1]] * np.abs(steps).max()))
    sweeps = wave = 0
    while sweeps < most_sweeps:
        window, width = np.zeros(3, np.int64), _width(wave) * typical
        of = (*rows, order, far, width, 8 * EPSILON * size, EVALUATIONS, values, policy)
        while sweep(*of, window, AT_ONCE):
            pass
        sweeps += -(-int(window[2]) // order.size)
        wave += 1
        above, below, rounding = residuals(*rows, order, values)
        size = float(np.abs(values[order]).max())
        if max(above, below) <= ROUNDING_ERRORS * (rounding + EPSILON * size):
            return sweeps
    raise ConvergenceError(TOO_LONG)


def _width(wave: int) -> float:
    """The width of the window in typical steps: doubled with each wave from the third on."""
    return WIDTH * 2.0 ** min(max(wave - 1, 0), 64)


@kernel
def sweep(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    allowed: BoolArray,
    order: IntArray,
    far: Array,
    width: float,
    enough: float,
    evaluations: int,
    values: Array,
    policy: IntArray,
    window: LongArray,
    budget: int,
) -> bool:
    """One wave: improve and evaluate in a window that moves along `order`.

    A state whose value is −∞ is met for the first time.  Its first guess takes what may lead to
    other such states as no move at all.  Returns whether there is more to do than the budget
    allows; `window` says where to go on, and counts the states that were swept.
    """
    n, n_actions = order.size, step_reward.shape[1]
    begin, end, looked = window[0], window[1], 0
    while begin < n and looked < budget:
        limit = far[order[begin]] + width
        while end < n and (far[order[end]] <= limit or end == begin):
            s = order[end]
            if values[s] == -np.inf:
                values[s], policy[s] = _best(
                    offset, successor, probability, step_reward, allowed, values, s
                )
            end += 1
        for _ in range(ROUNDS):
            change = 0.0
            for i in range(begin, end):
                s = order[i]
                new, policy[s] = _best(
                    offset, successor, probability, step_reward, allowed, values, s
                )
                change = max(change, abs(new - values[s]))
                values[s] = new
            looked += (end - begin) * n_actions
            window[2] += end - begin
            if change <= enough:
                break
            for _ in range(evaluations):
                moved = _evaluate(
                    offset, successor, probability, step_reward, order, begin, end, values, policy
                )
                looked += end - begin
                window[2] += end - begin
                if moved <= enough or moved <= 0.05 * change:
                    break
        if end == n:
            begin = n
            break
        limit = far[order[begin]] + width / 2
        begin += 1
        while begin < end and far[order[begin]] <= limit:
            begin += 1
    window[0], window[1] = begin, end
    return bool(begin < n)


@kernel
def _evaluate(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    order: IntArray,
    begin: int,
    end: int,
    values: Array,
    policy: IntArray,
) -> float:
    """V(s) ← (r + Σ_{s' ≠ s} p V(s')) / Σ_{s' ≠ s} p in the window; the largest change."""
    n_actions = step_reward.shape[1]
    change = 0.0
    for i in range(begin, end):
        s = order[i]
        a = policy[s]
        pair = s * n_actions + a
        ahead, away = step_reward[s, a], 0.0
        for k in range(offset[pair], offset[pair + 1]):
            t = successor[k]
            if t != s and values[t] != -np.inf:
                ahead += probability[k] * values[t]
                away += probability[k]
        new = ahead / away
        change = max(change, abs(new - values[s]))
        values[s] = new
    return change


@kernel
def _best(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    allowed: BoolArray,
    values: Array,
    s: int,
) -> tuple[float, int]:
    """max_a (r + Σ_{s' ≠ s} p V(s')) / Σ_{s' ≠ s} p, without what is not known yet; and its a."""
    n_actions = step_reward.shape[1]
    best, chosen = -np.inf, 0
    for a in range(n_actions):
        pair = s * n_actions + a
        if not allowed[pair]:
            continue
        ahead, away = step_reward[s, a], 0.0
        for k in range(offset[pair], offset[pair + 1]):
            t = successor[k]
            if t != s and values[t] != -np.inf:
                ahead += probability[k] * values[t]
                away += probability[k]
        if away > 0.0 and ahead / away > best:
            best, chosen = ahead / away, a
    return best, chosen


@kernel
def residuals(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    allowed: BoolArray,
    order: IntArray,
    values: Array,
) -> tuple[float, float, float]:
    """The least δ ≥ 0 with A ≤ δ for all actions, and with A ≥ −δ for the best, rounding included.

    A(s, a) = r(s, a) + Σ p (V(s') − V(s)), over the states in `order` and the pairs allowed.
    The third is the largest bound on a rounding error.
    """
    n_actions = step_reward.shape[1]
    above = below = rounding = 0.0
    for i in range(order.size):
        s = order[i]
        best = -np.inf
        for a in range(n_actions):
            pair = s * n_actions + a
            if not allowed[pair]:
                continue
            gain = step_reward[s, a]
            size = abs(gain)
            for k in range(offset[pair], offset[pair + 1]):
                moved = probability[k] * (values[successor[k]] - values[s])
                gain += moved
                size += abs(moved)
            error = (offset[pair + 1] - offset[pair] + 4.0) * EPSILON * size
            rounding = max(rounding, error)
            above = max(above, gain + error)
            best = max(best, gain - error)
        below = max(below, -best)
    return above, below, rounding
