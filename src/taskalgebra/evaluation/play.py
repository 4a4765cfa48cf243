"""What a policy is worth: exactly, and by letting it act.

`policy_return` is exact.  `rollouts` plays episodes in a finite world and compares their mean with
V*_M, the optimum of the task itself.  `play` plays episodes in any environment that keeps the
contract of a goal environment, and so in worlds that are known only by playing them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import count, instance
from taskalgebra.worlds import graph
from taskalgebra.worlds.chance import State, sampled, seeded
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

NO_LIMIT = 2**62
MAX_STEPS = 20
"""Steps after which `play` cuts an episode off, unless told otherwise."""
_NORMAL_95 = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations


@dataclass(frozen=True)
class Evaluation:
    """The outcome of some episodes of one task.

    An episode succeeds when it ends in a goal that the task rewards most.  `optimal_return` is the
    mean of V*_M over the same starts: what the best policy earns on average, or NaN if not known.
    """

    episodes: int
    mean_return: float
    standard_error: float
    optimal_return: float
    success_rate: float
    unfinished: int  # episodes cut off at the step limit
    mean_steps: float

    @property
    def score(self) -> float:
        """The mean return as a share of the optimal one; NaN where that is 0 or not known.

        It says how good a policy is where the optimum is above 0.
        """
        return self.mean_return / self.optimal_return if self.optimal_return else np.nan

    @property
    def n_success(self) -> int:
        """How many episodes succeeded."""
        return round(self.success_rate * self.episodes)

    @property
    def success_interval(self) -> tuple[float, float]:
        """The 95 % interval of Wilson for the chance of success.

        With p the success rate of n episodes and z = 1.96, its ends are
        (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n).
        """
        n, p, z = self.episodes, self.success_rate, _NORMAL_95
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
        scale = 1 + z * z / n
        low, high = (middle - half) / scale, (middle + half) / scale
        return max(0.0, min(p, low)), min(1.0, max(p, high))  # whatever the rounding

    def __str__(self) -> str:
        """One line with the figures."""
        cut = f", {self.unfinished} cut off" if self.unfinished else ""
        known = not np.isnan(self.optimal_return)
        optimal = f" (optimal {self.optimal_return:.3f})" if known else ""
        return (
            f"return {self.mean_return:.3f}{optimal}, success "
            f"{100 * self.success_rate:.1f} %, {self.mean_steps:.1f} steps, "
            f"{self.episodes} episodes{cut}"
        )


def rollouts(
    task: Task,
    actions: ArrayLike,
    v_star: Array,
    *,
    episodes: int,
    rng: np.random.Generator,
    max_steps: int | None = None,
) -> Evaluation:
    """Play episodes with one action a state, `[S]`, from random starts.

    `max_steps` cuts episodes off.  By default none is cut off that surely ends; where the policy
    may go round for ever, ten times as many steps are allowed as there are states.
    """
    episodes = count(episodes, "episodes")
    mdp = task.space.mdp
    chosen = _actions(actions, task)
    starts = rng.choice(mdp.starts, episodes)
    if max_steps is None:
        row, column, _ = _transitions(mdp, chosen)
        endless = _may_miss(row, column, mdp.goals, mdp.n_states)[starts]
        limits = np.where(endless, 10 * mdp.n_states, NO_LIMIT)
    else:
        limits = np.full(episodes, count(max_steps, "max_steps"))
    returns, steps, ends = _play(
        mdp.offset,
        mdp.successor,
        mdp.probability,
        task.steps,
        mdp.is_goal,
        chosen,
        starts,
        limits,
        seeded(int(rng.integers(2**63))),
    )
    ended = ends != NO_GOAL
    goals = np.where(ended, mdp.goal_of_state[ends], NO_GOAL)
    returns[ended] += task.goal_reward[goals[ended]]
    return _evaluation(task, Episodes(returns, steps, goals, v_star[starts]))


class Episodes(NamedTuple):
    """Episodes one by one, each array `[N]`."""

    returns: Array
    steps: NDArray[np.int64]
    goals: NDArray[np.int64]  # in which they ended; −1 where they were cut off
    optimal_returns: Array  # NaN where not known


def _evaluation(task: Task, episodes: Episodes) -> Evaluation:
    """The figures of some episodes."""
    n = episodes.returns.size
    reached = task.goal_reward[episodes.goals[episodes.goals != NO_GOAL]]
    optimal = float(episodes.optimal_returns.mean())
    return Evaluation(
        episodes=n,
        mean_return=float(episodes.returns.mean()),
        standard_error=float(episodes.returns.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        optimal_return=np.nan if np.isnan(optimal) else optimal,
        success_rate=float((reached == task.goal_reward.max()).sum() / n),
        unfinished=int((episodes.goals == NO_GOAL).sum()),
        mean_steps=float(episodes.steps.mean()),
    )


class Actor(Protocol):
    """What acts: a policy, from a batch of observations to one action each."""

    def actions(self, observations: Any) -> NDArray[np.int64]:
        """The actions for a batch of observations, `[B]`."""


class Playable(Protocol):
    """A world to play in.

    It may also have an attribute `max_steps`, the steps after which an episode is given up.
    """

    def vector(self, num_envs: int, *, task: Task) -> VectorEnv[Any, Any, Any]:
        """So many copies of the world, which pay for this task and keep the contract of `play`."""


def play(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Actor,
    *,
    episodes: int,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
) -> Evaluation:
    """Play episodes in an environment, and tell what the policy earned.

    The N copies of the environment play in waves.  A wave resets all of them with a seed, and each
    counts with the first episode it plays; what a copy does afterwards, until the slowest is done,
    is ignored.  So long episodes count as often as short ones, and it does not matter how the
    environment resets itself.  Where copy i is seeded with the seed plus i, as Gymnasium does, the
    episodes are the same for every N.

    Args:
        task: the task that the environment pays for.
        env: copies of a goal environment: `infos["goal"]`, `[N]`, is the number of the goal reached
            where `terminated`, −1 before.  At a reset `infos["optimal_return"]`, `[N]`, may say
            what the best policy earns.
        policy: what acts.
        episodes: how many episodes to play.
        seed: equal seeds play equal episodes, if the environment and the policy do so.
        max_steps: an episode is cut off after so many steps, and counts with its return so far.

    Raises:
        ValueError: the environment breaks the contract of goals.
    """
    instance(task, Task, "the task")
    episodes, max_steps = count(episodes, "episodes"), count(max_steps, "max_steps")
    first_seed = int(np.random.SeedSequence(seed).generate_state(1)[0]) >> 1  # room to count up
    waves = []
    for first in range(0, episodes, env.num_envs):
        n_counted = min(env.num_envs, episodes - first)
        waves.append(_wave(task, env, policy, n_counted, first_seed + first, max_steps))
    return _evaluation(
        task, Episodes(*(np.concatenate(parts) for parts in zip(*waves, strict=True)))
    )


def _wave(
    task: Task,
    env: VectorEnv[Any, Any, Any],
    policy: Actor,
    n_counted: int,
    seed: int,
    max_steps: int,
) -> Episodes:
    """The first episode of each of the first copies of an environment."""
    from gymnasium.vector import AutoresetMode

    by_hand = env.metadata.get("autoreset_mode") == AutoresetMode.DISABLED
    observations, infos = env.reset(seed=seed)
    optimal = _optimal_returns(infos, env.num_envs)
    returns = np.zeros(env.num_envs)
    steps = np.zeros(env.num_envs, np.int64)
    goals = np.full(env.num_envs, NO_GOAL)
    on = np.arange(env.num_envs) < n_counted
    for _ in range(max_steps):
        observations, rewards, terminated, truncated, infos = env.step(policy.actions(observations))
        returns[on] += rewards[on]
        steps[on] += 1
        arrived = on & terminated
        if arrived.any():
            goals[arrived] = _goals(infos, arrived, task)
        ended = terminated | truncated
        on &= ~ended
        if not on.any():
            break
        if by_hand and ended.any():
            observations, _ = env.reset(options={"reset_mask": ended})
    return Episodes(returns[:n_counted], steps[:n_counted], goals[:n_counted], optimal[:n_counted])


def _goals(infos: Mapping[str, Any], arrived: BoolArray, task: Task) -> NDArray[np.int64]:
    """The goals in which the episodes of these copies have just ended."""
    final = infos.get("final_info", {})  # of the episode that ended, where the next one has begun
    infos = final if "goal" in final else infos
    if "goal" not in infos:
        raise ValueError(
            'the environment ended an episode without infos["goal"]; a goal environment puts the '
            "number of the goal there, one for each copy, and −1 while the episode goes on"
        )
    goals = np.asarray(infos["goal"])[arrived]
    wrong = goals[~np.isin(goals, np.arange(task.space.n_goals))]
    if wrong.size:
        raise ValueError(
            f'the environment ended an episode with infos["goal"] = {wrong[0]}, expected the '
            f"number of a goal, 0 to {task.space.n_goals - 1}; an episode that ends elsewhere is "
            f"truncated, not terminated"
        )
    return goals.astype(np.int64)


def _optimal_returns(infos: Mapping[str, Any], num_envs: int) -> Array:
    """[N], what the environment says that the best policy earns; NaN where it does not say."""
    if "optimal_return" not in infos:
        return np.full(num_envs, np.nan)
    known = infos.get("_optimal_return", np.ones(num_envs, np.bool_))
    return np.where(known, np.asarray(infos["optimal_return"], np.float64), np.nan)


@kernel
def _play(
    offset: NDArray[np.int64],
    successor: IntArray,
    probability: Array,
    step_reward: Array,
    is_goal: BoolArray,
    actions: NDArray[np.int64],
    starts: IntArray,
    limits: NDArray[np.int64],
    stream: State,
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Returns before the terminal reward, steps, and the absorbing state reached or −1."""
    n_actions = step_reward.shape[1]
    returns = np.zeros(starts.size)
    steps = np.zeros(starts.size, np.int64)
    ends = np.full(starts.size, -1, np.int64)
    for i in range(starts.size):
        s = starts[i]
        for _ in range(limits[i]):
            steps[i] += 1
            if is_goal[s]:
                ends[i] = s
                break
            a = actions[s]
            returns[i] += step_reward[s, a]
            s = successor[sampled(offset, probability, s * n_actions + a, stream)]
    return returns, steps, ends


