"""The compiled loop of `taskalgebra.learning.hindsight`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds.chance import State, following, outcome

OPEN = -1
"""The end of an episode that goes on, or that was cut off."""


class World(NamedTuple):
    """What the agent acts in; it sees only what its own steps bring."""

    offset: LongArray
    successor: IntArray
    probability: Array
    step_reward: Array  # [S, A]
    goal_of_state: IntArray  # [S], or −1
    starts: IntArray


class Rules(NamedTuple):
    """How the agent acts and learns."""

    goal_reward: Array  # [T, G], what each goal pays if it is the one that is pursued
    r_bar_min: float  # what any other goal pays
    alpha: float
    epsilon: float
    gamma: float
    relabelled: int  # replayed with the goal that was reached, for each with the goal pursued
    replays: int  # per step
    max_episode_steps: int


class Buffer(NamedTuple):
    """The newest transitions, in a ring."""

    state: IntArray  # [N]
    action: IntArray
    after: IntArray  # the next state; in goals, which end episodes, the state itself
    pursued: IntArray  # the goal that the agent was after
    reached: IntArray  # the goal in which the episode ended, or OPEN


class Standing(NamedTuple):
    """Where learning stands; each is an array, so that it can be changed in place."""

    q: Array  # [T, S, G, A], for T tables with other terminal rewards
    met: LongArray  # [G], how many episodes ended in each goal
    counters: LongArray  # [6]: steps, episodes, position, goal, steps of the episode, stored
    stream: State


@kernel
def advance(
    world: World,
    rules: Rules,
    buffer: Buffer,
    standing: Standing,
    optimum: Array,
    tolerance: float,
    last_step: int,
) -> bool:
    """Act, store and replay until a limit; return whether the first table agrees with the optimum.

    Relabelling is done when a transition is replayed.  `wrong` counts the entries that differ from
    the optimum, so that the test before every step costs nothing.

    The values V(s, g) = max_a Q(s, g, a) are kept beside the tables.  Most replays change nothing,
    and that is known without reading any value: if the outcome is certain, entries (s, g, a) that
    an update leaves unchanged stay so until V(s', g) moves.  So `settled` holds the replay at which
    they were last unchanged, and `moved` the one at which V(s, g) of any table last changed.
    """
    q, counters, stream = standing.q, standing.counters, standing.stream
    n_tables, n_states, n_goals, n_actions = q.shape
    steps, episodes, s, goal, length, stored = counters
    size = buffer.state.size
    s0, s1 = stream[0], stream[1]
    v = np.empty((n_states, n_goals, n_tables))
    for i in range(n_states):
        for g in range(n_goals):
            for table in range(n_tables):
                v[i, g, table] = _best(q, table, i, g)
    settled = np.zeros((n_states, n_goals, n_actions), np.int64)
    moved = np.zeros((n_states, n_goals), np.int64)
    n_replays = 0
    testing = optimum.size > 0
    wrong = 0 if testing else 1
    if testing:
        for i in range(n_states):
            for g in range(n_goals):
                for a in range(n_actions):
                    wrong += not abs(q[0, i, g, a] - optimum[i, g, a]) <= tolerance
    while steps < last_step and wrong > 0:
        if s < 0:
            number, s0, s1 = following(s0, s1)
            s = np.int64(world.starts[int(number * world.starts.size)])
            number, s0, s1 = following(s0, s1)
            goal = np.int64(int(number * n_goals))
            length = np.int64(0)
        greedy = False
        if rules.epsilon < 1.0:
            number, s0, s1 = following(s0, s1)
            greedy = number >= rules.epsilon
        if greedy:
            a = int(np.argmax(q[0, s, goal]))
        else:
            number, s0, s1 = following(s0, s1)
            a = int(number * n_actions)
        end = world.goal_of_state[s]
        t = s
        if end < 0:
            pair = s * n_actions + a
            k, last = world.offset[pair], world.offset[pair + 1] - 1
            if k < last:  # a certain outcome draws nothing
                number, s0, s1 = following(s0, s1)
                k = outcome(k, last, world.probability, number)
            t = np.int64(world.successor[k])
        here = stored % size
        buffer.state[here], buffer.action[here], buffer.after[here] = s, a, t
        buffer.pursued[here], buffer.reached[here] = goal, OPEN
        steps, stored, length = steps + 1, stored + 1, length + 1
        s = t
        if end >= 0:
            for i in range(stored - min(length, size), stored):
                buffer.reached[i % size] = end
            standing.met[end] += 1
        if end >= 0 or length >= rules.max_episode_steps:
            episodes += 1
            s = np.int64(-1)
        filled = min(stored, size)
        for _ in range(rules.replays):
            n_replays += 1
            number, s0, s1 = following(s0, s1)
            i = int(number * filled)
            g = buffer.pursued[i]
            if buffer.reached[i] != OPEN and rules.relabelled > 0:
                number, s0, s1 = following(s0, s1)
                if number * (rules.relabelled + 1) >= 1.0:
                    g = buffer.reached[i]
            first, action, after = buffer.state[i], buffer.action[i], buffer.after[i]
            if settled[first, g, action] > moved[after, g]:
                continue
            if testing:
                before = abs(q[0, first, g, action] - optimum[first, g, action]) <= tolerance
            settles, moves = _update(world, rules, q, v, first, action, after, g)
            if moves:
                moved[first, g] = n_replays
            if settles:
                settled[first, g, action] = n_replays
            if testing:
                now = abs(q[0, first, g, action] - optimum[first, g, action]) <= tolerance
                wrong += int(before) - int(now)
    counters[:] = np.array([steps, episodes, s, goal, length, stored])
    stream[0], stream[1] = s0, s1
    return testing and wrong == 0


@kernel
def _best(q: Array, table: int, s: int, g: int) -> float:
    """V(s, g) = max_a Q(s, g, a) of a table."""
    best: float = q[table, s, g, 0]
    for a in range(1, q.shape[3]):
        best = max(best, q[table, s, g, a])
    return best


@kernel
def _update(
    world: World, rules: Rules, q: Array, v: Array, s: int, a: int, t: int, g: int
) -> tuple[bool, bool]:
    """Q(s, g, a) moves towards what the transition was worth to somebody who pursues g.

    Returns:
        whether the same transition would change nothing now, and whether V(s, g) has changed.
    """
    end = world.goal_of_state[s]
    pair = s * q.shape[3] + a
    settles = end >= 0 or world.offset[pair + 1] - world.offset[pair] == 1
    moves = False
    keep = 1.0 - rules.alpha
    for i in range(q.shape[0]):
        if end < 0:
            target = world.step_reward[s, a] + rules.gamma * v[t, g, i]
        else:
            target = rules.goal_reward[i, g] if end == g else rules.r_bar_min
        old, best = q[i, s, g, a], v[s, g, i]
        new = keep * old + rules.alpha * target
        q[i, s, g, a] = new
        if new > best:
            v[s, g, i], moves = new, True
        elif old == best > new:  # else another action is still the best
            v[s, g, i] = _best(q, i, s, g)
            moves |= v[s, g, i] != best
        if end < 0 and t == s:
            target = world.step_reward[s, a] + rules.gamma * v[t, g, i]
        settles &= keep * new + rules.alpha * target == new
    return settles, moves
