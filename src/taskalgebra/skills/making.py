"""Making skills: planned, learned, from a user's own agent, or loaded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.spaces import Discrete, MultiBinary, MultiDiscrete

from taskalgebra import files
from taskalgebra.envs.registry import env_of, planned_as
from taskalgebra.folder import StoreError
from taskalgebra.learning.deep.learner import DeepQ
from taskalgebra.learning.learner import Learner, require_shared_absorbing
from taskalgebra.learning.tabular import QLearning
from taskalgebra.planning.exact import plan
from taskalgebra.planning.horizon import plan_horizon
from taskalgebra.progress import Listener, Meter, require_listener, silent
from taskalgebra.skills import SHIPPED_AT, sb3, store
from taskalgebra.skills.skills import Skills
from taskalgebra.theory.family import Family, ReachFamily
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.reach import Reach
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_seed, closest, flag, listed, unique_names
from taskalgebra.worlds.finite import FiniteMDP

TaskSource = Iterable[str] | Mapping[str, Task | Iterable[str | int]]
FEW_STATES = 10_000
"""Combinations of numbers up to which an environment is learned as tables by default."""
CONSTANTS = {"true": "universal", "false": "empty"}
"""Words that mean a task in every expression."""
Playable = GoalEnv | TaskSpace | FiniteMDP


def solve(
    world: Playable,
    tasks: TaskSource | None = None,
    *,
    horizon: int | None = None,
    r_bar_min: float | None = None,
    tolerance: float | None = None,
    storage: str | Path | None = None,
) -> Skills:
    """Plan the base tasks exactly and return them as skills that compose.

    Args:
        world: an environment with named tasks, a task space, or a finite world, which gets a
            `TaskSpace` with default rewards.
        tasks: names of the environment's tasks; or `{name: Task}`, `{name: goals}`.  By default all
            named tasks.
        horizon: the number of steps after which an episode is over, such as the limit of an
            environment.  Values are then planned for every number of steps left, and agents count
            the steps of an episode, from `agent.reset()` on.  The action that takes the pay of a
            goal is none of these steps.
        r_bar_min: the penalty for a wrong goal, at most r_∅; by default the one of Definition 2,
            and in a stochastic world, or with a horizon, r_∅.  There a lower one makes agents avoid
            every risk of a wrong goal.
        tolerance: for stochastic worlds, the error to stop at; by default 5e-11 times the largest
            reward.
        storage: for big deterministic worlds, a directory that keeps the returns to goals in files,
            which are mapped and not held in memory.  If it was interrupted, the same call goes on.
    """
    env = environment(world, "solve")
    space = env.space
    if not space.finite:
        given = {"horizon": horizon, "r_bar_min": r_bar_min, "tolerance": tolerance}
        return _solve_open(env, tasks, **given, storage=storage)
    if not env.shared_absorbing:
        raise ValueError(
            "the tasks of this environment end in different goals (shared_absorbing=False), which "
            "breaks Assumption 1; solve plans one world that all tasks share: make the environment "
            "with shared_absorbing=True"
        )
    base = base_tasks(space, env.tasks, tasks)
    with Meter("planning"):
        if horizon is None:
            family: Family = plan(
                space, base, r_bar_min=r_bar_min, tolerance=tolerance, storage=storage
            )
        else:
            if storage is not None:
                raise ValueError("storage= keeps returns without a horizon; leave one of both out")
            family = plan_horizon(space, base, horizon, r_bar_min)
    return Skills(family, env)


def _solve_open(env: GoalEnv, tasks: TaskSource | None, **settings: object) -> Skills:
    """Skills of an open world that plans its own returns to goals."""
    with Meter("planning"):
        reach = env.planned_reach()
    if reach is None:
        raise TypeError(
            f"cannot solve {env!r}: it is an open world, known only by playing it; use learn, "
            f"or, for what wrap makes and can be put back, solve(explore(world))"
        )
    for name, value in settings.items():
        if value is not None:
            raise ValueError(f"{name} is {value!r}, but {env!r} plans without it; leave it out")
    return from_reach(reach, env, tasks)


def learn(
    world: Playable,
    tasks: TaskSource | None = None,
    *,
    learner: Learner | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    continuing: bool = False,
    listener: Listener | None = None,
) -> Skills:
    """Learn the base tasks by interaction, Algorithm 1, and return them as skills that compose.

    Args:
        world: as for `solve`, or any other goal environment.
        tasks: as for `solve`.
        learner: `QLearning()`, `FewSteps()`, `DeepQ()`, or any object with their method `learn`.
            By default the environment's own choice, else tables if observations are numbers of
            states, and networks otherwise.
        seed: equal seeds learn equal values.
        folder: a directory for checkpoints, new or with those of the same learner, from which
            interrupted learning resumes.
        continuing: for tasks with time, which go on after goals.  Half of the episodes that follow
            one that ended in a goal then begin there, with what is left of the environment's own
            time.  Not needed where episodes start on goals anyway.
        listener: receives progress; by default a terminal or the log shows it.

    Raises:
        ValueError: some goal was never met, so its values are not known; or the learner does not
            support the environment.
        CheckpointError: the folder holds other things, or checkpoints of other learning.
        OSError: the folder cannot be written to; this is tried before anything is learned.
    """
    env = environment(world, "learn")
    base = base_tasks(env.space, env.tasks, tasks)
    if learner is None:
        learner = env.learner or default_learner(env)
    if isinstance(learner, type) or not isinstance(learner, Learner):
        raise TypeError(
            f"learner must be an object with a method learn(env, tasks, *, seed, folder, "
            f"listener), such as QLearning(), got {learner!r}"
        )
    _require_signature(learner)
    require_listener(listener)
    if folder is not None and Path(folder).exists() and not Path(folder).is_dir():
        raise NotADirectoryError(f"{folder} is not a directory; give one for checkpoints")
    if isinstance(learner, DeepQ):
        store.torch_module("taskalgebra.learning.deep.training")
        store.torch_module("safetensors")
    with Meter("learning", shown=listener is None) as meter:
        family = learner.learn(
            env.resuming() if flag(continuing, "continuing") else env,
            base,
            seed=checked_seed(seed),
            folder=None if folder is None else Path(folder),
            listener=listener or meter,
        )
    if not isinstance(family, Family) or dict(family.tasks) != base:
        found = f"values of {listed(list(family.tasks))}" if isinstance(family, Family) else family
        raise TypeError(
            f"{learner!r} returned {found!s}, expected a Family of values of "
            f"{listed(list(base))}, the tasks that it was given: {base!r}"
        )
    return Skills(family, env)


def _require_signature(learner: Learner) -> None:
    """Refuse a learner whose method cannot be called as the protocol says."""
    try:
        signature(learner.learn).bind(None, {}, seed=0, folder=None, listener=silent)
    except ValueError:  # compiled code may have no signature
        return
    except TypeError as error:
        raise TypeError(
            f"{type(learner).__name__}.learn must take (env, tasks, *, seed, folder, listener): "
            f"{error}"
        ) from None


def default_learner(env: GoalEnv) -> Learner:
    """Tables if observations are numbers of states, or few combinations of them, else networks."""
    space = env.observation_space
    n_states = math.inf
    if isinstance(space, Discrete):
        n_states = 0
    elif isinstance(space, MultiDiscrete):
        n_states = math.prod(space.nvec.ravel().tolist())
    elif isinstance(space, MultiBinary):
        n_states = 2 ** math.prod(space.shape)
    return QLearning() if env.space.finite or n_states <= FEW_STATES else DeepQ()


def from_reach(reach: Reach, env: Playable, tasks: TaskSource | None = None) -> Skills:
    """Skills from an agent that already knows how to reach every goal.

    Args:
        reach: a `Reach`, with values of actions, or a `DirectedReach`, with a way to every goal.
        env: the environment in which it acts.
        tasks: as for `solve`.
    """
    if not isinstance(reach, Reach):
        raise TypeError(f"the reach must be a Reach or a DirectedReach, got {reach!r}")
    found = environment(env, "act in")
    require_shared_absorbing(found)
    base = base_tasks(found.space, found.tasks, tasks)
    dense = [name for name, task in base.items() if task.step_reward is not None]
    if dense:
        raise ValueError(f"task {dense[0]!r} is dense: its steps pay otherwise than the world's")
    _fit(reach, found)
    return Skills(ReachFamily.of(found.space, base, reach), found)


def _fit(reach: Reach, env: GoalEnv) -> None:
    """Let a reach tell one observation from a batch of them, by the space of the environment."""
    reach.observation_ndim = len(env.observation_space.shape or ())


def load(
    path: str | Path,
    env: Any = None,
    *,
    network: Any = None,
    reach: Reach | Skills | None = None,
    model: Any = None,
) -> Skills:
    """Read skills that `Skills.save` wrote, or skills that come with the library.

    Args:
        path: a directory, or the name of skills that come with the library, which
            `taskalgebra list skills` shows.
        env: the environment to act in, a `GoalEnv`, if it is not one of the library's own.
        network: the callable that makes your own networks, as given to `DeepQ`.
        reach: your own agent, as given to `from_reach`; or skills made of it again, as
            `from_values` and `from_policy` do.
        model: the very model that was given to `from_sb3`.  The environment is then by default the
            model's own, else as for `from_sb3`.

    Raises:
        StoreError: there are no skills, or they cannot be read; or the model is another one.
    """
    if not str(path):
        raise StoreError("the path is empty; give a directory with skills")
    directory = files.at(path)
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise StoreError(f"{directory} is a file; skills are saved as a directory")
    if not _is_there(directory):
        shipped = sorted(place.name for place in SHIPPED_AT.iterdir())
        if str(path) not in shipped:
            world = planned_as(str(path))
            instead = f". Did you mean solve({world}())?" if world else closest(str(path), shipped)
            raise StoreError(
                f"no skills at {directory}: there is no such directory; the library comes with "
                f"{listed(shipped)}{instead}"
            )
        directory = SHIPPED_AT / str(path)
    if isinstance(reach, Skills):
        reach = getattr(reach.family, "reach", None)
    found: GoalEnv | None
    if model is not None:
        if reach is not None or network is not None:
            raise ValueError("give model= without reach= and network=: the model is all of it")
        reach, found = sb3.again(model, store.model_of(directory), env)
    else:
        found = None if env is None else environment(env, "act in")
    given = {"network": network, "reach": reach}
    own = {name: value for name, value in given.items() if value is not None}
    family, made = store.read(directory, found, **own)
    if reach is not None and made is not None:
        _fit(reach, made)
    return Skills(family, made)


def _is_there(path: Path) -> bool:
    """Whether a path exists, as far as is known: reading it says what else is wrong."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        pass
    return True