def policy_return(task: Task, actions: ArrayLike) -> Array:
    """V^π_M(s), the exact expected return of one action a state; −∞ where π may never end."""
    mdp = task.space.mdp
    chosen = _actions(actions, task)
    row, column, outcome = _transitions(mdp, chosen)
    proper = ~_may_miss(row, column, mdp.goals, mdp.n_states)
    live = np.flatnonzero(proper & ~mdp.is_goal)
    values = np.full(mdp.n_states, -np.inf)
    values[mdp.goals] = task.goal_reward
    if mdp.deterministic:
        values[live] = _follow(column, task.steps, chosen, values, live)
        return values
    matrix = np.eye(mdp.n_states)
    np.subtract.at(matrix, (row, column), mdp.probability[outcome])
    right = task.steps[live, chosen[live]] - matrix[np.ix_(live, mdp.goals)] @ task.goal_reward
    values[live] = np.linalg.solve(matrix[np.ix_(live, live)], right)
    return values


def _transitions(
    mdp: FiniteMDP, actions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], IntArray, NDArray[np.int64]]:
    """The possible transitions of a policy: from, to, and the number of the outcome."""
    pair = np.arange(mdp.n_states) * mdp.n_actions + actions
    counts = mdp.offset[pair + 1] - mdp.offset[pair]
    row = np.repeat(np.arange(mdp.n_states), counts)
    first = np.repeat(mdp.offset[pair] - np.cumsum(counts) + counts, counts)
    outcome = first + np.arange(counts.sum())
    return row, mdp.successor[outcome], outcome


