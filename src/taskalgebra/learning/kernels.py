"""The compiled loop of `taskalgebra.learning.q_learning`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds.chance import State, following, outcome

AT_START = -1
"""The position between episodes."""
NONE, DIFFER = -np.inf, np.inf
"""In the place of the last outcome: there was none, and outcomes were seen to differ."""
DECAY = 0.55
"""How fast α falls: just above 1/2, below which values would not converge.  Values are learned from
others that are still changing, and a faster fall would keep what was wrong at first."""
MOST_VISITS = 2**31 - 1
"""That are counted of an entry: α falls no further."""


@kernel
def advance(
    offset: NDArray[np.int64],
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    goal_of_state: IntArray,
    goal_reward: Array,
    starts: IntArray,
    r_bar_min: float,
    plain: bool,
    alpha: float,
    epsilon: float,
    gamma: float,
    q: Array,
    seen: IntArray,
    counters: NDArray[np.int64],
    stream: State,
    falling: bool,
    visits: IntArray,
    outcomes: Array,
    optimum: Array,
    tolerance: float,
    last_step: int,
    last_episode: int,
) -> bool:
    """Run until a limit; return whether the table agrees with the optimum.

    The values V(s, g) = max_a Q(s, g, a) are kept beside the table: a target is then one look-up,
    not one per action.  Most updates change nothing in the end, and that is known without reading
    any value: if the outcome is certain, entries that an update leaves unchanged stay so until
    V(s', ·) moves.  So `settled` holds the step at which the entries (s, ·, a) were last unchanged,
    and `moved` the one at which V(s, ·) last changed.  With settled entries, a step takes the same
    time for any number of goals.

    `wrong` counts the entries of met goals that differ from the optimum, and the goals not met yet,
    so that the test before every step costs nothing.
    """
    n_states, n_slices, n_actions = q.shape
    steps, episodes, s, n_seen = counters[0], counters[1], counters[2], counters[3]
    s0, s1 = stream[0], stream[1]
    deterministic = successor.size == step_reward.size
    may_be_greedy = epsilon < 1.0 and n_seen > 0
    step_rewards = step_reward.ravel()
    v = np.empty((n_states, n_slices))
    for state in range(n_states):
        for i in range(n_slices):
            v[state, i] = _best(q, state, i)
    settled = np.zeros(n_states * n_actions, np.int64)
    moved = np.zeros(n_states, np.int64)
    testing = optimum.size > 0
    wrong = n_slices - n_seen if testing else 1
    for i in range(n_seen):
        if testing:
            wrong += _wrong_of(q, optimum, seen[i], tolerance)
    while steps < last_step and wrong > 0:
        if s < 0:
            number, s0, s1 = following(s0, s1)
            s = np.int64(starts[int(number * starts.size)])
        greedy = False
        if may_be_greedy:
            number, s0, s1 = following(s0, s1)
            greedy = number >= epsilon
        if greedy:
            a = np.uint64(_greedy_action(q, v, s, seen, n_seen))
        else:
            number, s0, s1 = following(s0, s1)
            a = np.uint64(np.int64(number * n_actions))
        steps += 1
        here = there = np.uint64(s)
        pair = here * np.uint64(n_actions) + a
        certain = True
        end = goal_of_state[here]
        if end < 0:
            k = pair
            if not deterministic:
                first, last = offset[k], offset[k + np.uint64(1)] - 1
                certain = first == last
                if not certain:  # a certain outcome draws nothing
                    number, s0, s1 = following(s0, s1)
                    first = outcome(first, last, probability, number)
                k = np.uint64(first)
            there = np.uint64(successor[k])
        if settled[pair] <= moved[there]:
            if testing:
                wrong -= _wrong_at(q, optimum, here, a, seen, n_seen, tolerance)
            reward = step_rewards[pair]
            settles, moves = certain, False
            rate, last_visits = alpha, 0
            differ = falling and _differ(outcomes, here, a, np.float64(there), reward)
            for i in range(n_seen):
                g = np.uint64(seen[i])
                target = reward + gamma * v[there, g]
                if end >= 0:
                    target = goal_reward[end] if plain or seen[i] == end else r_bar_min
                if falling:
                    visits[here, g, a] = min(visits[here, g, a] + 1, MOST_VISITS)
                    if differ and visits[here, g, a] != last_visits:  # mostly equal for all goals
                        last_visits = visits[here, g, a]
                        rate = last_visits**-DECAY
                old, best = q[here, g, a], v[here, g]
                new = (1.0 - rate) * old + rate * target
                q[here, g, a] = new
                # Once more would change nothing.
                settles &= (1.0 - rate) * new + rate * target == new
                if new > best:
                    v[here, g], moves = new, True
                elif old == best > new:  # else another action is still the best
                    v[here, g] = _best(q, here, g)
                    moves |= v[here, g] != best
            if testing:
                wrong += _wrong_at(q, optimum, here, a, seen, n_seen, tolerance)
            if settles:
                settled[pair] = steps
            if moves:
                moved[here] = steps
        s = np.int64(there)
        if end >= 0:
            if not plain and not _contains(seen, n_seen, end):
                seen[n_seen] = end
                n_seen += 1
                may_be_greedy = epsilon < 1.0
                moved[:] = steps  # the entries of the new goal are not settled anywhere
                if testing:
                    wrong += _wrong_of(q, optimum, end, tolerance) - 1
            s = AT_START
            episodes += 1
            if episodes >= last_episode:
                break
    counters[0], counters[1], counters[2], counters[3] = steps, episodes, s, n_seen
    stream[0], stream[1] = s0, s1
    return bool(wrong == 0)


@kernel
def _differ(outcomes: Array, s: np.uint64, a: np.uint64, where: float, reward: float) -> bool:
    """Whether outcomes of a pair were seen to differ, this one included, which is noted."""
    if outcomes[s, a, 0] == NONE:
        outcomes[s, a, 0], outcomes[s, a, 1] = where, reward
    elif outcomes[s, a, 0] != where or outcomes[s, a, 1] != reward:
        outcomes[s, a, 0] = DIFFER
    return bool(outcomes[s, a, 0] == DIFFER)


@kernel
def _best(q: Array, s: int | np.uint64, g: int | np.uint64) -> float:
    """V(s, g) = max_a Q(s, g, a)."""
    best: float = q[s, g, 0]
    for a in range(1, q.shape[2]):
        best = max(best, q[s, g, a])
    return best


@kernel
def _contains(seen: IntArray, n_seen: int, goal: int) -> bool:
    for i in range(n_seen):
        if seen[i] == goal:
            return True
    return False


@kernel
def _greedy_action(q: Array, v: Array, s: int, seen: IntArray, n_seen: int) -> int:
    """argmax_a max_{g met} Q(s, g, a); of tied actions, the first.

    Actions are read only for goals whose V(s, g) is the best.
    """
    best = v[s, seen[0]]
    for i in range(1, n_seen):
        best = max(best, v[s, seen[i]])
    chosen: int = q.shape[2]
    for i in range(n_seen):
        if v[s, seen[i]] == best:
            for a in range(chosen):
                if q[s, seen[i], a] == best:
                    chosen = a
                    break
    return chosen if chosen < q.shape[2] else 0  # where values are not numbers


@kernel
def _wrong_of(q: Array, optimum: Array, g: int, tolerance: float) -> int:
    """Entries of one goal that differ from the optimum."""
    wrong = 0
    for s in range(q.shape[0]):
        for a in range(q.shape[2]):
            wrong += abs(q[s, g, a] - optimum[s, g, a]) > tolerance
    return wrong


@kernel
def _wrong_at(
    q: Array,
    optimum: Array,
    s: np.uint64,
    a: np.uint64,
    seen: IntArray,
    n_seen: int,
    tolerance: float,
) -> int:
    """Entries of one state and action, for all goals met, that differ from the optimum."""
    wrong = 0
    for i in range(n_seen):
        g = np.uint64(seen[i])
        wrong += abs(q[s, g, a] - optimum[s, g, a]) > tolerance
    return wrong
