"""How skills come to be: planned, learned, taken from a user's agent, or loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.spaces import Discrete

from taskalgebra.envs import env_of
from taskalgebra.folder import StoreError
from taskalgebra.learning.deep.learner import DeepQ
from taskalgebra.learning.learner import Learner
from taskalgebra.learning.tabular import QLearning
from taskalgebra.planning.exact import plan
from taskalgebra.progress import Listener, Terminal
from taskalgebra.skills import store
from taskalgebra.skills.catalogue import SHIPPED, SHIPPED_AT
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.family import ReachFamily
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.reach import Reach
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import closest, finite, listed, unique_names, whole_seed
from taskalgebra.worlds.finite import FiniteMDP

TaskSource = Iterable[str] | Mapping[str, Task | Iterable[str | int]]
Playable = GoalEnv | TaskSpace | FiniteMDP


def solve(
    world: Playable,
    tasks: TaskSource | None = None,
    *,
    r_bar_min: float | None = None,
    tolerance: float = 1e-10,
) -> Skills:
    """Plan the base tasks exactly and return them as skills that compose.

    Args:
        world: an environment with named tasks, a task space, or a bare world, which gets a
            `TaskSpace` with default rewards.
        tasks: names of the world's tasks; or `{name: Task}`, `{name: goals}`.  By default all named
            tasks of the world.
        r_bar_min: the penalty for a wrong goal, at most r_∅; by default the one of Definition 2.
            In a random world that makes agents avoid every risk of a wrong goal; a milder one, such
            as r_∅ itself, may then earn more.
        tolerance: for stochastic worlds, the error to stop at.
    """
    env = environment(world, "solve")
    space = env.space
    if not space.finite:
        raise TypeError(
            f"{world!r} is an open world, known only by playing it, and cannot be planned; "
            f"use learn"
        )
    if not env.shared_absorbing:
        raise ValueError(
            "the tasks of this environment end in goals of their own (shared_absorbing=False), "
            "which breaks Assumption 1; solve plans one world that all tasks share: make the "
            "environment with shared_absorbing=True"
        )
    base = base_tasks(space, env.tasks, tasks)
    if r_bar_min is not None:
        r_bar_min = float(finite(r_bar_min, "r_bar_min", ()))
        if r_bar_min > space.r_empty.min():
            raise ValueError(
                f"r_bar_min = {r_bar_min:g} is above r_∅ = {space.r_empty.min():g}, so that a "
                f"wrong goal would be welcome; give at most r_∅"
            )
    return Skills(plan(space, base, r_bar_min=r_bar_min, tolerance=tolerance), env)


def learn(
    world: Playable,
    tasks: TaskSource | None = None,
    *,
    learner: Learner | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    listener: Listener | None = None,
) -> Skills:
    """Learn the base tasks by interaction, Algorithm 1, and return them as skills that compose.

    Args:
        world: as for `solve`, or any other goal environment.
        tasks: as for `solve`.
        learner: `QLearning()`, `FewSteps()`, `DeepQ()`, or any object with their method `learn`.
            By default the environment's own choice, else tables where observations are numbers of
            states, and networks elsewhere.
        seed: equal seeds learn equal values.
        folder: where checkpoints are kept; learning that was stopped resumes.
        listener: told how far learning is; by default a terminal shows it.

    Raises:
        ValueError: some goal was never met, so that its values are not known; or the learner is not
            made for such an environment.
    """
    env = environment(world, "learn")
    base = base_tasks(env.space, env.tasks, tasks)
    if learner is None:
        learner = env.learner or default_learner(env)
    if not isinstance(learner, Learner):
        raise TypeError(
            f"learner must have a method learn(env, tasks, seed, folder, listener), got {learner!r}"
        )
    if isinstance(learner, DeepQ):
        store.torch_module("taskalgebra.learning.deep.training")
        store.torch_module("safetensors")
    shown = Terminal()
    try:
        family = learner.learn(
            env,
            base,
            seed=whole_seed(seed),
            folder=None if folder is None else Path(folder),
            listener=listener or shown,
        )
    finally:
        shown.close()
    return Skills(family, env)


def default_learner(env: GoalEnv) -> Learner:
    """Tables where observations are numbers of states, else networks."""
    tabular = env.space.finite or isinstance(env.observation_space, Discrete)
    return QLearning() if tabular else DeepQ()


def from_reach(reach: Reach, env: Playable, tasks: TaskSource | None = None) -> Skills:
    """Skills from an agent that already knows how to reach every goal.

    Args:
        reach: a `Reach`, with values of actions, or a `DirectedReach`, with a way to every goal.
        env: the goal environment that it knows.
        tasks: as for `solve`.
    """
    if not isinstance(reach, Reach):
        raise TypeError(f"the reach must be a Reach or a DirectedReach, got {reach!r}")
    world = environment(env, "act in")
    base = base_tasks(world.space, world.tasks, tasks)
    return Skills(ReachFamily.of(world.space, base, reach), world)


def load(
    path: str | Path,
    env: Playable | None = None,
    *,
    network: Any = None,
    reach: Reach | None = None,
) -> Skills:
    """Read skills that `Skills.save` wrote, or skills that come with the library.

    Args:
        path: a directory, or the name of skills that come with the library, which
            `taskalgebra list skills` shows.
        env: the environment to act in, if it is not one of the library's own.
        network: the callable that makes your own networks, as it was given to `DeepQ`.
        reach: your own agent, as it was given to `from_reach`.

    Raises:
        StoreError: there are no skills, or they cannot be read.
    """
    directory = Path(path)
    if not directory.exists():
        if str(path) not in SHIPPED:
            raise StoreError(
                f"no skills at {directory}: it does not exist; the library comes with "
                f"{listed(SHIPPED)}{closest(str(path), SHIPPED)}"
            )
        directory = SHIPPED_AT / str(path)
    world = None if env is None else environment(env, "act in")
    given = {"network": network, "reach": reach}
    handed_over = {name: value for name, value in given.items() if value is not None}
    return Skills(*store.read(directory, world, **handed_over))


def environment(world: object, what: str) -> GoalEnv:
    """The goal environment that is meant: itself, unwrapped, or one made for a finite world."""
    if isinstance(world, gym.Env):
        world = world.unwrapped
    if isinstance(world, GoalEnv):
        return world
    if isinstance(world, TaskSpace) and world.finite:
        return env_of(world)
    if isinstance(world, FiniteMDP):
        return env_of(TaskSpace(world))
    if isinstance(world, TaskSpace):
        raise TypeError(
            f"{world!r} is of an open world, known only by playing it: give the environment "
            f"itself, such as OpenEnv(make, goals, tasks)"
        )
    if isinstance(world, gym.Env):
        raise TypeError(
            f"cannot {what} {world!r}: it names no goals; say which goals there are with "
            f"OpenEnv(lambda n: gym.make_vec(..., n), goals=[...], tasks={{...}}), where "
            f'info["goal"] is the number of the goal when an episode terminates, or take its '
            f"table with from_gymnasium, if it has one"
        )
    raise TypeError(
        f"cannot {what} {world!r}; expected an environment such as FourRooms() or OpenEnv(...), "
        f"a TaskSpace, or what from_text, from_arrays or from_gymnasium return"
    )


def base_tasks(
    space: TaskSpace, named: Mapping[str, Task], tasks: TaskSource | None
) -> dict[str, Task]:
    """The tasks that are meant, by name."""
    if tasks is None:
        if not named:
            raise ValueError("no tasks were given, and the world names none; pass {name: goals}")
        return dict(named)
    if isinstance(tasks, str):
        raise ValueError(f"tasks is the text {tasks!r}, expected a list of names: [{tasks!r}]")
    if not isinstance(tasks, Iterable):
        raise ValueError(f"tasks is {tasks!r}, expected a list of names or {{name: goals}}")
    if isinstance(tasks, Mapping):
        unique_names(list(tasks), "task", "", len(tasks))
        for name, goals in tasks.items():
            if not (callable(goals) or isinstance(goals, Task | Iterable)):
                raise ValueError(f"task {name!r} is {goals!r}, expected a Task or a list of goals")
        found = {n: t if isinstance(t, Task) else space.task(t) for n, t in tasks.items()}
    else:
        names = list(tasks)
        unique_names(names, "task", "", len(names))
        for name in names:
            if name not in named:
                raise ValueError(
                    f"unknown task {name!r}; this world names "
                    f"{listed(list(named)) or 'none: pass {name: goals}'}"
                    f"{closest(name, list(named))}"
                )
        found = {name: named[name] for name in names}
    if not found:
        raise ValueError("the list of tasks is empty; give at least one base task")
    return found