def _actions(actions: ArrayLike, task: Task) -> NDArray[np.int64]:
    """One action a state, checked: the kernels below do not look twice."""
    mdp = instance(task, Task, "the task").space.mdp
    given = np.asarray(actions)
    if given.shape != (mdp.n_states,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"a policy is one action number a state, an array of {mdp.n_states} whole numbers; "
            f"got shape {given.shape} of {given.dtype}"
        )
    if not 0 <= given.min() <= given.max() < mdp.n_actions:
        s = int(np.flatnonzero((given < 0) | (given >= mdp.n_actions))[0])
        raise ValueError(
            f"action {given[s]} in {mdp.state_name(s)} does not exist; actions are 0 to "
            f"{mdp.n_actions - 1}"
        )
    return given.astype(np.int64)


def _may_miss(
    row: NDArray[np.int64], column: IntArray, goals: IntArray, n_states: int
) -> BoolArray:
    """[S], whether a policy, given by its possible transitions, may never reach a goal."""
    order = np.argsort(column, kind="stable")
    offset = np.searchsorted(column[order], np.arange(n_states + 1)).astype(np.uint32)
    state = row[order].astype(np.uint32)
    lost = ~graph.can_reach(offset, state, goals)
    return graph.can_reach(offset, state, np.flatnonzero(lost).astype(np.int32))


@kernel
def _follow(
    next_of: IntArray,
    step_reward: Array,
    actions: NDArray[np.int64],
    known: Array,
    live: NDArray[np.int64],
) -> Array:
    """Add the rewards up along the path of each state; known values end it."""
    values = known.copy()
    path = np.empty(values.size, np.int64)
    for i in range(live.size):
        n = 0
        s = live[i]
        while values[s] == -np.inf:
            path[n] = s
            n += 1
            s = next_of[s]
        for k in range(n - 1, -1, -1):
            values[path[k]] = step_reward[path[k], actions[path[k]]] + values[s]
            s = path[k]
    return values[live]