def environment(world: object, what: str) -> GoalEnv:
    """The goal environment: as given, unwrapped, or made for a finite world."""
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
            f"cannot {what} {world!r}: it belongs to an open world, known only by playing it; give "
            f"the environment itself, such as OpenEnv(make, goals, tasks)"
        )
    if isinstance(world, gym.Env):
        raise TypeError(
            f"cannot {what} {world!r}: it names no goals; name them by a label, "
            f"wrap(env, goals=label), or with OpenEnv(lambda n: gym.make_vec(..., n), "
            f"goals=[...], tasks={{...}}), where "
            f'info["goal"] is the number of the goal when an episode terminates, or take its '
            f"table with from_gymnasium, if it has one"
        )
    raise TypeError(
        f"cannot {what} {world!r}; expected an environment such as FourRooms() or OpenEnv(...), "
        f"a TaskSpace, or what wrap, from_text, from_arrays or from_gymnasium return"
    )


def base_tasks(
    space: TaskSpace, named: Mapping[str, Task], tasks: TaskSource | None
) -> dict[str, Task]:
    """Base tasks by name, from what the user gave."""
    if tasks is None:
        if not named:
            one = space.goal_names[0]
            raise ValueError(
                f"no tasks were given, and the world names none; pass {{name: goals}}, such as "
                f"{{{one!r}: [{one!r}]}}: formulas over time may then name every goal"
            )
        return {sayable(name): task for name, task in named.items()}
    if isinstance(tasks, str):
        raise ValueError(f"tasks is the string {tasks!r}, expected a list of names: [{tasks!r}]")
    if not isinstance(tasks, Iterable):
        raise ValueError(f"tasks is {tasks!r}, expected a list of names or {{name: goals}}")
    names = list(tasks)
    bare = [task for task in names if isinstance(task, Task)]
    if bare:
        raise ValueError(f"{bare[0]!r} is given without a name; pass {{name: task}}")
    unique_names(names, "task", "", len(names))
    if not names:
        raise ValueError("the list of tasks is empty; give at least one base task")
    if isinstance(tasks, Mapping):
        return {sayable(name): _base_task(space, name, tasks[name]) for name in names}
    for name in names:
        if name not in named:
            raise ValueError(
                f"unknown task {name!r}; this world names "
                f"{listed(list(named)) or 'none: pass {name: goals}'}"
                f"{closest(name, list(named))}"
            )
    return {sayable(name): named[name] for name in names}


def sayable(name: str) -> str:
    """The name of a base task, which expressions do not read as another; all others are quoted."""
    if (word := name.lower()) in CONSTANTS:
        raise ValueError(
            f"a base task cannot be named {name!r}: in expressions it is the {CONSTANTS[word]} "
            f"task, which all skills have; give it another name"
        )
    return name


def _base_task(space: TaskSpace, name: str, given: Any) -> Task:
    if isinstance(given, Task):
        if given.space != space:
            raise ValueError(f"task {name!r} belongs to another space; use one TaskSpace for all")
        return given.of(space)
    if not (callable(given) or isinstance(given, Iterable)):
        raise ValueError(f"task {name!r} is {given!r}, expected a Task or a list of goals")
    return space.task(given)
