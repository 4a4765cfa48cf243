"""The compiled loop of `taskalgebra.learning.hindsight`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taskalgebra.arrays import Array, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds.chance import State, sampled, uniform

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
    """
    q, counters, stream = standing.q, standing.counters, standing.stream
    _, n_states, n_goals, n_actions = q.shape
    steps, episodes, s, goal, length, stored = counters
    size = buffer.state.size
    testing = optimum.size > 0
    wrong = 0 if testing else 1
    if testing:
        for i in range(n_states):
            for g in range(n_goals):
                for a in range(n_actions):
                    wrong += not abs(q[0, i, g, a] - optimum[i, g, a]) <= tolerance
    while steps < last_step and wrong > 0:
        if s < 0:
            s = np.int64(world.starts[int(uniform(stream) * world.starts.size)])
            goal = np.int64(int(uniform(stream) * n_goals))
            length = np.int64(0)
        if rules.epsilon >= 1.0 or uniform(stream) < rules.epsilon:
            a = int(uniform(stream) * n_actions)
        else:
            a = int(np.argmax(q[0, s, goal]))
        end = world.goal_of_state[s]
        t = s
        if end < 0:
            pair = s * n_actions + a
            t = np.int64(world.successor[sampled(world.offset, world.probability, pair, stream)])
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
        for _ in range(rules.replays):
            i = int(uniform(stream) * min(stored, size))
            g = buffer.pursued[i]
            if buffer.reached[i] != OPEN and rules.relabelled > 0:
                if uniform(stream) * (rules.relabelled + 1) >= 1.0:
                    g = buffer.reached[i]
            first, action = buffer.state[i], buffer.action[i]
            if testing:
                before = abs(q[0, first, g, action] - optimum[first, g, action]) <= tolerance
            _update(world, rules, q, first, action, buffer.after[i], g)
            if testing:
                now = abs(q[0, first, g, action] - optimum[first, g, action]) <= tolerance
                wrong += int(before) - int(now)
    counters[:] = np.array([steps, episodes, s, goal, length, stored])
    return testing and wrong == 0


@kernel
def _update(world: World, rules: Rules, q: Array, s: int, a: int, t: int, g: int) -> None:
    """Q(s, g, a) moves towards what the transition was worth to somebody who pursues g."""
    end = world.goal_of_state[s]
    for i in range(q.shape[0]):
        if end < 0:
            target = world.step_reward[s, a] + rules.gamma * q[i, t, g].max()
        else:
            target = rules.goal_reward[i, g] if end == g else rules.r_bar_min
        q[i, s, g, a] = (1.0 - rules.alpha) * q[i, s, g, a] + rules.alpha * target
