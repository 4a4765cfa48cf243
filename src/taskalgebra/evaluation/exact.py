"""What a policy of a finite world is worth: exactly, and by letting it act in the tables.

`policy_return` is exact.  `rollouts` plays episodes and compares their mean with V*_M, the optimum
of the task itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel
from taskalgebra.evaluation.record import Episodes, Evaluation, summary
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.planning.policies import may_miss, policy_values, transitions
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance
from taskalgebra.worlds.chance import State, sampled, seeded
from taskalgebra.worlds.finite import NO_GOAL, NO_LIMIT

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
    found = summary(task, Episodes(returns, steps, goals, v_star[starts]))
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


def _actions(actions: ArrayLike, task: Task) -> LongArray:
    """One action per state, checked here because the kernels do not check."""
    mdp = instance(task, Task, "the task").space.mdp
    given = np.asarray(actions)
    if given.shape != (mdp.n_states,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"a policy is one action number per state, an array of {mdp.n_states} whole numbers; "
            f"got shape {given.shape} of {given.dtype}"
        )
    if not 0 <= given.min() <= given.max() < mdp.n_actions:
        s = int(np.flatnonzero((given < 0) | (given >= mdp.n_actions))[0])
        raise ValueError(
            f"action {given[s]} in {mdp.state_name(s)} does not exist; actions are 0 to "
            f"{mdp.n_actions - 1}"
        )
    return given.astype(np.int64)
