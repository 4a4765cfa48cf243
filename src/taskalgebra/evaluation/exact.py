"""What a policy of a finite world is worth: exactly, and by letting it act in the tables.

`policy_return` is exact.  `rollouts` plays episodes and compares their mean with V*_M, the optimum
of the task itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.evaluation.record import Episodes, Evaluation, summary
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.planning.policies import may_miss, policy_values, transitions
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance
from taskalgebra.worlds import graph
from taskalgebra.worlds.chance import State, sampled, seeded
from taskalgebra.worlds.finite import NO_GOAL, NO_LIMIT, FiniteMDP

CHUNK = 1_000_000
"""Steps between two reports of progress and checks for Ctrl-C: some tens of milliseconds."""


def rollouts(
    task: Task,
    actions: ArrayLike,
    v_star: Array,
    *,
    episodes: int,
    rng: np.random.Generator,
    max_steps: int | None = None,
    starts: IntArray | None = None,
    listener: Listener = silent,
) -> Evaluation:
    """Play episodes with one action per state, `[S]`, from random starts.

    `starts` are those of the world unless given, all equally likely.  `max_steps` cuts episodes
    off.  By default an episode that surely ends is not cut off; if the policy may never end, the
    limit is ten times the number of states.  The listener receives progress.
    """
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    mdp = task.space.mdp
    chosen = _actions(actions, task)
    starts = rng.choice(mdp.starts if starts is None else starts, episodes)
    if max_steps is None:
        row, column, _ = transitions(mdp, chosen)
        endless = may_miss(row, column, mdp.goals, mdp.n_states)[starts]
        limits = np.where(endless, 10 * mdp.n_states, NO_LIMIT)
    else:
        limits = np.full(episodes, count(max_steps, "max_steps"))
    return _episodes(task, chosen, starts, limits, v_star[starts], rng, listener)


def rollouts_on_the_way(
    task: Task,
    act: Callable[[LongArray], LongArray],
    optimum: Callable[[LongArray], Array],
    *,
    episodes: int,
    rng: np.random.Generator,
    max_steps: int | None = None,
    listener: Listener = silent,
) -> Evaluation:
    """`rollouts` of a deterministic world, which asks for actions only in states that are met.

    `act` gives the actions of some states, `optimum` their V*.  Equal generators play the episodes
    of `rollouts` with the actions of all states.
    """
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    mdp = task.space.mdp
    starts = rng.choice(mdp.starts, episodes)
    if max_steps is not None:
        max_steps = count(max_steps, "max_steps")
    chosen = np.zeros(mdp.n_states, np.int64)
    met = mdp.is_goal.copy()
    at, steps = np.unique(starts).astype(np.int64), 0
    while at.size and (max_steps is None or steps < max_steps):
        at = at[~met[at]]
        chosen[at] = _checked_actions(act(at), at, task)
        met[at] = True
        at = np.unique(mdp.next_state[at, chosen[at]]).astype(np.int64)
        steps += 1
    if max_steps is None:
        endless = _endless(mdp.next_state, mdp.is_goal, chosen, starts.astype(np.int64))
        limits = np.where(endless, 10 * mdp.n_states, NO_LIMIT)
    else:
        limits = np.full(episodes, max_steps)
    best = optimum(starts.astype(np.int64))
    return _episodes(task, chosen, starts, limits, best, rng, listener)


@kernel
def _endless(
    next_state: IntArray, is_goal: BoolArray, actions: LongArray, starts: LongArray
) -> BoolArray:
    """[B], whether the path from a start ends in no goal but in a cycle."""
    unknown, on_the_way, ends, never = 0, 1, 2, 3
    known = np.full(is_goal.size, unknown, np.uint8)
    endless = np.empty(starts.size, np.bool_)
    for i in range(starts.size):
        s = starts[i]
        while known[s] == unknown and not is_goal[s]:
            known[s] = on_the_way
            s = np.int64(next_state[s, actions[s]])
        found = ends if is_goal[s] else (never if known[s] == on_the_way else known[s])
        s = starts[i]
        while not is_goal[s] and known[s] == on_the_way:
            known[s] = found
            s = np.int64(next_state[s, actions[s]])
        endless[i] = found == never
    return endless


def _episodes(
    task: Task,
    chosen: LongArray,
    starts: IntArray,
    limits: LongArray,
    best: Array,
    rng: np.random.Generator,
    listener: Listener,
) -> Evaluation:
    """Play from these starts, up to these limits of steps; `best` is V* of each start."""
    mdp, episodes = task.space.mdp, starts.size
    stream = seeded(int(rng.integers(2**63)))
    returns = np.zeros(episodes)
    steps = np.zeros(episodes, np.int64)
    ends = np.full(episodes, NO_GOAL, np.int64)
    position = np.zeros(2, np.int64)
    while position[0] < episodes:  # in parts, because a kernel does not listen for Ctrl-C
        _play(
            mdp.offset,
            mdp.successor,
            mdp.probability,
            task.steps,
            mdp.is_goal,
            chosen,
            starts,
            limits,
            stream,
            returns,
            steps,
            ends,
            position,
            CHUNK,
        )
        listener(Event("episodes", float(position[0] / episodes)))
    ended = ends != NO_GOAL
    goals = np.where(ended, mdp.goal_of_state[ends], NO_GOAL)
    returns[ended] += task.goal_reward[goals[ended]]
    found = summary(task, Episodes(returns, steps, goals, best))
    limit = mdp.max_episode_steps  # in the environment, what a goal pays comes with the move there
    late = limit is not None and (steps - ended > limit).any()
    return replace(found, note=mdp.limit_ignored) if late else found


@kernel
def _play(
    offset: LongArray,
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    is_goal: BoolArray,
    actions: LongArray,
    starts: IntArray,
    limits: LongArray,
    stream: State,
    returns: Array,
    steps: LongArray,
    ends: LongArray,
    position: LongArray,
    budget: int,
) -> None:
    """Play on for some steps, from the position: an episode, and the state where it stands.

    Fills in returns before the terminal reward, steps, and the absorbing state reached or −1.
    """
    n_actions = step_reward.shape[1]
    i, s = position[0], position[1]
    while i < starts.size and budget > 0:
        budget -= 1
        if steps[i] == 0:
            s = np.int64(starts[i])
        steps[i] += 1
        if is_goal[s]:
            ends[i] = s
            i += 1
            continue
        a = actions[s]
        returns[i] += step_reward[s, a]
        s = np.int64(successor[sampled(offset, probability, s * n_actions + a, stream)])
        if steps[i] >= limits[i]:
            i += 1
    position[0], position[1] = i, s


def policy_return(task: Task, actions: ArrayLike) -> Array:
    """V^π_M(s), the exact expected return of one action per state; −∞ where π may never end.

    Where many states are gone round for n steps, the rounding errors of n steps add up.

    Raises:
        ConvergenceError: in a stochastic world, episodes are too long for float64.
    """
    chosen = _actions(actions, task)
    return policy_values(task.space.mdp, task.steps, task.goal_reward, chosen)


def chance_of(task: Task, actions: ArrayLike) -> Array:
    """[S], the exact probability that one action per state ends in a desired goal.

    Where it may never end, that counts as not ending there.
    """
    chosen, mdp = _actions(actions, task), task.space.mdp
    row, column, outcome = transitions(mdp, chosen)
    order = np.argsort(column, kind="stable")
    first = np.searchsorted(column[order], np.arange(mdp.n_states + 1)).astype(np.uint32)
    wanted = mdp.goals[task.desired]
    able = graph.can_reach(first, row[order].astype(np.uint32), wanted)
    # The chain of the policy, which also ends wherever no desired goal can be reached any more.
    counts = np.bincount(row, minlength=mdp.n_states)
    ends = np.flatnonzero(~able | mdp.is_goal).astype(np.int32)
    chain = FiniteMDP(  # its parts are those of a world, which were checked
        np.concatenate(([0], np.cumsum(counts))),
        column,
        mdp.probability[outcome],
        step_reward=np.zeros((mdp.n_states, 1)),
        goals=ends,
        goal_names=(),
        action_names=("the policy's",),
        starts=mdp.starts,
    )
    paid = np.isin(ends, wanted).astype(np.float64)
    found = policy_values(chain, chain.step_reward, paid, np.zeros(mdp.n_states, np.int64))
    return found.clip(0.0, 1.0)


def _actions(actions: ArrayLike, task: Task) -> LongArray:
    """One action per state, checked here because the kernels do not check."""
    mdp = instance(task, Task, "the task").space.mdp
    given = np.asarray(actions)
    if given.shape != (mdp.n_states,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"a policy is one action number per state, an array of {mdp.n_states} whole numbers; "
            f"got shape {given.shape} of {given.dtype}"
        )
    return _checked_actions(given, None, task)


def _checked_actions(given: NDArray[Any], states: LongArray | None, task: Task) -> LongArray:
    """Actions of some states, or of all, that exist."""
    mdp = task.space.mdp
    wrong = np.flatnonzero((given < 0) | (given >= mdp.n_actions))
    if wrong.size:
        s = int(wrong[0] if states is None else states[wrong[0]])
        raise ValueError(
            f"action {given[wrong[0]]} in {mdp.state_name(s)} does not exist; actions are 0 to "
            f"{mdp.n_actions - 1}"
        )
    return given.astype(np.int64)
