"""The front room: solve a few base tasks, then ask for any expression over them.

    world = FourRooms()
    skills = solve(world, ["top", "left"])
    agent = skills["top ^ left"]          # composed, not planned or learned
    agent.evaluate(episodes=1000, seed=0)

An agent asked for by expression, by `Task`, or built with operators from other agents is the same
agent: it takes the same actions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from operator import and_, invert, or_, xor
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array
from taskalgebra.drawing.terminal import picture
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.world import World
from taskalgebra.evaluation.play import MAX_STEPS, Evaluation, Playable, play, rollouts
from taskalgebra.learning.deep.settings import DeepSettings, preset
from taskalgebra.learning.progress import Share, ShareProgress, TerminalProgress
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning
from taskalgebra.logic.algebra import BooleanElement, Bounds
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import all_functions, parse
from taskalgebra.planning.exact import Plan, optimal_v, plan
from taskalgebra.skills import store
from taskalgebra.skills.folder import NETWORKS, StoreError, format_of
from taskalgebra.theory.base_tasks import expression_of, n_expressible
from taskalgebra.theory.extended import (
    ExtendedQ,
    GoalSetQ,
    TableBounds,
    TabularQ,
    compose_values,
    r_bar_min_of,
    recover_v,
)
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import closest, count, finite, listed, unique_names
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.open_world import OpenWorld

if TYPE_CHECKING:
    from taskalgebra.learning.deep.dqn import Chapter
    from taskalgebra.learning.deep.training import Listener, Networks, OpenEnvironment

SHIPPED = ("boxman", "boxman-random", "boxman-touch")
SHIPPED_AT = Path(__file__).parent / "shipped"

TaskSource = Iterable[str] | Mapping[str, Task | Iterable[str | int]]
MAX_COPIES = 256
"""Copies of an open world that an agent is evaluated in at once."""


def solve(
    world: World | TaskSpace | FiniteMDP,
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
    if _is_open(world):
        raise TypeError(
            f"{world!r} is an open world, known only by playing it, and cannot be planned; "
            f"use learn"
        )
    space, named = _space_and_names(world)
    base = _base_tasks(space, named, tasks)
    if r_bar_min is not None:
        r_bar_min = float(finite(r_bar_min, "r_bar_min", ()))
        if r_bar_min > space.r_empty.min():
            raise ValueError(
                f"r_bar_min = {r_bar_min:g} is above r_∅ = {space.r_empty.min():g}, so that a "
                f"wrong goal would be welcome; give at most r_∅"
            )
    return Skills(
        space, base, plan(space, list(base.values()), r_bar_min=r_bar_min, tolerance=tolerance)
    )


def learn(
    world: World | TaskSpace | FiniteMDP | OpenEnvironment,
    tasks: TaskSource | None = None,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    settings: Settings | DeepSettings | str | None = None,
    seed: int = 0,
    r_bar_min: float | None = None,
    folder: str | Path | None = None,
    log_dir: str | Path | None = None,
    start: Skills | None = None,
    progress: Share | None = None,
) -> Skills:
    """Learn the base tasks by interaction, Algorithm 1, and return them as skills that compose.

    In a finite world the values are tables; those of M_U and M_∅, the bounds of every composition,
    are learned like the others.  In an open world, such as `Boxman()`, they are networks.

    Args:
        world: as for `solve`, or an open world.
        tasks: as for `solve`.
        episodes: how many episodes to learn each task for.
        steps: how many steps to learn each task for; by default, without episodes, a thousand for
            each state and action.
        settings: α, ε and γ.  The defaults are the paper's: α = ε = 1 in deterministic worlds,
            α = 0.1 and ε = 0.5 in others.  For an open world `DeepSettings`, or the name of a
            preset: "fast", the default, or "paper".
        seed: equal seeds learn equal tables; each task has a stream of its own.
        r_bar_min: the penalty for a wrong goal; by default the one of Definition 2.
        folder: in an open world, where checkpoints are kept; a training that was stopped goes on.
        log_dir: in an open world, where TensorBoard finds loss and scores; needs its extra.
        start: in an open world, skills whose first network to start from, learned in a world that
            looks the same, such as `load("boxman-random")`.  A network of the same kind, for at
            least these actions and the same returns, is trained further.  A planning network
            needs a start: it takes what an egocentric one sees, and learns the rest.
        progress: told the share of the learning that is done, from 0 to 1, and for which task; by
            default a terminal shows it.

    Raises:
        ValueError: some goal was never met, so that its values are not known; or an episode can
            get stuck where no goal can be reached.
    """
    if _is_open(world):
        if episodes is not None or steps is not None or r_bar_min is not None:
            raise ValueError(
                "episodes, steps and r_bar_min are for finite worlds; a network is trained for "
                "settings.n_updates gradient steps, with the penalty settings.low"
            )
        return _learn_networks(
            cast("OpenEnvironment", world), tasks, settings, seed, folder, log_dir, start, progress
        )
    space, named = _space_and_names(world)
    base = _base_tasks(space, named, tasks)
    mdp = space.mdp
    _require_no_traps(mdp)
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"a finite world needs Settings, got {settings!r}")
    if folder is not None or log_dir is not None or start is not None:
        raise ValueError(
            "folder, log_dir and start are for open worlds; save what was learned with skills.save"
        )
    if settings is None:
        settings = Settings() if mdp.deterministic else Settings(learning_rate=0.1, epsilon=0.5)
    if episodes is None and steps is None:
        steps = 1000 * mdp.n_states * mdp.n_actions
    low = r_bar_min_of(space) if r_bar_min is None else float(finite(r_bar_min, "r_bar_min", ()))
    stop = Stop(episodes=episodes, steps=steps)
    learned = []
    wanted = [("M_U", space.universal), ("M_∅", space.empty), *base.items()]
    for i, (name, task) in enumerate(wanted):
        line = TerminalProgress(f"learning {name}", stop)
        told = None if progress is None else ShareProgress(progress, name, i, len(wanted), stop)
        run = goal_oriented_q_learning(
            task,
            stop,
            settings=settings,
            seed=_seed(seed) + i * 2**32,
            r_bar_min=low,
            progress=told or line,
        )
        line.close()
        if run.interrupted:
            raise KeyboardInterrupt
        missed = sorted(set(range(mdp.n_goals)) - set(run.seen_goals.tolist()))
        if missed:
            names = listed([mdp.goal_names[g] for g in missed])
            raise ValueError(
                f"in {run.n_steps:,} steps these goals were never met: {names}; learn longer"
            )
        learned.append(run.q)
    bounds = TableBounds(space, Bounds(learned[0], learned[1]))
    values = tuple(TabularQ(table, bounds) for table in learned[2:])
    return Skills(space, base, Plan(values, bounds, low, None))


def _is_open(world: object) -> bool:
    """Whether a world is known only by playing it, and can be played."""
    space = getattr(world, "space", None)
    playable = callable(getattr(world, "vector", None))
    return playable and isinstance(space, TaskSpace) and isinstance(space.world, OpenWorld)


def _learn_networks(
    world: OpenEnvironment,
    tasks: TaskSource | None,
    settings: Settings | DeepSettings | str | None,
    seed: int,
    folder: str | Path | None,
    log_dir: str | Path | None,
    start: Skills | None,
    progress: Share | None,
) -> Skills:
    if start is not None and (not isinstance(start, Skills) or start.networks is None):
        raise TypeError(
            f"start must be skills that are networks, such as load('boxman-random'); got {start!r}"
        )
    deep = _torch_module("taskalgebra.learning.deep.training")
    if settings is None or isinstance(settings, str):
        settings = preset("fast" if settings is None else settings)
    if not isinstance(settings, DeepSettings):
        raise TypeError(f"an open world needs DeepSettings, or 'fast' or 'paper'; got {settings!r}")
    base = _base_tasks(world.space, world.tasks, tasks)
    listeners: list[Listener] = [deep.TerminalChapters(settings)]
    if progress is not None:
        listeners = [_shares(progress, settings, list(base), world.shared_absorbing)]
    if log_dir is not None:
        listeners.append(
            _torch_module("taskalgebra.learning.deep.log").TensorBoardLog(Path(log_dir))
        )

    def listen(name: str, chapter: Chapter, score: float) -> None:
        for listener in listeners:
            listener(name, chapter, score)

    networks, _ = deep.train(
        world,
        base,
        settings,
        seed=_seed(seed),
        folder=None if folder is None else Path(folder),
        start=None if start is None or start.networks is None else start.networks.first,
        listen=listen,
    )
    return _of_networks(networks, world)


def _shares(
    progress: Share, settings: DeepSettings, names: list[str], shared_absorbing: bool
) -> Listener:
    """Tell the share of a training that is done; each network takes as long as the others."""
    separate = settings.own_rewards or not shared_absorbing

    def listen(name: str, chapter: Chapter, score: float) -> None:
        before, n_networks = (names.index(name), len(names)) if separate else (0, 1)
        progress((before + chapter.n_updates / settings.n_updates) / n_networks, name)

    return listen


def _of_networks(networks: Networks, world: OpenEnvironment | None) -> Skills:
    return Skills(networks.space, networks.tasks, networks.plan(), world, networks)


def _torch_module(name: str) -> Any:
    """Import a module that needs torch, when it is needed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise ModuleNotFoundError(
            f'networks need {error.name}: pip install "taskalgebra[deep]"', name=error.name
        ) from None


