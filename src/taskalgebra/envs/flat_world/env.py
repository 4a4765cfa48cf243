"""FlatWorld as a Gymnasium environment: `TaskAlgebra/FlatWorld-v0`.

world = ta.FlatWorld()
skills = ta.solve(world)
agent = skills["F (red & magenta & F (blue & green & F yellow))"]
agent.evaluate(1000)
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import ArrayLike

from taskalgebra.arrays import Array, BoolArray, Image, LongArray
from taskalgebra.envs.copies import Copies
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.envs.flat_world.lattice import FlatReach, Lattice, goals_at
from taskalgebra.envs.flat_world.picture import draw
from taskalgebra.envs.flat_world.plane import (
    ACTIONS,
    COLOURS,
    FORMULAS,
    HALF,
    MAX_STEPS,
    MOVES,
    STEP,
    checked_positions,
    codes_at,
    colours_of,
    names_of,
    outside,
    random_starts,
)
from taskalgebra.envs.registry import spec_of
from taskalgebra.envs.rendering import warn_of_no_render_mode
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import checked_action, checked_actions, checked_options, number, one_of
from taskalgebra.worlds.finite import NO_GOAL
from taskalgebra.worlds.open_world import OpenWorld

RENDER_MODES = ("rgb_array",)
Step = tuple[Array, Array, BoolArray, BoolArray, dict[str, Any]]


class FlatWorld(GoalEnv, gym.Env[Any, Any]):
    """Walk in a square with circles that overlap; `TaskAlgebra/FlatWorld-v0` of Gymnasium.

    The square extends from −2 to 2.  Nine circles have seven colours, and twelve sets of colours
    occur.  The eight moves are 0.08 long in eight directions, and `stay` is the ninth action.
    Leaving the square ends an episode.  Observations are positions (x, y).

    Colours are read after each step, at the new position.  **Goals** are the coloured points of a
    fixed lattice, and a step into a circle enters the nearest one with the same set of colours.
    The base tasks are the colours.  `info["goal"]` is the number of the goal that a step entered,
    −1 for none, and `info["colours"]` names the colours.

    This environment goes on after goals, for formulas over time.  `vector(task=...)` makes copies
    that end in them.  Episodes start anywhere in the square without the circles, or in
    `options["position"]`.  There is no step limit here; `max_episode_steps`, 500, is that of
    `agent.evaluate`.

    Args:
        step_reward: of every step.
        r_universal: r_U, the reward of a desired goal, and of a formula that is satisfied.
        r_empty: r_∅, the reward of any other goal; by default the step reward.
        render_mode: None or "rgb_array".
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        "render_modes": list(RENDER_MODES),
        "render_fps": 20,
    }
    max_episode_steps = MAX_STEPS

    def __init__(
        self,
        *,
        step_reward: float = -0.1,
        r_universal: float = 10.0,
        r_empty: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Name the goals and the colours."""
        self.step_reward = number(step_reward, "step_reward")
        if self.step_reward > 0:
            raise ValueError(
                f"step_reward is {step_reward!r}, expected at most 0: here an agent may always "
                f"stay, and would go on earning"
            )
        self.render_mode = one_of(render_mode, (None, *RENDER_MODES), "render_mode")
        self.points = Lattice.fixed()
        low = self.step_reward if r_empty is None else number(r_empty, "r_empty")
        self._rewards = number(r_universal, "r_universal"), low
        self.space = TaskSpace(
            OpenWorld(tuple(self.points.goal_names), ACTIONS), r_universal=r_universal, r_empty=low
        )
        self.tasks = _colours(self.space, self.points)
        self.goal_features = self.standing()
        far = HALF + STEP  # after a step out of the square
        self.observation_space = Box(-far, far, (2,), np.float64)
        self.action_space = Discrete(len(ACTIONS))
        self.position: Array | None = None
        self._walked: list[Array] = []
        self.spec = spec_of(
            self, step_reward=self.step_reward, r_universal=self._rewards[0], r_empty=low
        )

    @property
    def formulas(self) -> dict[str, str]:
        """The five tasks with published figures."""
        return dict(FORMULAS)

    def standing(self) -> Array:
        """[G, 2], the positions of the goals."""
        return self.points.points[self.points.coloured]

    @cached_property
    def _reach(self) -> FlatReach:
        return FlatReach(self.points, self.step_reward)

    def planned_reach(self) -> FlatReach:
        """The returns to goals of the fixed lattice, on which agents look one step ahead."""
        return self._reach

    def lattice(self, position: ArrayLike) -> FiniteEnv:
        """The points that straight moves and stays reach from a position, as a finite world.

        Its five actions are the first five of this environment, and lead to the very same points
        here, up to rounding; episodes start at the position.  It has some 3,400 states, of which a
        quarter are goals.
        """
        point = checked_positions(position, (2,), "the position")
        lattice = Lattice.through(point)
        space = TaskSpace(
            lattice.world(self.step_reward), r_universal=self._rewards[0], r_empty=self._rewards[1]
        )
        return FiniteEnv(space, _colours(space, lattice))

    def vector(
        self, num_envs: int, *, task: Task, max_episode_steps: int | None = None
    ) -> FlatVectorEnv:
        """N copies that end in goals and pay for a task; leaving the square cuts an episode off."""
        return FlatVectorEnv(self, num_envs, task=task, max_episode_steps=max_episode_steps)

    def continuing(self, num_envs: int, *, max_episode_steps: int | None = None) -> FlatVectorEnv:
        """N copies whose episodes outlive goals, and end where the square is left."""
        return FlatVectorEnv(self, num_envs, max_episode_steps=max_episode_steps)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start anywhere outside the circles, or in `options["position"]`."""
        super().reset(seed=seed)
        given = checked_options(options, "position")
        if given is None:
            self.position = random_starts(self.np_random, 1)[0]
        else:
            self.position = checked_positions(given, (2,), "options['position']")
        self._walked = [self.position]
        return self.position.copy(), {"goal": NO_GOAL, "colours": ()}

    def step(self, action: int) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Move, and read the colours of the new position."""
        if self.position is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        self.position = self.position + MOVES[checked_action(action, ACTIONS)]
        self._walked.append(self.position)
        info = {
            "goal": int(goals_at(self.points, self.position[None])[0]),
            "colours": names_of(int(codes_at(self.position))),
        }
        after, gone = self.position.copy(), bool(outside(self.position))
        if gone:
            self.position = None
        return after, self.step_reward, gone, False, info

    def render(self) -> Image | None:
        """The plane with the path of the episode so far."""
        if self.render_mode is None:
            warn_of_no_render_mode(RENDER_MODES)
            return None
        return draw(np.array(self._walked))

    def picture(self, path: ArrayLike = ()) -> Image:
        """The plane with a path `[N, 2]`: a ring at its start, a disc at its end."""
        points = np.asarray(path, np.float64)
        if points.size and (points.ndim != 2 or points.shape[1] != 2):
            raise ValueError(f"the path has shape {points.shape}, expected [N, 2]: x and y of each")
        return draw(points.reshape(-1, 2))

    def __repr__(self) -> str:
        """In short."""
        return "FlatWorld()"


def _colours(space: TaskSpace, lattice: Lattice) -> dict[str, Task]:
    """The base tasks: each colour desires the goals that have it."""
    has = colours_of(lattice.codes[lattice.coloured])
    return {name: space.from_desired(has[:, i]) for i, name in enumerate(COLOURS)}


@final
class FlatVectorEnv(Copies[Array]):
    """N copies of FlatWorld, each in an episode of its own.

    `infos["goal"]`, `[N]`, is the goal that a step entered, −1 for none.

    Args:
        world: the environment that is copied.
        num_envs: N.
        task: with a task episodes end in goals, and are paid for; without one they go on, and
            terminate only where the square is left.
        max_episode_steps: the number of steps after which an episode is truncated; by default
            never.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's contract)
        **FlatWorld.metadata,
        **Copies.metadata,
        "render_modes": [],
    }

    def __init__(
        self,
        world: FlatWorld,
        num_envs: int = 1,
        *,
        task: Task | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        """Nothing is started yet."""
        super().__init__(world, num_envs, max_episode_steps)
        if task is not None and task.space != world.space:
            raise ValueError("the task belongs to another space than this environment")
        self._world, self._task = world, task
        self._points = np.zeros((self.num_envs, 2))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start all copies at random, or in `options["position"]`: one for all, or `[N, 2]`."""
        super().reset(seed=seed)
        given = checked_options(options, "position")
        if given is None:
            self._points = random_starts(self.np_random, self.num_envs)
        else:
            self._points = checked_positions(given, (self.num_envs, 2), "options['position']")
        self._begin()
        return self._points.copy(), self._infos(np.full(self.num_envs, NO_GOAL))

    def step(self, actions: ArrayLike) -> Step:
        """Move every copy by its action; those whose episode has ended start a new one."""
        self._require_reset("step")
        self._points = self._points + MOVES[checked_actions(actions, self.num_envs, ACTIONS)]
        begun = self._episodes.ended.copy()
        if begun.any():
            self._points[begun] = random_starts(self.np_random, int(begun.sum()))
        goals = goals_at(self._world.points, self._points)
        goals[begun] = NO_GOAL
        gone = outside(self._points)
        rewards = np.where(begun, 0.0, self._world.step_reward)
        met = np.zeros(self.num_envs, np.bool_)
        if self._task is not None:
            met = goals != NO_GOAL
            rewards[met] += self._task.goal_reward[goals[met]]
        late = self._episodes.advance(met | gone)
        if self._task is None:
            return self._points.copy(), rewards, gone, late & ~gone, self._infos(goals)
        return self._points.copy(), rewards, met, (late & ~met) | gone, self._infos(goals)

    def _infos(self, goals: LongArray) -> dict[str, Any]:
        """Gymnasium's form for a batch: the values, and which copies have one."""
        return {"goal": goals, "_goal": np.ones(self.num_envs, np.bool_)}


def flat_world(
    num_envs: int = 1, *, max_episode_steps: int | None = None, **arguments: Any
) -> FlatVectorEnv:
    """N copies that go on after goals, for `gym.make_vec`; other arguments as for `FlatWorld`."""
    return FlatVectorEnv(FlatWorld(**arguments), num_envs, max_episode_steps=max_episode_steps)
