"""The compiled parts of learning with few steps: the simulator, and the agent.

A `Simulator` holds the world.  Only three functions read its arrays: `reset`, `step` and
`terminal_reward`.  All others are the agent's, and know the world by what these return.

The agent keeps a `Memory` of what it saw; the sizes S and A are all that it knows beforehand.  Its
values are held by *lanes*, `q[S, A, L]`.  A lane is one goal g with one terminal reward r(g): tasks
that pay the same for g and learn from the same experience share the slice of g.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.worlds.chance import State, uniform

NOWHERE = -1
"""No state, goal or action: between episodes, before an end, if there is no path."""


class Simulator(NamedTuple):
    """A deterministic world; the agent sees it only through the three functions below."""

    next_state: IntArray  # [S, A]
    step_reward: Array  # [S, A]
    goal_of_state: IntArray  # [S], or −1
    starts: IntArray
    lane_reward: Array  # [L], r(g) of the lane's goal in the lane's tasks


@kernel
def reset(world: Simulator, stream: State) -> int:
    """Begin an episode in a random state."""
    return int(world.starts[int(uniform(stream) * world.starts.size)])


@kernel
def step(world: Simulator, s: int, a: int) -> tuple[int, float, int]:
    """The next state, the step reward, and the goal if the episode ended in one, else −1."""
    goal = world.goal_of_state[s]
    if goal >= 0:
        return s, 0.0, goal
    return world.next_state[s, a], world.step_reward[s, a], NOWHERE


@kernel
def terminal_reward(world: Simulator, lane: int) -> float:
    """What tasks of this lane pay; called only when an episode has just ended in its goal."""
    return float(world.lane_reward[lane])


class Memory(NamedTuple):
    """All that the agent saw; entries of pairs that were never tried mean nothing."""

    known: BoolArray  # [S, A], whether the outcome of a pair is known
    tried: NDArray[np.int64]  # [S, A], how often a pair was tried for the tasks at hand
    next_of: IntArray  # [S, A]
    reward_of: Array  # [S, A]
    end_of: IntArray  # [S, A], the goal in which the pair ended an episode, or −1
    paid: Array  # [L, A], the terminal reward paid for each last action
    met: BoolArray  # [S], whether the agent was ever there


class Values(NamedTuple):
    """What the agent learns on the way, and what its examiner compares that with."""

    lane_goal: IntArray  # [L]
    q: Array  # [S, A, L]
    v: Array  # [S, L], max_a Q
    learned: BoolArray  # [L], whether the lane's goal was met, so that it is learned
    ground: Array  # [L], V̄(g, g), the offset of the slice of g
    optimum: Array  # [S, A, L], or of size 0 without an examiner


class Rules(NamedTuple):
    """How the agent behaves, and when it stops; see `taskalgebra.learning.few_steps.master`."""

    explore: bool
    replay: bool
    warm: bool  # whether the values come from another task
    one_reward_per_goal: bool
    r_bar_min: float
    tolerance: float
    patience: int
    max_steps: int


class Tally(NamedTuple):
    """What happened."""

    steps: int
    episodes: int
    given_up: int  # episodes broken off because nothing new and no goal was in reach
    finished: bool  # whether the agent was done before the limit


def at_the_start() -> LongArray:
    """Where `interact` stands: the four numbers of a `Tally`, and where the episode stands."""
    standing = np.zeros(8, np.int64)
    standing[7] = NOWHERE
    return standing


def blank_memory(n_states: int, n_actions: int, n_lanes: int) -> Memory:
    """The memory of an agent that has seen nothing."""
    shape = (n_states, n_actions)
    return Memory(
        known=np.zeros(shape, np.bool_),
        tried=np.zeros(shape, np.int64),
        next_of=np.full(shape, NOWHERE, np.int32),
        reward_of=np.zeros(shape),
        end_of=np.full(shape, NOWHERE, np.int32),
        paid=np.zeros((n_lanes, n_actions)),
        met=np.zeros(n_states, np.bool_),
    )


def values_from(memory: Memory, lane_goal: IntArray, q: Array, optimum: Array) -> Values:
    """Values that start from a table; goals that the memory knows are learned at once."""
    v = q.max(axis=1)
    goal_of_state = memory.end_of.max(axis=1)
    learned = np.isin(lane_goal, goal_of_state)
    ground = np.zeros(lane_goal.size)
    for lane in np.flatnonzero(learned):
        ground[lane] = v[np.flatnonzero(goal_of_state == lane_goal[lane])[0], lane]
    return Values(lane_goal, q, v, learned, ground, optimum)


@kernel
def interact(
    world: Simulator,
    memory: Memory,
    values: Values,
    rules: Rules,
    stream: State,
    standing: LongArray,
    budget: int,
) -> bool:
    """Act until done, or for some steps; return whether it is over.

    `memory`, `stream`, `standing` and, without replay, `values` are changed in place.

    With replay the agent is done when nothing that it met is left untried, and it has met all
    states or `patience` resets in a row have brought no new one.  Its values are found afterwards,
    by `taskalgebra.learning.few_steps.replay`.  Without replay it learns on the way, and an
    examiner who knows the optimum says when all values are right; the agent cannot know.

    Every call updates two reference counts per array argument, some nanoseconds each, so a step
    calls no more functions than it must.
    """
    steps, episodes, given_up = standing[0], standing[1], standing[2]
    episode_steps, fruitless = standing[4], standing[5]
    level, s = standing[6], standing[7]
    n_open = 0  # pairs of met states tried at most `level` times
    news = True  # whether they must be counted again
    wrong = _count_wrong(values, rules.tolerance)
    over, done = False, False
    last = steps + given_up + budget
    while steps + given_up < last:
        if news:
            n_open, news = _count_open(memory, level), False
        if n_open == 0 and rules.explore and not rules.replay:
            level += 1
            n_open = _count_open(memory, level)
        if rules.replay:
            done = n_open == 0 and (fruitless >= rules.patience or bool(memory.met.all()))
        else:
            done = wrong == 0
        over = done or steps + given_up >= rules.max_steps
        if over:
            break
        if s == NOWHERE:
            s = reset(world, stream)
            news = not memory.met[s]
            fruitless = 0 if news else fruitless + 1
            memory.met[s] = True
            episode_steps = 0
        a = NOWHERE
        if rules.explore or (episode_steps > 0 and episode_steps % memory.met.size == 0):
            a = way_on(memory, s, level)
            if a == NOWHERE:
                given_up += 1
                s = NOWHERE
                continue
        if not rules.explore:
            a = int(uniform(stream) * memory.tried.shape[1])
        t, reward, goal = step(world, s, a)
        steps += 1
        episode_steps += 1
        n_open -= memory.tried[s, a] == level
        news = news or goal >= 0 or not memory.met[t]
        _remember(memory, s, a, t, reward, goal)
        if goal >= 0:
            wrong += _end_episode(world, memory, values, rules, s, a, goal)
            episodes += 1
            s = NOWHERE
        else:
            if not rules.replay:
                wrong += _update(memory, values, rules, s, a)
            s = t
    standing[0], standing[1], standing[2], standing[3] = steps, episodes, given_up, done
    standing[4], standing[5], standing[6], standing[7] = episode_steps, fruitless, level, s
    return over


@kernel
def _end_episode(
    world: Simulator, memory: Memory, values: Values, rules: Rules, s: int, a: int, goal: int
) -> int:
    """See what each task pays for the goal and, without replay, learn from it.

    Returns by how much the number of wrong entries changed.
    """
    first, last = a, a + 1
    if rules.one_reward_per_goal:
        first, last = 0, memory.tried.shape[1]
    change = 0
    for b in range(first, last):
        if b != a:
            _remember(memory, s, b, s, 0.0, goal)
        _collect(world, memory, values.lane_goal, goal, b)
        if not rules.replay:
            change += _update(memory, values, rules, s, b)
    if rules.warm and not rules.replay:
        change += _move_slices(memory, values, rules, s, goal)
    for lane in range(values.lane_goal.size):
        values.learned[lane] |= values.lane_goal[lane] == goal
    return change


@kernel
def _count_open(memory: Memory, level: int) -> int:
    """Pairs of met states that were tried at most `level` times."""
    n_open = 0
    for s in range(memory.met.size):
        if memory.met[s]:
            for a in range(memory.tried.shape[1]):
                n_open += memory.tried[s, a] <= level
    return n_open


@kernel
def _remember(memory: Memory, s: int, a: int, t: int, reward: float, goal: int) -> None:
    """Store one transition."""
    memory.known[s, a] = True
    memory.tried[s, a] += 1
    memory.next_of[s, a] = t
    memory.reward_of[s, a] = reward
    memory.end_of[s, a] = goal
    memory.met[t] = True


@kernel
def _collect(world: Simulator, memory: Memory, lane_goal: IntArray, goal: int, a: int) -> None:
    """See what every task that is learned pays for this goal."""
    for lane in range(lane_goal.size):
        if lane_goal[lane] == goal:
            memory.paid[lane, a] = terminal_reward(world, lane)


@kernel
def way_on(memory: Memory, s: int, level: int) -> int:
    """The first action on the shortest known path to a pair tried at most `level` times.

    If no such pair can be reached, on the path to the nearest goal, so that the next episode may
    begin elsewhere; if no goal can be reached either, NOWHERE.
    """
    a = _first_action(memory, s, level, False)
    return a if a != NOWHERE else _first_action(memory, s, level, True)


@kernel
def _first_action(memory: Memory, s: int, level: int, ending: bool) -> int:
    """Breadth-first search in the known transitions; of equally near pairs, the first found.

    It looks for a pair tried at most `level` times or, with `ending`, for one that is known to end
    an episode.
    """
    n_states, n_actions = memory.tried.shape
    origin = np.full(n_states, NOWHERE, np.int64)  # the first action on the path to each state
    queue = np.empty(n_states, np.int64)
    queue[0] = s
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for a in range(n_actions):
            if ending:
                found = memory.known[u, a] and memory.end_of[u, a] >= 0
            else:
                found = memory.tried[u, a] <= level
            if found:
                return a if u == s else origin[u]
        for a in range(n_actions):
            t = memory.next_of[u, a]
            if memory.known[u, a] and memory.end_of[u, a] < 0 and t != s and origin[t] == NOWHERE:
                origin[t] = a if u == s else origin[u]
                queue[tail] = t
                tail += 1
    return NOWHERE


@kernel
def _update(memory: Memory, values: Values, rules: Rules, s: int, a: int) -> int:
    """Algorithm 1 with α = 1 for one transition: Q(s, g, a) ← target(g) for every goal met.

    `v` holds max_a Q, so that an update that changes nothing, as most do, costs little.  Returns by
    how much the number of wrong entries changed.
    """
    q, v, lane_goal = values.q, values.v, values.lane_goal
    end, t, reward = memory.end_of[s, a], memory.next_of[s, a], memory.reward_of[s, a]
    if end < 0 and not _differs(reward, v[t], q[s, a]):
        return 0
    change = 0
    for lane in range(lane_goal.size):
        if end < 0:
            target = reward + v[t, lane]
        else:
            target = memory.paid[lane, a] if lane_goal[lane] == end else rules.r_bar_min
        held = q[s, a, lane]
        if target == held or not values.learned[lane]:
            continue
        q[s, a, lane] = target
        if target > v[s, lane]:
            v[s, lane] = target
        elif held == v[s, lane]:
            v[s, lane] = q[s, 0, lane]
            for b in range(1, q.shape[1]):
                v[s, lane] = max(v[s, lane], q[s, b, lane])
        exact = values.optimum[s, a, lane]
        change += abs(target - exact) > rules.tolerance
        change -= abs(held - exact) > rules.tolerance
    return change


@kernel
def _differs(reward: float, later: Array, now: Array) -> bool:
    """Whether r + V(s') differs from Q(s, a) in any lane; without branches, for speed."""
    differs = False
    for lane in range(now.size):
        differs |= reward + later[lane] != now[lane]
    return differs


@kernel
def _move_slices(memory: Memory, values: Values, rules: Rules, s: int, goal: int) -> int:
    """Follow a change of V̄(g, g) in the whole slice of g; s is the state of this goal.

        Q̄(s, g, a) = G*(s:g, a) + V̄(g, g)    (Corollary 1)

    So a new V̄(g, g) moves the slice as a whole, except for states in which episodes end: they pay
    r̄_MIN.  Without this, Q-learning would lower values that are too high by one step reward per
    round of a cycle.  States that cannot reach g pay r̄_MIN as well, but the agent does not know
    which they are; if there are any, learning corrects them.

    Returns by how much the number of wrong entries changed.
    """
    change = 0
    for lane in range(values.lane_goal.size):
        move = values.v[s, lane] - values.ground[lane]
        if values.lane_goal[lane] == goal and move != 0.0:
            values.ground[lane] = values.v[s, lane]
            change -= _count_wrong(values, rules.tolerance)
            for u in range(memory.met.size):
                ends = False
                for a in range(memory.tried.shape[1]):
                    ends |= memory.end_of[u, a] >= 0
                if not ends:
                    values.v[u, lane] += move
                    for a in range(memory.tried.shape[1]):
                        values.q[u, a, lane] += move
            change += _count_wrong(values, rules.tolerance)
    return change


@kernel
def _count_wrong(values: Values, tolerance: float) -> int:
    """Entries that differ from the optimum, if there is one."""
    wrong = 0
    q, optimum = values.q, values.optimum
    if optimum.size > 0:
        for s in range(q.shape[0]):
            for a in range(q.shape[1]):
                for lane in range(q.shape[2]):
                    wrong += abs(q[s, a, lane] - optimum[s, a, lane]) > tolerance
    return wrong
