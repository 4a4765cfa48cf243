"""The goal environment: the contract between environments and learners.

A goal environment names its goals and its tasks, limits the length of an episode, and makes copies
of itself that pay for a task.  The copies are a Gymnasium vector environment that reports the goal
in which an episode ended: `infos["goal"]`, `[N]`, is the number of the goal where `terminated`, and
−1 before.  An episode that ends elsewhere is truncated.  Learners need nothing else, so the same
code learns a grid world, a video game and your own environment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray, Image, LongArray, Observations
from taskalgebra.content import Travels
from taskalgebra.drawing import html, worlds
from taskalgebra.logic.expression import Expression
from taskalgebra.logic.formulas import parse
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import listed, numbers
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP

if TYPE_CHECKING:
    import gymnasium as gym
    from gymnasium.vector import VectorEnv

    from taskalgebra.drawing.plots.paper import Axes

RENDERED = "rgb_array"
"""The render mode for images."""
LEARNING_STEPS = 50
"""Of an episode for networks to learn from, where an environment has no limit of its own."""
MAX_EPISODE_STEPS = 1_000
"""For evaluation and for tables, where an environment has no limit of its own."""


@dataclass(frozen=True, eq=False)
class Layout:
    """One layout of an environment as a finite world, with the observations of its states."""

    mdp: FiniteMDP
    observations: Observations  # [S − G, ...], of the states that are not goals, in their order
    fixed: bool = True  # whether every episode has this layout
    image: Image | None = None  # the board without the agent, to be shown
    pixels: int = 0  # per cell of the image
    code: Any = None  # for `reset(options={"code": ...})`, to start here


class GoalEnv(Travels, ABC):
    """An environment to learn and to act in.

    `infos` of its copies may hold more: at a reset `"optimal_return"`, `[N]`, what the best policy
    earns; at the end of an episode `"task_rewards"`, `[N, tasks]`, what each named task pays for
    the goal.
    """

    space: TaskSpace
    """The goals, the actions, and what desired goals pay."""
    tasks: dict[str, Task]
    """Named tasks, for expressions."""
    observation_space: gym.Space[Any]
    """Of one copy."""
    action_space: gym.Space[Any]
    """Of one copy."""
    shared_absorbing: bool = True
    """Whether every task ends in every goal, as Assumption 1 asks."""
    max_episode_steps: int | None = None
    """The number of steps after which an episode is truncated; None for no limit."""
    max_copies: int = 256
    """The most copies that are played at once in an evaluation; each takes memory."""
    entry_reward: float = 0.0
    """What a step into a goal pays where episodes outlive goals, if returns to goals leave it out,
    since the pay of the goal takes its place."""
    resumed: bool = False
    """Whether episodes also begin where others entered a goal; see `resuming`.  After an episode
    that ended in a goal, `reset(options={"resume": True})` may then go on from there."""
    row_error: float = 0.0
    """How far the outcomes of actions may be off, if they were estimated from samples."""
    learner: Any = None
    """The learner that suits it best; None leaves the choice to `taskalgebra.learn`."""
    goal_features: NDArray[Any] | None = None
    """[G, ...], what networks are shown of each goal: a description or a picture.  None for the
    observation in which it was first met."""
    spec: Any = None
    """Gymnasium's: the registered name and the arguments, if it was made by name."""

    def __repr__(self) -> str:
        """The kind, the tasks, and the world."""
        return f"{type(self).__name__}({listed(list(self.tasks))}) of {self.space.world!r}"

    def __str__(self) -> str:
        """Gymnasium's short form with the registered name, if there is one."""
        return repr(self) if self.spec is None else f"<{type(self).__name__}<{self.spec.id}>>"

    @abstractmethod
    def vector(
        self, num_envs: int, *, task: Task, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """N copies that pay for a task; without `max_episode_steps`, episodes have no limit."""

    def continuing(
        self, num_envs: int, *, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """N copies whose episodes outlive goals, for tasks with time.

        `infos["goal"]`, `[N]`, is the goal that the step entered, or −1; the episode goes on.
        Rewards are those of steps; goals pay nothing.  An episode terminates only where the
        environment cannot go on.
        """
        raise TypeError(
            f"episodes of {type(self).__name__} end in goals, and tasks with time go on; it has no "
            f"method continuing(num_envs)"
        )

    def resuming(self) -> GoalEnv:
        """The same environment, with episodes that also begin where others entered a goal.

        For learning: tasks with time go on from there, and where no episode starts on a goal, the
        way from one goal to another would never be met.
        """
        raise TypeError(
            f"learn(..., continuing=True) needs an environment that goes on after goals, such as "
            f"those of taskalgebra.wrap; {type(self).__name__} has no method resuming()"
        )

    def standing(self) -> NDArray[Any] | None:
        """[G, ...], what is seen when an episode goes on after each goal; None if it varies.

        Tasks with time read there how far one goal is from another.
        """
        if self.space.finite and self.space.mdp.resumes is not None:
            return self.space.mdp.resumes.astype(np.int64)
        return None

    def entered(self, observation: Any, info: Mapping[str, Any], env: Any) -> int:
        """The goal that the last step of somebody's environment entered, or −1."""
        return int(info.get("goal", NO_GOAL))

    def begin(self, env: Any, seed: int) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of somebody's environment, equal ones for equal seeds."""
        found: tuple[Any, dict[str, Any]] = env.reset(seed=seed)
        return found

    def standing_in(self, observations: NDArray[Any]) -> NDArray[Any] | None:
        """[B, G, ...], the same in the layouts of B observations, if every episode has its own."""
        return None

    def planned_reach(self) -> Any:
        """A `Reach` that an open world plans itself, for `solve`; None if it can only be played."""
        return None

    def attach(
        self, env: Any, *, task: Task, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """Play somebody's environment, one or a vector, wrappers included, as this one.

        The result is what `vector` makes: observations as values take them, goals in its infos,
        and what the task pays.
        """
        raise TypeError(
            f"{type(self).__name__} plays no other environments; make the world from the "
            f"environment: taskalgebra.wrap(env, goals=label)"
        )

    def make(self, **changes: Any) -> gym.Env[Any, Any]:
        """One environment of the kind that `attach` plays; `changes` are given to Gymnasium."""
        raise TypeError(f"{type(self).__name__} is not made from another environment; give one")

    def see(self, observation: Any, env: Any = None) -> Any:
        """What values take of the environment's own observation; by default the observation."""
        return observation

    def own_actions(self, actions: Any, env: Any = None) -> Any:
        """The environment's own actions, from numbers of actions; by default the numbers."""
        return actions

    def one_layout(self, seed: int, task: Task | None = None) -> Layout | None:
        """One layout of this environment as a finite world; None if there is none.

        Args:
            seed: of the layout, if it differs between episodes.
            task: the task that is played, if tasks end in different goals.
        """
        if not self.space.finite:
            return None
        mdp = self.space.mdp
        return Layout(mdp, np.flatnonzero(~mdp.is_goal))

    def film_frame(
        self, layout: Layout, place: tuple[float, float], goal: int = NO_GOAL
    ) -> Image | None:
        """One frame of a film of a layout; None if there is nothing to draw.

        Args:
            layout: of this environment.
            place: row and column of the agent, which may be between two cells.
            goal: the goal that the agent has reached, if any.
        """
        return None

    def plot(self, ax: Axes | None = None, *, seed: int = 0) -> Axes:
        """Draw the world: its map or its graph, or what an open one looks like when it begins.

        Args:
            ax: where to draw; by default in a new figure.
            seed: of the episode, in an open world.

        Raises:
            TypeError: the world is open, and does not render.
            ValueError: the world has no map, and too many states for a graph.
        """
        name, layout = type(self).__name__, self.one_layout(seed)
        if layout is not None and layout.image is None:
            return worlds.plot(layout.mdp, name, ax)
        if layout is not None and layout.image is not None:
            return worlds.plot_image(layout.image, name, ax)
        env = self.rendering()
        try:
            self.begin(env, seed)
            shown = env.render()
        finally:
            env.close()
        return worlds.plot_image(worlds.checked_image(shown, name), name, ax)

    def rendering(self) -> Any:
        """One environment that renders images: a copy of this one, or that it was made from.

        Raises:
            TypeError: neither does.
        """
        if RENDERED in render_modes(self) and hasattr(self, "step"):
            drawn: Any = copy(self)
            drawn.render_mode = RENDERED
            return drawn
        nothing = f'{type(self).__name__} has no render_mode="{RENDERED}": it cannot be drawn'
        try:
            made = self.make(render_mode=RENDERED)
        except TypeError as error:
            raise TypeError(f"{nothing}; {error}") from None
        if RENDERED not in render_modes(made):
            made.close()
            raise TypeError(nothing)
        return made

    def _repr_html_(self) -> str:
        """The map if there is one, the goals, the actions and the tasks, for notebooks."""
        space, drawn = self.space, ""
        if space.finite:
            drawn = worlds.picture(space.mdp, type(self).__name__)
        known = [
            ["goals", html.names(space.goal_names)],
            ["actions", html.names(space.action_names)],
        ]
        named = worlds.tasks({n: t.wanted for n, t in self.tasks.items()}, space.goal_names)
        words = html.soft(repr(space.world).strip("<>"))
        return html.shown(type(self).__name__, words, html.beside(drawn, html.rows(known) + named))

    def find_task(self, task: Task | Expression | str) -> Task:
        """A task by name, or by an expression over the named tasks."""
        if isinstance(task, Task):
            if task.space != self.space:
                raise ValueError("the task belongs to another space than this environment")
            return task
        if not isinstance(task, str | Expression):
            raise TypeError(f"the task must be a name, an expression or a Task, got {task!r}")
        return self.compose(parse(task, self.tasks) if isinstance(task, str) else task, self.tasks)

    def compose(self, expression: Expression, tasks: Mapping[str, Task]) -> Task:
        """The task of an expression over some tasks of this environment (Definition 1)."""
        space = self.space
        return expression.evaluate(tasks, universal=space.universal, empty=space.empty)


def render_modes(env: Any) -> list[str]:
    """The render modes of an environment."""
    return list((getattr(env, "metadata", None) or {}).get("render_modes") or [])


def checked_rewards(rewards: Any, step: int) -> Array:
    """What an environment paid at a step, counted from 1: finite numbers, or a ValueError."""
    paid = numbers(rewards, f"what the environment paid at step {step}")
    wrong = paid[~np.isfinite(paid)]
    if wrong.size:
        raise ValueError(
            f"the environment paid {wrong[0]} at step {step}, expected a finite number; values "
            f"are sums of rewards"
        )
    return paid


def goals_reached(
    infos: Mapping[str, Any], terminated: BoolArray, n_goals: int | None = None
) -> LongArray:
    """[N], the goals in which episodes have just ended, −1 where they continue.

    Args:
        infos: of a step of N environments.  `infos["goal"]` is `[N]`; it is read where an episode
            terminated, and may be missing if none has.  If the next episode has already begun, it
            is in `infos["final_info"]`.
        terminated: `[N]`.
        n_goals: the number of goals, if known.

    Raises:
        ValueError: an episode terminated without the number of a goal.
    """
    reached = np.full(terminated.size, NO_GOAL, np.int64)
    if not terminated.any():
        return reached
    final = infos.get("final_info", {})
    infos = final if "goal" in final else infos
    given = np.asarray(infos.get("_goal", "goal" in infos)) & terminated
    if "goal" not in infos or not given[terminated].all():
        raise ValueError(
            'the environment ended an episode without info["goal"]; a goal environment puts the '
            "number of the goal there when it terminates"
        )
    goals = np.asarray(infos["goal"])[terminated]
    whole = goals.dtype.kind in "iu"
    wrong = goals[(goals < 0) | (goals >= (n_goals or np.inf))] if whole else goals
    if wrong.size:
        known = "of at least 0" if n_goals is None else f"0 to {n_goals - 1}"
        raise ValueError(
            f'the environment ended an episode with info["goal"] = {wrong[0]!r}, expected the '
            f"number of a goal, {known}; an episode that ends elsewhere is truncated, not "
            f"terminated"
        )
    reached[terminated] = goals
    return reached


def goals_entered(infos: Mapping[str, Any], num_envs: int, n_goals: int | None = None) -> LongArray:
    """[N], the goals that the last step entered, −1 for none, where episodes outlive goals.

    Args:
        infos: of a step of N environments that `GoalEnv.continuing` made.
        num_envs: N.
        n_goals: the number of goals, if known.

    Raises:
        ValueError: `infos["goal"]` is not the number of a goal.
    """
    if "goal" not in infos:
        return np.full(num_envs, NO_GOAL, np.int64)
    given, goals = (np.asarray(infos.get(key, True)) for key in ("_goal", "goal"))
    if any(each.shape not in ((), (1,), (num_envs,)) for each in (given, goals)):
        raise ValueError(
            f'info["goal"] has shape {goals.shape}, expected one number for each of {num_envs} '
            f"episodes under way"
        )
    if goals.dtype.kind in "iu":
        goals = np.where(given, goals, NO_GOAL)
    goals = np.broadcast_to(goals, (num_envs,))
    whole = goals.dtype.kind in "iu"
    wrong = goals[(goals < NO_GOAL) | (goals >= (n_goals or np.inf))] if whole else goals
    if wrong.size:
        known = "0 or more" if n_goals is None else f"0 to {n_goals - 1}"
        raise ValueError(
            f'the environment gave info["goal"] = {wrong[0]!r}, expected the number of the goal '
            f"that the step entered, {known}, or −1 for none"
        )
    return goals.astype(np.int64)
