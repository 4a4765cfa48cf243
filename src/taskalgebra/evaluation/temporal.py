"""Episodes of a formula, played in an environment whose episodes outlive goals.

An episode ends at the first step after which its trace satisfies the formula, or can no longer be
made to; the environment may end it earlier, or a limit of steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import BoolArray
from taskalgebra.evaluation.record import Episodes, Evaluation, figures
from taskalgebra.evaluation.rollout import rollout
from taskalgebra.limits import MOST_EPISODES
from taskalgebra.planning.temporal import FormulaPolicy
from taskalgebra.progress import Event, Listener, silent
from taskalgebra.theory.goal_env import GoalEnv, checked_rewards, goals_entered
from taskalgebra.theory.policy import Policy
from taskalgebra.validation import count
from taskalgebra.worlds.finite import NO_GOAL

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv


def play_formula(
    env: VectorEnv[Any, Any, Any],
    policy: FormulaPolicy,
    success: float,
    *,
    episodes: int,
    max_steps: int,
    seed: int = 0,
    avoided: BoolArray | None = None,
    listener: Listener = silent,
) -> Evaluation:
    """Play episodes of the formula of a policy, and summarise them.

    Copies play in waves, and only the first episode of each counts, as in `rollout.play`.

    Args:
        env: copies of a goal environment, as `GoalEnv.continuing` makes them.
        policy: what acts; it keeps the state of the automaton.
        success: what is paid when the formula is satisfied.
        episodes: the number of episodes.
        max_steps: an episode is cut off after this many steps, and counts with its return so far.
        seed: equal seeds play equal episodes, if the environment and the policy are deterministic.
        avoided: `[G]`, goals that count as violations when they are entered; by default an episode
            that violates the formula is one violation.
        listener: receives progress.
    """
    episodes = count(episodes, "episodes", most=MOST_EPISODES)
    max_steps = count(max_steps, "max_steps")
    first_seed = int(np.random.SeedSequence(seed).generate_state(1)[0]) >> 1
    waves, satisfied, violations = [], [], 0
    for first in range(0, episodes, env.num_envs):
        n_counted = min(env.num_envs, episodes - first)
        wave, met, wrong = _wave(
            env, policy, success, n_counted, first_seed + first, max_steps, avoided
        )
        waves.append(wave)
        satisfied.append(met)
        violations += wrong
        listener(Event("episodes", (first + n_counted) / episodes))
    found = Episodes(*(np.concatenate(parts) for parts in zip(*waves, strict=True)))
    summary = figures(found, found.goals != NO_GOAL, np.concatenate(satisfied))
    return replace(summary, violations=violations / episodes)


def _wave(
    env: VectorEnv[Any, Any, Any],
    policy: FormulaPolicy,
    success: float,
    n_counted: int,
    seed: int,
    max_steps: int,
    avoided: BoolArray | None,
) -> tuple[Episodes, BoolArray, int]:
    """The first episode of each of the first copies: what it earned, whether it succeeded.

    The last is the number of violations in all of them.
    """
    automaton = policy.labelled.automaton
    n = env.num_envs
    observations, _ = env.reset(seed=seed)
    policy.reset(np.ones(n, np.bool_))
    returns, steps = np.zeros(n), np.zeros(n, np.int64)
    ends = np.full(n, NO_GOAL, np.int64)  # the state of the automaton in which an episode ended
    on = np.arange(n) < n_counted
    violations = 0
    for step in range(1, max_steps + 1):
        observations, rewards, terminated, truncated, infos = env.step(policy.actions(observations))
        goals = goals_entered(infos, n)
        policy.observe(goals)
        if avoided is not None:
            violations += int((on & (goals != NO_GOAL) & avoided[goals]).sum())
        returns[on] += checked_rewards(rewards, step)[on]
        steps[on] += 1
        states = policy.states
        over = automaton.accepting[states] | automaton.dead[states]
        ended = on & (over | terminated)
        ends[ended] = states[ended]
        on &= ~(ended | truncated)
        if not on.any():
            break
    over = ends != NO_GOAL
    satisfied: BoolArray = over & automaton.accepting[ends]
    if avoided is None:
        violations = int((over & automaton.dead[ends]).sum())
    returns[satisfied] += success
    counted = slice(n_counted)
    unknown = np.full(n_counted, np.nan)
    found = Episodes(returns[counted], steps[counted], ends[counted], unknown)
    return found, satisfied[counted], violations


def arrivals(
    env: VectorEnv[Any, Any, Any], policy: Policy, n_goals: int, *, enough: int, max_steps: int
) -> list[list[NDArray[Any]]]:
    """[G], what is seen where episodes of a policy end in each goal.

    Args:
        env: copies of a goal environment, as `GoalEnv.vector` makes them.
        policy: what acts.
        n_goals: G.
        enough: episodes after which to stop.
        max_steps: steps of all copies after which to stop.
    """
    seen: list[list[NDArray[Any]]] = [[] for _ in range(n_goals)]
    observations, _ = env.reset(seed=0)
    policy.reset(np.ones(env.num_envs, np.bool_))
    n = 0
    steps = rollout(env, observations, policy.actions, n_goals)
    for _, step in zip(range(max_steps), steps, strict=False):
        for i in np.flatnonzero(step.goals != NO_GOAL):
            seen[int(step.goals[i])].append(np.array(step.next_observations[i]))
        n += int(step.ended.sum())
        if n >= enough:
            break
        if step.begins.any():
            policy.reset(step.begins)
    return seen


def play_real(
    world: GoalEnv,
    env: Any,
    policy: FormulaPolicy,
    *,
    episodes: int,
    max_steps: int,
    seed: int,
) -> Evaluation:
    """Play episodes in somebody's environment, one at a time; returns are its own.

    Args:
        world: the goal environment that was made from it, which knows the goals that are entered.
        env: the environment.
        policy: what acts.
        episodes: the number of episodes.
        max_steps: an episode is cut off after this many steps.
        seed: of the episodes.
    """
    automaton = policy.labelled.automaton
    n = count(episodes, "episodes", most=MOST_EPISODES)
    returns, steps = np.zeros(n), np.zeros(n, np.int64)
    ends = np.full(n, NO_GOAL, np.int64)
    for i in range(n):
        observation, info = world.begin(env, seed + i)
        policy.reset(np.ones(1, np.bool_))
        for _ in range(count(max_steps, "max_steps")):
            action = world.own_actions(policy.act(world.see(observation, env)), env)
            observation, reward, terminated, truncated, info = env.step(action)
            returns[i] += float(reward)
            steps[i] += 1
            policy.observe(np.array([world.entered(observation, info, env)]))
            u = int(policy.states[0])
            if automaton.accepting[u] or automaton.dead[u] or terminated:
                ends[i] = u
            if ends[i] != NO_GOAL or truncated:
                break
    ended = ends != NO_GOAL
    unknown = np.full(n, np.nan)
    return figures(
        Episodes(returns, steps, ends, unknown), ended, ended & automaton.accepting[ends]
    )
