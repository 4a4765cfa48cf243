"""From a policy to the optimal one: policy iteration (Howard 1960) from where it stands.

Each round evaluates the policy, and then takes in every state the action with the largest
advantage, if that is more than a rounding error.  Only strict gains count, so that a policy that
ends stays one that ends, also where steps cost nothing.  The last round finds no gain, and that
proves it optimal: no other planner is asked.

A composed policy is a good place to start.  It is wrong only where chance puts another goal nearer,
or where values were learned badly, and a round mends all of these at once.  What it costs is
counted in sweeps over states and actions; a sweep over the states of one policy is 1/A of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from taskalgebra.arrays import Array, LongArray
from taskalgebra.content import ByContent
from taskalgebra.planning.bounds import advantages, nothing, upper_bound
from taskalgebra.planning.policies import able, made_proper, policy_values, some_proper, swept
from taskalgebra.planning.policy_iteration import ConvergenceError
from taskalgebra.planning.stochastic import ShortestPaths
from taskalgebra.theory.certificate import LOST
from taskalgebra.theory.rounding import TOLERANCE
from taskalgebra.worlds.finite import FiniteMDP

MOST_ROUNDS = 1_000
"""Rounds after which something is wrong; a dozen are many."""
PATIENT_SWEEPS = 1_000
"""Sweeps after which a small linear system is solved directly."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Improvement(ByContent):
    """A policy that was improved, and what that took."""

    actions: LongArray  # [S]
    returns: Array  # [S], what it earns
    rounds: int  # in which some action changed
    sweeps: float  # over states and actions; one over the states of a policy counts as 1/A
    gap: float  # the most that it is short of the optimum from any start; 0: it is optimal

    @property
    def optimal(self) -> bool:
        """Whether no policy earns more."""
        return self.gap == 0.0

    def __repr__(self) -> str:
        """What it took, and how far from the optimum it may be."""
        left = "optimal" if self.optimal else f"at most {self.gap:.2g} from the optimum"
        return f"Improvement({str(self)!r}, {left})"

    def __str__(self) -> str:
        """What it took, in words."""
        return f"in {self.rounds} round{'' if self.rounds == 1 else 's'}"


def improved(
    mdp: FiniteMDP,
    steps: Array,
    terminal: Array,
    actions: LongArray,
    *,
    guess: Array | None = None,
    gap: float = 0.0,
    rounds: int = MOST_ROUNDS,
) -> Improvement:
    """Improve a policy until it is optimal, or close enough, or for a number of rounds.

    Args:
        mdp: the world.
        steps: `[S, A]`, what steps pay; in a stochastic world at most 0.
        terminal: `[G]`, what goals pay.
        actions: `[S]`, the policy; where it may never end, it is first made to.
        guess: `[S]`, what the policy may be worth; it saves sweeps, and changes nothing else.
        gap: how far from the optimum it may stay, from any start.
        rounds: the most rounds.

    Raises:
        ConvergenceError: episodes are too long for float64, or some cycle gains without end.
    """
    chosen = made_proper(mdp, terminal, actions)
    live = np.flatnonzero(able(mdp, terminal) & ~mdp.is_goal)
    cost = 0.0
    try:
        values, used = _evaluated(mdp, steps, terminal, chosen, live, guess)
    except ConvergenceError:  # its episodes are too long for float64: begin with one that hurries
        chosen = some_proper(mdp, terminal)
        values, used = _evaluated(mdp, steps, terminal, chosen, live, None)
    cost += used / mdp.n_actions
    for round_ in range(MOST_ROUNDS + 1):
        gain = advantages(mdp, steps, values)[live]
        cost += 1.0
        best = gain.argmax(axis=1)
        better = gain[np.arange(live.size), best] > nothing(steps, terminal, values[live])
        if not better.any():
            left = _left(mdp, steps, terminal, values, live, float(gain.max(initial=0.0)))
            return Improvement(_frozen(chosen), _frozen(values), round_, cost, left)
        if round_ == rounds or gap > 0.0:
            bound = upper_bound(mdp, steps, terminal, chosen, values)
            cost += bound.sweeps - 1  # the first is that of the advantages
            short = _largest(bound.values[mdp.starts] - values[mdp.starts])
            if round_ == rounds or short <= gap:
                return Improvement(_frozen(chosen), _frozen(values), round_, cost, short)
        chosen = chosen.copy()
        chosen[live[better]] = best[better]
        values, used = _evaluated(mdp, steps, terminal, chosen, live, values)
        cost += used / mdp.n_actions
    raise ConvergenceError(
        f"the policy still improves after {MOST_ROUNDS:,} rounds; some cycle may earn more each "
        f"time round: lower the step rewards"
    )


def _left(
    mdp: FiniteMDP, steps: Array, terminal: Array, values: Array, live: LongArray, gain: float
) -> float:
    """What gains that are but rounding errors may add up to over an episode, from any start.

    Where steps cost nothing, episodes have no bound, and the optimum is planned to compare with.
    """
    if mdp.deterministic or not live.size:
        return 0.0
    size = max(float(np.abs(terminal[np.isfinite(terminal)]).max()), float(np.abs(steps).max()))
    cost = float(-steps[live].max())
    if cost > 0:
        most = float(terminal.max()) - values[mdp.starts]
        short = max(gain, 0.0) * _largest(most) / cost
    else:
        best, error = ShortestPaths(mdp, steps).solve(terminal, TOLERANCE * size)
        short = max(_largest(best[mdp.starts] - values[mdp.starts]) - 2 * error, 0.0)
    return short if short > LOST * size else 0.0


def _frozen(array: Any) -> Any:
    """Read-only: what is kept must be what was found."""
    array.setflags(write=False)
    return array


def _largest(distance: Array) -> float:
    """The largest number; −∞ less −∞ is nothing, where no policy ends."""
    return float(np.max(distance, initial=0.0, where=~np.isnan(distance)))


def _evaluated(
    mdp: FiniteMDP,
    steps: Array,
    terminal: Array,
    actions: LongArray,
    live: LongArray,
    guess: Array | None,
) -> tuple[Array, int]:
    """The values of a policy that ends, and the sweeps over its states that it took."""
    if mdp.deterministic:
        return policy_values(mdp, steps, terminal, actions), 1
    values = np.full(mdp.n_states, -np.inf)
    values[mdp.goals] = terminal
    if guess is not None:
        values[live] = guess[live]
    try:
        return values, swept(mdp, steps, actions, live, values, PATIENT_SWEEPS)
    except ConvergenceError:
        return policy_values(mdp, steps, terminal, actions), PATIENT_SWEEPS + live.size
