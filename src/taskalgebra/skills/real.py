"""Playing in environments: one of the user's own, one that is made, or one that goes on."""

from __future__ import annotations

from typing import Any

from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.evaluation.continuing import ContinuingEvaluation, play_on
from taskalgebra.evaluation.record import Evaluation
from taskalgebra.evaluation.rollout import play
from taskalgebra.logic.expression import Expression
from taskalgebra.planning.timed import TimedPolicy
from taskalgebra.progress import Listener, Meter, require_listener
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.policy import Policy
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import checked_seed, count, listed


def play_in(
    world: GoalEnv,
    env: Any,
    task: Task,
    policy: Policy,
    episodes: int,
    *,
    render: str | bool | None,
    seed: int,
    max_steps: int | None,
    listener: Listener | None,
) -> Evaluation:
    """Play episodes of a task; the arguments are those of `Agent.play`."""
    seed = checked_seed(seed)
    require_listener(listener)
    limit = world.max_episode_steps
    if limit is None and world.space.finite:
        limit = world.space.mdp.max_episode_steps
    if max_steps is not None:
        max_steps = count(max_steps, "max_steps")
    made = None
    if env is None:
        made = env = _made(world, render)
    elif render:
        raise ValueError(
            "render is for an environment that is made here; make yours with "
            "gymnasium.make(..., render_mode=...)"
        )
    own = isinstance(getattr(env, "unwrapped", None), FiniteEnv)
    if limit is not None and own:
        limit += 1  # the action that a table's goal pays for
    if max_steps is None:
        max_steps = limit or MAX_EPISODE_STEPS
    if isinstance(policy, TimedPolicy):
        max_steps = min(max_steps, policy.horizon + own)
    try:
        copies = world.attach(env, task=task)
        with Meter("playing", shown=listener is None) as meter:
            return play(
                task,
                copies,
                policy,
                episodes=episodes,
                max_steps=max_steps,
                seed=seed,
                listener=listener or meter,
            )
    finally:
        if made is not None:
            made.close()


def play_continuing(
    world: GoalEnv,
    task: Task,
    policy: Policy,
    episodes: int,
    *,
    steps: int,
    avoid: Task | Expression | str | None,
    seed: int,
    listener: Listener | None,
) -> ContinuingEvaluation:
    """Play a task again and again; the arguments are those of `Agent.evaluate_continuing`."""
    seed = checked_seed(seed)
    require_listener(listener)
    avoided = None if avoid is None else world.find_task(avoid).desired
    copies = world.continuing(min(count(episodes, "episodes"), world.max_copies))
    try:
        with Meter("playing", shown=listener is None) as meter:
            return play_on(
                task,
                copies,
                policy,
                episodes=episodes,
                steps=steps,
                avoided=avoided,
                seed=seed,
                listener=listener or meter,
            )
    finally:
        copies.close()


def _made(world: GoalEnv, render: str | bool | None) -> Any:
    """An environment of the world, in a render mode."""
    mode = "human" if render is True else (render or None)
    if not (mode is None or isinstance(mode, str)):
        raise TypeError(f"render is {render!r}, expected a mode, or True for 'human'")
    made = world.make(**({} if mode is None else {"render_mode": mode}))
    modes = list(made.metadata.get("render_modes") or [])
    if mode is not None and mode not in modes:
        made.close()
        raise ValueError(
            f"render is {render!r}, but this environment has the render modes "
            f"{listed(modes) or 'none'}"
        )
    return made
