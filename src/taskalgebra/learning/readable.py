"""Algorithm 1 in plain Python, for any Gymnasium environment with discrete spaces.

Slow and easy to follow: compare it line by line with the supplement.  The environment must put the
number of the goal reached into `info["goal"]` when `terminated`, and −1 before.  Nothing else is
known of it: goals are discovered, and the table grows with them.

With the same random numbers it learns the table of `taskalgebra.learning.q_learning`, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.learning.kernels import AT_START, DECAY, DIFFER, MOST_VISITS, NONE
from taskalgebra.learning.q_learning import Run, Settings, Stop, begin, padded
from taskalgebra.theory.goal_env import checked_rewards
from taskalgebra.theory.rounding import same_reward
from taskalgebra.worlds.chance import Stream


def goal_oriented_q_learning(
    env: gym.Env[Any, Any],
    stop: Stop,
    *,
    r_bar_min: float,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    seed: int = 0,
    run: Run | None = None,
    rows: int | None = None,
    progress: Callable[[Run], None] | None = None,
) -> Run:
    """Learn Q̄ of the task that an environment pays for.

    Args:
        env: a goal environment with `Discrete` observations and actions.
        stop: when to stop.
        r_bar_min: the penalty for ending in another goal.
        settings: α, ε and γ.
        seed: of the agent; the environment is seeded with it too, at its first reset.
        run: a run to resume; it starts with a new episode.
        rows: of the table at first, if fewer than there are states; it doubles whenever a state
            beyond them is met.  By default it has one for each state.
        progress: called after every episode.

    Returns:
        The run, also if Ctrl-C stopped it.  Entries of goals that were never met mean nothing: see
        `run.seen_goals`.
    """
    n_states, n_actions = _size(env, "observation"), _size(env, "action")
    n_rows = n_states if rows is None else min(rows, n_states)
    current = begin(n_rows, 0, n_actions, seed=seed) if run is None else run
    if not n_rows <= current.q.shape[0] <= n_states or current.q.shape[2] != n_actions:
        raise ValueError(
            f"the run has a table of shape {current.q.shape}, this environment has {n_states} "
            f"states and {n_actions} actions"
        )
    current.watch_outcomes()
    stream = Stream(state=current.stream)
    env_seed = seed if run is None else None
    current.interrupted = current.converged = False
    try:
        while not _finished(current, stop):
            _episode(env, n_states, env_seed, current, stream, settings, stop, r_bar_min)
            env_seed = None
            current.stream = stream.state
            if progress is not None:
                progress(current)
    except KeyboardInterrupt:
        current.interrupted = True
    current.stream = stream.state
    return current


def _episode(
    env: gym.Env[Any, Any],
    n_states: int,
    env_seed: int | None,
    run: Run,
    stream: Stream,
    settings: Settings,
    stop: Stop,
    r_bar_min: float,
) -> None:
    """One pass of the outer loop of Algorithm 1."""
    state = _state(env.reset(seed=env_seed)[0], n_states, run)
    while not _finished(run, stop):
        action = _choose(run, state, stream, settings)
        seen, paid, terminated, truncated, info = env.step(action)
        next_state = _state(seen, n_states, run)
        reward = float(checked_rewards(paid, run.n_steps + 1))
        goal = _goal_of(info, terminated)
        run.n_steps += 1
        differ = _differ(run, state, action, -1 - goal if terminated else next_state, reward)
        for g in run.seen_goals[run.seen_goals >= 0]:
            if terminated:
                target = reward if g == goal else r_bar_min
            else:
                target = reward + settings.discount * run.q[next_state, g].max()
            old = run.q[state, g, action]
            visits = min(int(run.visits[state, g, action]) + 1, MOST_VISITS)
            run.visits[state, g, action] = visits
            alpha = settings.constant_rate
            if differ and settings.learning_rate is None:
                alpha = visits**-DECAY
            run.q[state, g, action] = (1.0 - alpha) * old + alpha * target
        state = next_state
        if terminated and goal not in run.seen_goals:
            _add_goal(run, goal)
        if terminated or truncated:
            run.n_episodes += 1
            return


def _differ(run: Run, state: int, action: int, where: int, reward: float) -> bool:
    """Whether outcomes of an action in a state were seen to differ, this one included."""
    last = run.outcome[state, action]
    if last[0] == NONE:
        last[:] = where, reward
    elif last[0] != where or not same_reward(last[1], reward):
        last[0] = DIFFER
    return bool(last[0] == DIFFER)


def _choose(run: Run, state: int, stream: Stream, settings: Settings) -> int:
    """ε-greedy, by generalised policy improvement over the goals met so far."""
    seen = run.seen_goals[run.seen_goals >= 0]
    n_actions = run.q.shape[2]
    if settings.epsilon >= 1.0 or not seen.size or stream.random() < settings.epsilon:
        return int(stream.random() * n_actions)
    values: Array = run.q[state, seen].max(axis=0)
    return int(values.argmax())


def _state(observation: Any, n_states: int, run: Run) -> int:
    """An observation as the number of a state, making room for it in the table."""
    state = int(observation)
    if not 0 <= state < n_states:
        raise ValueError(
            f"the environment gave the observation {state}, outside Discrete({n_states}); expected "
            f"0 to {n_states - 1}"
        )
    while state >= len(run.q):
        run.q = padded(run.q, (min(2 * len(run.q), n_states), *run.q.shape[1:]), 0.0)
        run.watch_outcomes()
    return state


def _finished(run: Run, stop: Stop) -> bool:
    if stop.optimum is not None and run.n_seen == stop.optimum.shape[1]:
        run.converged = bool(np.abs(run.q - stop.optimum).max() <= stop.tolerance)
    return (
        run.converged
        or (stop.steps is not None and run.n_steps >= stop.steps)
        or (stop.episodes is not None and run.n_episodes >= stop.episodes)
    )


def _add_goal(run: Run, goal: int) -> None:
    """𝒢 ← 𝒢 ∪ {g}, making room for g in the table."""
    n_known = run.q.shape[1]
    if goal >= n_known:
        run.q = padded(run.q, (run.q.shape[0], goal + 1, run.q.shape[2]), 0.0)
        run.seen_goals = padded(run.seen_goals, (goal + 1,), -1)
        run.watch_outcomes()
    run.seen_goals[run.n_seen] = goal
    run.position = AT_START


def _goal_of(info: dict[str, Any], terminated: bool) -> int:
    goal = info.get("goal")
    if goal is None:
        raise ValueError(
            'the environment puts no "goal" into info; a goal environment puts the number of the '
            "goal reached there when terminated, and -1 before: wrap it so that it does"
        )
    if terminated and goal < 0:
        raise ValueError(f'the episode ended with info["goal"] = {goal}, expected a goal number')
    return int(goal)


def _size(env: gym.Env[Any, Any], what: str) -> int:
    space = getattr(env, f"{what}_space")
    if not isinstance(space, gym.spaces.Discrete) or space.start != 0:
        raise ValueError(
            f"the {what} space is {space}, expected Discrete(n) starting at 0; a table needs "
            f"numbered {what}s"
        )
    return int(space.n)