def _require_no_traps(mdp: FiniteMDP) -> None:
    """Refuse worlds in which an episode of learning might never end."""
    lost = np.flatnonzero(~mdp.ending[mdp.successor])
    pairs = np.searchsorted(mdp.offset, lost, side="right") - 1
    live = pairs[mdp.ending[pairs // mdp.n_actions]]
    if live.size:
        s, a = divmod(int(live[0]), mdp.n_actions)
        raise ValueError(
            f"{mdp.action_names[a]} in {mdp.state_name(s)} may lead to where no goal can be "
            f"reached, so that an episode would never end; use solve, or "
            f"taskalgebra.learning.few_steps.learner.master, which gives such episodes up"
        )


def _space_and_names(world: object) -> tuple[TaskSpace, dict[str, Task]]:
    if isinstance(world, World):
        return world.space, world.tasks
    if isinstance(world, TaskSpace):
        return world, {}
    if isinstance(world, FiniteMDP | OpenWorld):
        return TaskSpace(world), {}
    raise TypeError(
        f"cannot solve {world!r}; expected a World such as FourRooms(), a TaskSpace, or what "
        f"from_text, from_arrays or from_gymnasium return"
    )


def load(path: str | Path, world: OpenEnvironment | None = None) -> Skills:
    """Read skills that `Skills.save` wrote, or skills that come with the library.

    Args:
        path: a directory, or one of "boxman", "boxman-random" and "boxman-touch".
        world: for networks of a world of your own, the world to play in.
    """
    directory = Path(path)
    if not directory.exists():
        if str(path) not in SHIPPED:
            raise StoreError(
                f"no skills at {directory}: it does not exist; the library comes with "
                f"{listed(SHIPPED)}{closest(str(path), SHIPPED)}"
            )
        directory = SHIPPED_AT / str(path)
    if format_of(directory) != NETWORKS:
        return Skills(*store.read(directory))
    network_store = _torch_module("taskalgebra.skills.network_store")
    manifest = network_store.read_manifest(directory)
    if world is None and manifest["world"] is not None:
        world = _described(manifest["world"])
    networks, _ = network_store.read(directory, None if world is None else world.space)
    return _of_networks(networks, world)


def _described(description: Any) -> OpenEnvironment:
    """One of the library's own worlds, from its name and arguments."""
    if not isinstance(description, dict) or description.get("id") != Boxman.ID:
        raise StoreError(f"unknown world {description!r}; give it as load(path, world=...)")
    try:
        return Boxman(**description["arguments"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"the world {description!r} cannot be made: {error}") from None


def _base_tasks(
    space: TaskSpace, named: Mapping[str, Task], tasks: TaskSource | None
) -> dict[str, Task]:
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


def _seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed is {seed!r}, expected a whole number of at least 0")
    return int(seed)


@final
class Skills(Mapping[str, "Agent"]):
    """Extended value functions of some base tasks; `skills[expression]` is an agent.

    As a mapping it iterates over the base tasks; any expression over them is a valid key.

    Args:
        space: the task space.
        tasks: the base tasks by name.
        plan: their values, in the same order.
        world: what agents of an open world are evaluated in; finite worlds need none.
        networks: what the values are read from, where these are networks.
    """

    def __init__(
        self,
        space: TaskSpace,
        tasks: Mapping[str, Task],
        plan: Plan,
        world: Playable | None = None,
        networks: Networks | None = None,
    ) -> None:
        """Put the base tasks and their values side by side."""
        self.networks = networks
        self.space = space
        self.world = world
        self.tasks = dict(tasks)
        self.plan = plan
        self.value_functions = dict(zip(self.tasks, plan.values, strict=True))

    def __getitem__(self, wanted: str | Expression | Task) -> Agent:
        """The agent for an expression over the base tasks, or for a task they can express."""
        return self._agent(self._expression(wanted))

    def by_goal_set(self, wanted: str | Expression | Task) -> Agent:
        """The same task through goal sets: only Q̄_U and Q̄_∅ are read, by one masked maximum.

        Under Assumptions 1 and 2 this is the agent of `skills[wanted]`.
        """
        expression = self._expression(wanted)
        task = self._task(expression)
        return Agent(self, expression, task, GoalSetQ.of(task, self.plan.bounds))

    @property
    def n_expressible(self) -> int:
        """How many different tasks the base tasks can express."""
        if self.can_negate:
            return n_expressible(self.tasks)
        found = [self[each].task for each in all_functions(list(self.tasks)) if each in self]
        return len({task.goal_reward.tobytes() for task in found})

    @property
    def can_negate(self) -> bool:
        """Whether `~` and `^` have a meaning.

        They always have, but for one or two networks whose tasks end in goals of their own.
        """
        return self.networks is None or self.networks.shared or len(self.tasks) >= 3

    def save(self, path: str | Path) -> None:
        """Write the skills to a directory; nothing half-written is ever left to be read."""
        if self.networks is None:
            store.write(Path(path), self.space, self.tasks, self.plan)
            return
        describe = getattr(self.world, "describe", None)
        network_store = _torch_module("taskalgebra.skills.network_store")
        network_store.write(Path(path), self.networks, describe() if describe else None, {})

    def _expression(self, wanted: str | Expression | Task) -> Expression:
        if isinstance(wanted, Task):
            return expression_of(wanted, self.tasks)
        if isinstance(wanted, str):
            return parse(wanted, self.tasks)
        if isinstance(wanted, Expression):
            return wanted
        raise TypeError(f"expected an expression or a Task, got {wanted!r}")

    def _task(self, expression: Expression) -> Task:
        task = expression.evaluate(
            self.tasks, universal=self.space.universal, empty=self.space.empty
        )
        self._check_negation(expression)
        return task

    def _check_negation(self, expression: Expression) -> None:
        """Refuse negations that would mean something else."""
        if self.can_negate:
            return
        if {"not", "xor"} & {kind for kind, _, _ in expression.steps_over(self.tasks)}:
            raise ValueError(
                f"{expression} needs a negation, and these base tasks end in goals of their own: "
                f"~ is then taken between the largest and the smallest of their values, so that "
                f"with two tasks ~a is b; learn at least three, each goal wanted by one of them"
            )

    def _agent(self, expression: Expression) -> Agent:
        values = compose_values(expression, self.value_functions, self.plan.bounds)
        return Agent(self, expression, self._task(expression), values)

    def __contains__(self, wanted: object) -> bool:
        """Whether `skills[wanted]` is an agent: an expression or a task over the base tasks."""
        if not isinstance(wanted, str | Expression | Task):
            return False
        try:
            self._task(self._expression(wanted))
        except ValueError:
            return False
        return True

    def get(self, wanted: Any, default: Any = None) -> Any:
        """The agent, or the default where `skills[wanted]` would raise."""
        return self[wanted] if wanted in self else default

    def __iter__(self) -> Iterator[str]:
        """The names of the base tasks."""
        return iter(self.tasks)

    def __len__(self) -> int:
        """The number of base tasks."""
        return len(self.tasks)

    def __repr__(self) -> str:
        """The base tasks and the world."""
        return f"Skills({listed(list(self.tasks))}) of {self.space.world!r}"


@final
class Agent(BooleanElement):
    """An agent that acts greedily on an extended value function."""

    def __init__(
        self, skills: Skills, expression: Expression, task: Task, values: ExtendedQ
    ) -> None:
        """Bind a task, its values, and the skills that they came from."""
        self.skills = skills
        self.expression = expression
        self.task = task
        self.values = values
        self.policy = GreedyPolicy(values)

    def act(self, observation: ArrayLike) -> int:
        """The greedy action for one observation."""
        return self.policy.act(observation)

    def q_bar(self, observations: ArrayLike) -> Array:
        """Q̄ for a batch of observations, `[B, G, A]`."""
        return self.values.q_bar(observations)

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """[S], the action in every state of a finite world."""
        self._require_states("actions")
        return self._over_states(self.policy.actions).astype(np.int64)

    @cached_property
    def v(self) -> Array:
        """[S], V(s) = max_{g,a} Q̄(s, g, a)  (Lemma 1)."""
        self._require_states("v")
        return self._over_states(lambda states: recover_v(self.values.q_bar(states)))

    def _require_states(self, what: str) -> None:
        """Refuse what needs the list of all states, in an open world."""
        if isinstance(self.task.space.world, OpenWorld):
            raise TypeError(
                f"agent.{what} needs all states of a finite world; this agent lives in an open "
                f"one, known only by playing it: use agent.act(observation) or agent.evaluate()"
            )

    def _over_states(self, function: Callable[[NDArray[np.int64]], NDArray[Any]]) -> Array:
        mdp = self.task.space.mdp
        block = max(1, 2**22 // (mdp.n_goals * mdp.n_actions))
        parts = [
            function(np.arange(first, min(first + block, mdp.n_states)))
            for first in range(0, mdp.n_states, block)
        ]
        return np.concatenate(parts)

    def evaluate(
        self, episodes: int = 1000, *, seed: int = 0, max_steps: int | None = None
    ) -> Evaluation:
        """Play episodes from random starts, and compare with the optimum of the task.

        In a finite world the optimum is exact, and by default only those episodes are cut off that
        would go round for ever.  In an open world the agent plays in `skills.world`, see
        `evaluation.play`; the optimum is known if that world tells it, and episodes
        are cut off after the world's own `max_steps`, or after 20 if it has none.
        """
        if isinstance(self.task.space.world, OpenWorld):
            return self._play(episodes, seed, max_steps)
        return rollouts(
            self.task,
            self.actions,
            optimal_v(self.task),
            episodes=episodes,
            rng=np.random.default_rng(_seed(seed)),
            max_steps=max_steps,
        )

    def _play(self, episodes: int, seed: int, max_steps: int | None) -> Evaluation:
        world = self.skills.world
        if world is None:
            raise ValueError(
                "these skills are of an open world and have none to play in; make them with "
                "Skills(space, tasks, plan, world=...), where world.vector(num_envs, task=...) "
                "makes the environment"
            )
        if max_steps is None:
            max_steps = getattr(world, "max_steps", MAX_STEPS)
        env = world.vector(min(count(episodes, "episodes"), MAX_COPIES), task=self.task)
        try:
            return play(
                self.task,
                env,
                self.policy,
                episodes=episodes,
                seed=_seed(seed),
                max_steps=max_steps,
            )
        finally:
            env.close()

    def picture(self, *, colour: bool = False) -> str:
        """Values and actions on the map, as text."""
        self._require_states("picture()")
        return picture(self.task, self.v, self.actions, colour=colour)

    def show(self) -> None:
        """Print the picture, in colour when the output is a terminal."""
        self._require_states("show()")
        colour = sys.stdout.isatty() and "NO_COLOR" not in environ
        print(f"{self.expression}\n{self.picture(colour=colour)}")

    def __and__(self, other: Agent) -> Agent:
        """The agent for both tasks."""
        return self._apply(and_, other)

    def __or__(self, other: Agent) -> Agent:
        """The agent for either task."""
        return self._apply(or_, other)

    def __xor__(self, other: Agent) -> Agent:
        """The agent for exactly one of the tasks."""
        return self._apply(xor, other)

    def __invert__(self) -> Agent:
        """The agent for everything else."""
        return self._apply(invert)

    def _apply(self, operation: Callable[..., Any], *others: Agent) -> Agent:
        """Apply one operator to the expressions, the tasks and the values alike."""
        for other in others:
            if not isinstance(other, Agent):
                raise TypeError(f"cannot compose an agent with {other!r}")
            if other.skills is not self.skills:
                raise ValueError("these agents come from different skills; compose agents of one")
        agents = (self, *others)
        expression = operation(*(agent.expression for agent in agents))
        self.skills._check_negation(expression)
        return Agent(
            self.skills,
            expression,
            operation(*(agent.task for agent in agents)),
            operation(*(agent.values for agent in agents)),
        )

    def __repr__(self) -> str:
        """The expression and the goals it wants."""
        return f"Agent({str(self.expression)!r}, {self.task!r})"
