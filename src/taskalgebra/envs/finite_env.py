"""A finite world as a Gymnasium environment; `step` reads the same table as the planner.

Observations are states (`Discrete(S)`), actions are numbers (`Discrete(A)`).  The environment keeps
the contract of a goal environment: `info["goal"]` is the number of the goal reached when
`terminated`, and −1 before.  There is no step limit; a limit is not a termination.

All random numbers come from one method, `_uniform`, in a fixed order: one at a reset, for the
start, unless the start is given; and one at a step whose action has more than one outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import ArrayLike, NDArray

from taskalgebra.arrays import Array, BoolArray, Image
from taskalgebra.drawing.image import Drawing
from taskalgebra.drawing.terminal import snapshot
from taskalgebra.envs.attached import Attached, as_vector
from taskalgebra.envs.copies import Copies
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.logic.expression import TRUE, Expression
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_action, checked_actions, checked_options, flag, one_of
from taskalgebra.worlds.chance import outcome, outcomes
from taskalgebra.worlds.finite import NO_GOAL, FiniteMDP
from taskalgebra.worlds.grid import absorbing_only

States = NDArray[np.int64]
Step = tuple[States, Array, BoolArray, BoolArray, dict[str, Any]]
RENDER_MODES = ("ansi", "rgb_array")


class FiniteEnv(GoalEnv, gym.Env[Any, Any]):
    """A task space with named tasks, and one of its tasks to play.

    `mdp` is the table that `step` reads: the world of the space, or with `shared_absorbing=False`
    that of the current task, which has the same states, actions and goals, but ends only in the
    goals that the task desires.

    Args:
        space: the task space; it holds the dynamics.
        tasks: tasks with names, for expressions.
        task: the task that `step` pays for: a `Task`, a name or an expression; by default M_U.
        shared_absorbing: whether every task ends in every goal, as Assumption 1 asks.  If not, a
            transition into a goal that the task does not desire stays where it is, at the cost of
            the step.  A task that desires no goal ends in all of them.
        render_mode: what `render` returns: None, "ansi" for text or "rgb_array" for an image.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "render_modes": list(RENDER_MODES),
        "render_fps": 8,
    }

    def __init__(
        self,
        space: TaskSpace,
        tasks: Mapping[str, Task] | None = None,
        task: Task | Expression | str | None = None,
        *,
        shared_absorbing: bool = True,
        render_mode: str | None = None,
    ) -> None:
        """Set the spaces of Gymnasium from the sizes of the world."""
        if not isinstance(space, TaskSpace):
            hint = "; make one: TaskSpace(world)" if isinstance(space, FiniteMDP) else ""
            raise TypeError(f"the space must be a TaskSpace, got {space!r}{hint}")
        if not isinstance(tasks or {}, Mapping):
            raise TypeError(f"tasks must be given as {{name: task}}, got {tasks!r}")
        self.space = space
        self.tasks = dict(tasks or {})
        for name, named in self.tasks.items():
            if not isinstance(named, Task):
                raise TypeError(
                    f"task {name!r} is {named!r}, expected a Task, such as space.task({named!r})"
                )
            if named.space != space:
                raise ValueError(f"task {name!r} belongs to another space than this world")
        self.observation_space = gym.spaces.Discrete(space.mdp.n_states)
        self.action_space = gym.spaces.Discrete(space.mdp.n_actions)
        self.shared_absorbing = flag(shared_absorbing, "shared_absorbing")
        self.render_mode = self._checked_render_mode(render_mode)
        self.task = TRUE if task is None else task

    def resuming(self) -> FiniteEnv:
        """This world itself, if episodes start wherever they go on after goals.

        Raises:
            ValueError: they do not, so that the way from one goal to another would not be learned.
        """
        mdp = self.space.mdp
        missing = np.setdiff1d(mdp.after_goals, mdp.starts)
        if missing.size:
            raise ValueError(
                f"no episode starts in {mdp.state_name(int(missing[0]))}, where episodes go on "
                f"after a goal; make a world that starts there too, or plan this one: solve(world)"
            )
        return self

    def _checked_render_mode(self, mode: str | None) -> str | None:
        one_of(mode, (None, *RENDER_MODES), "render_mode")
        if self.space.mdp.cells is None:
            self.metadata = {**self.metadata, "render_modes": []}
            if mode is not None:
                raise ValueError(
                    f"render_mode is {mode!r}, but this world has no map to draw on; make it with "
                    f"from_text, pass cells=... to from_arrays, or leave render_mode out"
                )
        return mode

    @property
    def task(self) -> Task:
        """The task that `step` pays for; may be set to a `Task`, a name or an expression.

        After a change of task the environment must be reset.
        """
        return self._task

    @task.setter
    def task(self, task: Task | Expression | str) -> None:
        self._task = self.find_task(task)
        self.desired = self.desired_goals(self._task)
        self.mdp = self._world_of_task()
        self.state: int | None = None
        self._shown: int | None = None  # drawn, also after the end of an episode
        self._drawing: Drawing | None = None

    def _world_of_task(self) -> FiniteMDP:
        """The table that `step` reads."""
        if self.shared_absorbing or not self.desired.any():
            return self.space.mdp
        return absorbing_only(self.space.mdp, self.desired)

    def vector(
        self, num_envs: int, *, task: Task, max_episode_steps: int | None = None
    ) -> FiniteVectorEnv:
        """N copies that pay for a task."""
        playing = copy(self)
        playing.task = task
        return FiniteVectorEnv(playing, num_envs, max_episode_steps=max_episode_steps)

    def continuing(
        self, num_envs: int, *, max_episode_steps: int | None = None
    ) -> ContinuingVectorEnv:
        """N copies whose episodes outlive goals, and go on in `FiniteMDP.resumes`."""
        return ContinuingVectorEnv(self, num_envs, max_episode_steps=max_episode_steps)

    def attach(
        self, env: Any, *, task: Task, max_episode_steps: int | None = None
    ) -> VectorEnv[Any, Any, Any]:
        """Play the environment that `from_gymnasium` took this world from, or one of this world.

        Args:
            env: one environment or a vector of them, with any wrappers that leave observations
                and actions as they are.
            task: what is paid, as by the table: r_{s,a} for a move, and r(g) with the last one.
            max_episode_steps: after this many steps an episode of one environment is truncated.

        Raises:
            TypeError: this world was not taken from an environment.
            ValueError: the environment has other states or actions.
        """
        mdp = self.space.mdp
        own = isinstance(getattr(env, "unwrapped", None), FiniteEnv)
        if mdp.ends is None and not own:
            raise TypeError(
                "this world was not taken from an environment, so that it plays none; make it with "
                "from_gymnasium, give skills of an explored world that world, load(path, "
                "explore(world)), or play the table: agent.evaluate()"
            )
        copies = as_vector(env, max_episode_steps)
        n_copied = 0 if mdp.ends is None or own else int((mdp.ends != mdp.goals).sum())
        for what, space, n in (
            ("observations", copies.single_observation_space, mdp.n_states - n_copied),
            ("actions", copies.single_action_space, mdp.n_actions),
        ):
            if space != gym.spaces.Discrete(n):
                raise ValueError(
                    f"the environment has {what} {space}, this world Discrete({n}); give an "
                    f"environment of the kind that the world was made from"
                )
        return Attached(copies, task, None if own else mdp.ends)

    def desired_goals(self, task: Task) -> BoolArray:
        """[G], the goals that a task wants."""
        return task.wanted

    def _uniform(self) -> float:
        """A random number in [0, 1): the only source of chance."""
        return float(self.np_random.random())

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Start in a random state, or in `options["state"]`, which draws no random number."""
        super().reset(seed=seed)
        start = checked_options(options, "state")
        if start is None:
            starts = self.mdp.starts
            start = starts[int(self._uniform() * starts.size)]
        else:
            self.check_start(start)
        self.state = self._shown = int(start)
        return self.state, {"goal": NO_GOAL}

    def check_start(self, state: Any) -> None:
        """Refuse a state in which no episode can begin.

        Raises:
            ValueError: the state does not exist, or no goal of the task can be reached from it.
        """
        mdp = self.mdp
        known = isinstance(state, int | np.integer) and 0 <= state < mdp.n_states
        if not known or not mdp.ending[state]:
            raise ValueError(
                f"cannot start in state {state}: expected one of 0 to {mdp.n_states - 1} with a "
                f"path to some goal"
            )
        goal = mdp.goal_of_state[state]
        if mdp is not self.space.mdp and goal != NO_GOAL and not self.desired[goal]:
            raise ValueError(
                f"cannot start in state {state}, {mdp.state_name(state)}: with "
                f"shared_absorbing=False this task ends in the goals that it desires only"
            )

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move by the table; in a goal, pay its terminal reward and end, whatever the action."""
        if self.state is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        mdp = self.mdp
        a = checked_action(action, mdp.action_names)
        s = self.state
        goal = int(mdp.goal_of_state[s])
        if goal != NO_GOAL:
            self.state = None
            return s, float(self._task.goal_reward[goal]), True, False, {"goal": goal}
        k, end = mdp.offset[s * mdp.n_actions + a : s * mdp.n_actions + a + 2].tolist()
        if end - k > 1:
            k = outcome(k, end - 1, mdp.probability, self._uniform())
        self.state = self._shown = int(mdp.successor[k])
        return self.state, float(self._task.steps[s, a]), False, False, {"goal": NO_GOAL}

    def render(self) -> Any:
        """The map in the render mode; without the agent before a reset."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        return self.frame(self._shown)

    def frame(self, state: int | None) -> str | Image:
        """What `render` returns for a state; None draws no agent."""
        if self.render_mode == "ansi":
            return snapshot(self.space.mdp, self.desired, state)
        if self._drawing is None:
            self._drawing = Drawing(self.space.mdp, self.desired)
        return self._drawing.frame(state)


class FiniteVectorEnv(Copies[States]):
    """N copies of a finite world, each in an episode of its own.

    `infos["goal"]` is `[N]`: the goal in which each episode ended, −1 before.

    Args:
        world: the environment with the task to play; a later change of its task has no effect.
        num_envs: N.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        **FiniteEnv.metadata,
        **Copies.metadata,
    }

    def __init__(
        self, world: FiniteEnv, num_envs: int = 1, *, max_episode_steps: int | None = None
    ) -> None:
        """Lay the world out as tables."""
        super().__init__(world, num_envs, max_episode_steps)
        self.world = world
        self.render_mode = world.render_mode
        self.metadata = {**self.metadata, **world.metadata}
        mdp, task = world.mdp, world.task
        self._mdp = mdp
        self._reward = task.steps.ravel().copy()  # [S·A]
        rows = mdp.goals[:, None] * mdp.n_actions + np.arange(mdp.n_actions)
        self._reward[rows] = task.goal_reward[:, None]
        self._goal = mdp.goal_of_state.astype(np.int64)
        self._states: States = np.zeros(self.num_envs, np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[States, dict[str, Any]]:
        """Start all copies in random states, or in `options["state"]`: one for all, or `[N]`."""
        super().reset(seed=seed)
        given = checked_options(options, "state")
        self._states = self._random_starts(self.num_envs) if given is None else self._starts(given)
        self._begin()
        return self._states.copy(), self._infos(np.full(self.num_envs, NO_GOAL))

    def step(self, actions: ArrayLike) -> Step:
        """Move every copy by its action; those whose episode has ended start a new one."""
        self._require_reset("step")
        chosen = checked_actions(actions, self.num_envs, self._mdp.action_names)
        pair = self._states * self._mdp.n_actions + chosen
        rewards = self._reward[pair]
        goals = self._goal[self._states]
        self._states = self._successors(pair)
        begun = self._episodes.ended
        if begun.any():
            self._states[begun] = self._random_starts(int(begun.sum()))
        terminated, truncated = self._settle(goals, rewards)
        return self._states.copy(), rewards, terminated, truncated, self._infos(goals)

    def render(self) -> tuple[Any, ...] | None:
        """The map of every copy, in the render mode."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        shown = self._states.tolist() if self._started else [None] * self.num_envs
        return tuple(self.world.frame(state) for state in shown)

    def _successors(self, pair: States) -> States:
        """The next states of some rows of the table; goals stay where they are."""
        mdp, k = self._mdp, pair
        if not mdp.deterministic:
            k = outcomes(mdp.offset, mdp.probability, pair, self.np_random.random(pair.size))
        return mdp.successor[k].astype(np.int64)

    def _random_starts(self, count: int) -> States:
        starts = self._mdp.starts
        chosen = (self.np_random.random(count) * starts.size).astype(np.int64)
        return starts[chosen].astype(np.int64)

    def _starts(self, given: ArrayLike) -> States:
        states = np.asarray(given)
        if states.shape not in ((), (self.num_envs,)):
            raise ValueError(
                f"options['state'] has shape {states.shape}, expected one state or one for each "
                f"of the {self.num_envs} copies"
            )
        for state in np.unique(states):
            self.world.check_start(state)
        return np.broadcast_to(states, (self.num_envs,)).astype(np.int64)

    def _infos(self, goals: States) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which copies have one."""
        return {"goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}


@final
class ContinuingVectorEnv(FiniteVectorEnv):
    """N copies whose episodes outlive goals, for tasks with time.

    `infos["goal"]` is `[N]`: the goal that each step entered, −1 for none.  Steps pay what they pay
    in the world, and goals nothing.  Only a limit ends an episode.
    """

    def __init__(
        self, world: FiniteEnv, num_envs: int = 1, *, max_episode_steps: int | None = None
    ) -> None:
        """Look up where episodes go on."""
        super().__init__(world, num_envs, max_episode_steps=max_episode_steps)
        self._mdp = world.space.mdp
        self._resumes = self._mdp.after_goals.astype(np.int64)

    def step(self, actions: ArrayLike) -> Step:
        """Move every copy by its action; those whose episode was cut off start a new one."""
        self._require_reset("step")
        mdp = self._mdp
        chosen = checked_actions(actions, self.num_envs, mdp.action_names)
        rewards = mdp.step_reward[self._states, chosen]
        self._states = self._successors(self._states * mdp.n_actions + chosen)
        goals = self._goal[self._states]
        entered = goals != NO_GOAL
        self._states[entered] = self._resumes[goals[entered]]
        begun = self._episodes.ended.copy()
        if begun.any():
            self._states[begun] = self._random_starts(int(begun.sum()))
            goals[begun], rewards[begun] = NO_GOAL, 0.0
        never = np.zeros(self.num_envs, np.bool_)
        truncated = self._episodes.advance(never)
        return self._states.copy(), rewards, never, truncated, self._infos(goals)
