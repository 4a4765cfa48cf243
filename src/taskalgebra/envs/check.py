"""Is an environment a goal environment?  It is played at random, and what is missing is said.

print(ta.check_env(world))

holds  goals are met: 4 of 4, least often 'top left', in 12 of 96 episodes
FAILS  goals look different: 'north' and 'south' are shown to networks as the same; ...
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from taskalgebra.evaluation.rollout import rollout
from taskalgebra.theory.findings import WORTH, Finding, Findings
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.validation import checked_seed, count, listed
from taskalgebra.worlds.finite import NO_GOAL

N_COPIES = 8
PATIENCE = 10
"""How many times the steps are played if some goal was not met."""
CORE = "contract"


@final
@dataclass(frozen=True)
class EnvReport(Findings):
    """The findings of `check_env`, by name."""

    def __str__(self) -> str:
        """One line per finding."""
        return "\n".join(f"{f.word:5}  {f.name}: {f.detail}" for f in self.findings)


@dataclass
class _Played:
    """What was seen while acting at random."""

    ends: Counter[int]  # by goal, or −1 where an episode was truncated
    last: dict[int, NDArray[Any]]  # an observation of each goal
    rewards: list[NDArray[Any]]
    changed: Counter[int]  # actions after which the observation was another
    ending: Counter[int]  # actions that reached a goal
    tried: Counter[int]
    starts: set[bytes]
    wrong: str = ""  # about observations


def check_env(world: GoalEnv, *, steps: int = 2_000, seed: int = 0) -> EnvReport:
    """Play a goal environment at random, and say in words what is missing.

    Args:
        world: as from `wrap`, or any other goal environment.
        steps: random steps in all; ten times as many while some goal was not met.
        seed: equal seeds play equal steps.

    Raises:
        ValueError: the environment violates the contract of goals; the message says how.
    """
    if not isinstance(world, GoalEnv):
        way = (
            "; make it a goal environment: wrap(env, goals=label)"
            if isinstance(world, gym.Env | str)
            else ""
        )
        raise TypeError(f"check_env needs a goal environment, got {world!r}{way}")
    played = _play(world, count(steps, "steps", least=N_COPIES), checked_seed(seed))
    return EnvReport(
        (
            _met(world, played),
            _ended(world, played),
            _paid(world, played),
            _look(world, played),
            _seen(world, played),
            _acts(world, played),
            _ways(world),
        )
    )


def _play(world: GoalEnv, steps: int, seed: int) -> _Played:
    limit = world.max_episode_steps or MAX_EPISODE_STEPS
    copies = world.vector(N_COPIES, task=world.space.universal, max_episode_steps=limit)
    played = _Played(Counter(), {}, [], Counter(), Counter(), Counter(), set())
    try:
        copies.action_space.seed(seed)
        observations, _ = copies.reset(seed=seed)
        before = np.array(observations)
        played.starts.update(one.tobytes() for one in before)
        moves = rollout(
            copies, observations, lambda _: copies.action_space.sample(), world.space.n_goals
        )
        for n, step in enumerate(moves):
            enough = all(played.ends[goal] for goal in range(world.space.n_goals))
            if n * N_COPIES >= (steps if enough else PATIENCE * steps):
                break
            after = np.array(step.next_observations)
            for i in range(N_COPIES):
                if step.resets[i]:
                    played.starts.add(after[i].tobytes())
                    continue
                if step.begins[i] and step.ended[i]:
                    played.starts.add(np.array(step.observations[i]).tobytes())
                action = step.actions[i]
                if np.ndim(action) == 0:
                    played.tried[int(action)] += 1
                    played.changed[int(action)] += not np.array_equal(before[i], after[i])
                    played.ending[int(action)] += step.goals[i] != NO_GOAL
                if step.ended[i]:
                    played.ends[int(step.goals[i])] += 1
                if step.goals[i] != NO_GOAL:
                    played.last.setdefault(int(step.goals[i]), after[i])
            played.rewards.append(step.rewards[(step.goals == NO_GOAL) & ~step.resets])
            played.wrong = played.wrong or _misfit(world, after)
            before = np.array(step.observations)
    finally:
        copies.close()
    return played


def _misfit(world: GoalEnv, observations: NDArray[Any]) -> str:
    space = world.observation_space
    if observations.dtype.kind == "f" and not np.isfinite(observations).all():
        return "an observation holds NaN or ∞"
    if not all(space.contains(one) for one in observations):
        return f"an observation is outside {space}"
    return ""


def _met(world: GoalEnv, played: _Played) -> Finding:
    names = world.space.goal_names
    never = [name for g, name in enumerate(names) if not played.ends[g]]
    n_episodes = played.ends.total()
    if never:
        return Finding(
            "goals are met",
            CORE,
            False,
            f"{len(names) - len(never)} of {len(names)} in {n_episodes} random episodes; never: "
            f"{listed(never)}.  What chance does not find is learned late or not at all: see that "
            f"the label can give it, leave out actions that only disturb (actions={{...}}), hold "
            f"actions longer (hold=...), or explore the world exactly (explore)",
        )
    rarest = min(range(len(names)), key=lambda g: played.ends[g])
    return Finding(
        "goals are met",
        CORE,
        True,
        f"{len(names)} of {len(names)}, least often {names[rarest]!r}, in "
        f"{played.ends[rarest]} of {n_episodes} random episodes",
    )


def _ended(world: GoalEnv, played: _Played) -> Finding:
    limit, cut = world.max_episode_steps, played.ends[NO_GOAL]
    total = played.ends.total()
    if not total:
        detail = "no episode ended; play more steps, or set max_episode_steps"
        return Finding("episodes end", CORE, False, detail)
    if played.ends.keys() == {0} and played.tried.total() == total:
        name = world.space.goal_names[0]
        detail = f"all {total} after their first step, in {name!r}: see where the label names it"
        return Finding("episodes end", CORE, False, detail)
    said = f"after {limit} steps" if limit else f"(none is set; {MAX_EPISODE_STEPS} here)"
    return Finding(
        "episodes end",
        CORE,
        cut < total,
        f"{total - cut} of {total} in a goal, {cut} at the limit {said}, from "
        f"{len(played.starts)} different starts",
    )


def _paid(world: GoalEnv, played: _Played) -> Finding:
    rewards = np.concatenate(played.rewards)
    low, high = (float(rewards.min()), float(rewards.max())) if rewards.size else (0.0, 0.0)
    say = partial(Finding, "steps cost, and wanted goals are worth the way", CORE)
    space = world.space
    if high > 0.0:
        return say(
            False,
            f"a step outside goals paid {high:g}: an agent may prefer never to end; pay for steps "
            f"alike: wrap(..., step_reward=None)",
        )
    if space.finite and world.max_episode_steps is None:
        worth = space.check(world.tasks)[WORTH]
        return say(worth.holds, f"{worth.detail} (space.check)")
    way = abs(low) * (world.max_episode_steps or MAX_EPISODE_STEPS)
    least = float((space.r_universal - space.r_empty)[space.wantable].min())
    if way > least:
        return say(
            False,
            f"the longest way costs up to {way:g}, but a wanted goal pays only {least:g} more than "
            f"another: a nearer goal that is not wanted may pay more; raise r_universal",
        )
    least_cost, most_cost = abs(high), abs(low)
    detail = f"a step costs {most_cost:g}"
    if low < high:
        detail = f"a step costs {least_cost:g} to {most_cost:g}"
    return say(True, f"{detail}, the longest way {way:g}, of {least:g}")


def _look(world: GoalEnv, played: _Played) -> Finding:
    say, names = partial(Finding, "goals look different", CORE), world.space.goal_names
    features = world.goal_features
    if features is None and isinstance(world.observation_space, Discrete):
        return say(True, "states have numbers")
    shown = dict(enumerate(features)) if features is not None else dict(sorted(played.last.items()))
    what = "descriptions" if features is not None else "the observations in which they were met"
    seen: dict[bytes, int] = {}
    for goal, array in shown.items():
        other = seen.setdefault(np.ascontiguousarray(array).tobytes(), goal)
        if other != goal:
            return say(
                False,
                f"{names[other]!r} and {names[goal]!r} are shown to networks as the same, by "
                f"{what}; tell them apart with wrap(..., shown={{goal: array}}), or label them "
                f"alike",
            )
    return say(True, f"by {what}")


def _seen(world: GoalEnv, played: _Played) -> Finding:
    say, space = partial(Finding, "observations can be taken", CORE), world.observation_space
    if played.wrong:
        return say(False, f"{played.wrong}; mend the environment's own space")
    shape = space.shape
    kind = (
        "numbers of states" if isinstance(space, Discrete) else f"arrays {shape} of {space.dtype}"
    )
    return say(True, kind)


def _acts(world: GoalEnv, played: _Played) -> Finding:
    say, names = partial(Finding, "actions matter", CORE), world.space.action_names
    if not isinstance(world.action_space, Discrete):
        return say(True, f"continuous, {world.action_space}")
    still = [a for a, n in sorted(played.tried.items()) if n >= 20 and not played.changed[a]]
    idle = [names[a] for a in still if played.ending[a] < played.tried[a]]
    if idle:
        return say(
            False,
            f"{listed(idle)} never changed the observation; leave them out: "
            f"wrap(..., actions={{name: action}})",
        )
    ends = " or ends the episode" if still else ""
    return say(True, f"each of the {len(names)} changes the observation{ends}")


def _ways(world: GoalEnv) -> Finding:
    """What can be done with it."""
    say, space = partial(Finding, "ways in", CORE), world.observation_space
    if not isinstance(world.action_space, Discrete):
        return say(
            True,
            "bring an agent: from_sb3, from_policy; to learn, name a few of the actions: "
            "wrap(..., actions={name: action})",
        )
    if world.space.finite:
        return say(True, "plan it exactly: solve; or learn it: learn")
    learned = (
        "as a table"
        if isinstance(space, Discrete)
        else "by a network"
        if isinstance(space, Box)
        else "by a learner of your own"
    )
    return say(True, f"learn it {learned}: learn; if it can be restored, explore it: explore")
