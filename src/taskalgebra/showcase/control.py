"""Gymnasium's classic control: the hills of MountainCar, and where LunarLander comes down.

MountainCar is judged from states all over the plane of position and velocity, at rest or not, from
which a wanted hill can be reached: by a breadth-first search over a fine grid of that plane, with
the environment's own dynamics and with actions held as the agent holds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, final

import gymnasium as gym
import numpy as np

import taskalgebra as ta
from taskalgebra.arrays import Array, LongArray
from taskalgebra.envs.labels import Label
from taskalgebra.showcase.record import Judged, World
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.skills import Skills

HILLS = {
    "left": {"left"},
    "right": {"right"},
    "left | right": {"left", "right"},
    "~left": {"right"},
    "~right": {"left"},
    "left ^ right": {"left", "right"},
    "~(left & right)": {"left", "right"},
}
"""Expressions, and the goals that they want, written out independently of the library."""
PLACES = {
    "left": {"left"},
    "pad": {"pad"},
    "right": {"right"},
    "left | pad": {"left", "pad"},
    "left | right": {"left", "right"},
    "~left": {"pad", "right"},
    "~pad": {"left", "right"},
    "~right & ~pad": {"left"},
    "~(left | right)": {"pad"},
}
CAR_HOLD, CAR_STEPS = 8, 200
LANDER_HOLD, LANDER_STEPS = 5, 300
POSITIONS, VELOCITIES = 641, 281
"""Of the grid: twice as many of both change whether a hill can be reached in 0.1 % of its cells."""
UNSEEN = 2**31
"""The first seed of starts; those of trainings are lower."""
NOWHERE = -1


def car(learner: Any = None, seed: int = 0) -> Skills:
    """MountainCar: up the left hill or the right one, from anywhere."""
    world = ta.wrap(Anywhere, goals=hill, among=["left", "right"], hold=CAR_HOLD)
    return ta.learn(world, learner=learner or ta.DeepQ(n_updates=3_000, threads=1), seed=seed)


class Anywhere(gym.Wrapper[Any, Any, Any, Any]):
    """MountainCar from any position between the hills, at any speed."""

    def __init__(self, **kwargs: Any) -> None:
        """Make the environment."""
        super().__init__(gym.make("MountainCar-v0", **kwargs))

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin with a random position and a random velocity."""
        _, info = self.env.reset(**kwargs)
        car: Any = self.env.unwrapped
        car.state = car.np_random.uniform((-1.1, -0.07), (0.5, 0.07))
        return np.array(car.state, np.float32), info


def hill(observation: Any, info: Mapping[str, Any], env: Any) -> str | None:
    """The tops of the hills; the environment knows only the right one."""
    position = observation[0]
    return "left" if position <= -1.1 else "right" if position >= 0.5 else None


def lander(learner: Any = None, seed: int = 0) -> Skills:
    """LunarLander: left of the pad, on it, or right of it."""
    among = ["left", "pad", "right"]
    rules: Any = {"elsewhere": "lost", "hold": LANDER_HOLD, "max_episode_steps": LANDER_STEPS}
    world = ta.wrap("LunarLander-v3", goals=place, among=among, **rules)
    own = ta.DeepQ(pessimism=6, spacing=0.05, threads=1)
    return ta.learn(world, learner=learner or own, seed=seed)


def place(observation: Any, info: Mapping[str, Any], env: Any) -> str | None:
    """Where a leg touches the ground while the lander is upright and its body does not touch it."""
    x, angle, legs = observation[0], observation[4], observation[6:]
    if env.game_over or not any(legs) or abs(angle) > 0.4:
        return None
    return "left" if x < -0.2 else "pad" if x <= 0.2 else "right"


def moved(position: Array, velocity: Array, action: int) -> tuple[Array, Array]:
    """The car after one step of the environment, for many cars (Moore 1990)."""
    velocity = np.clip(velocity + 0.001 * (action - 1) - 0.0025 * np.cos(3 * position), -0.07, 0.07)
    position = np.clip(position + velocity, -1.2, 0.6)
    return position, np.where((position == -1.2) & (velocity < 0), 0.0, velocity)


def held(
    position: Array, velocity: Array, action: int, steps: int
) -> tuple[Array, Array, LongArray]:
    """Many cars after an action that is held until a hill is reached, and the hill, 0 or 1."""
    reached = np.full(position.shape, NOWHERE)
    for _ in range(steps):
        on = reached == NOWHERE
        after = moved(position, velocity, action)
        position, velocity = (
            np.where(on, new, old) for new, old in zip(after, (position, velocity), strict=True)
        )
        reached = np.where(on & (position <= -1.1), 0, np.where(on & (position >= 0.5), 1, reached))
    return position, velocity, reached


def fewest_actions(after: LongArray, reached: LongArray, wanted: set[int], limit: int) -> Array:
    """[S], the fewest actions to a wanted goal, breadth-first from the goals; ∞ where none lead.

    Args:
        after: `[S, A]`, the cell that an action leads to.
        reached: `[S, A]`, the goal in which it ends, or −1.
        wanted: the numbers of the goals that will do.
        limit: the most actions.
    """
    fewest = np.full(len(after), np.inf)
    ended = np.isin(reached, list(wanted))
    for n in range(1, limit + 1):
        near = ended | ((reached == NOWHERE) & (fewest[after] < n))
        new = near.any(1) & np.isinf(fewest)
        if not new.any():
            break
        fewest[new] = n
    return fewest


@final
class Plane:
    """Position and velocity of the car between the hills, in cells, and what actions do there."""

    def __init__(self, positions: int = POSITIONS, velocities: int = VELOCITIES) -> None:
        """Hold every action in every cell, from its centre to the nearest one."""
        self.axes = np.linspace(-1.1, 0.5, positions)[1:-1], np.linspace(-0.07, 0.07, velocities)
        self.states: Array = np.stack(np.meshgrid(*self.axes, indexing="ij"), -1).reshape(
            -1, 2
        )  # [S, 2]
        after, reached = [], []
        for action in range(3):
            *state, end = held(self.states[:, 0], self.states[:, 1], action, CAR_HOLD)
            cells = [
                np.clip(np.rint((x - axis[0]) / (axis[1] - axis[0])), 0, len(axis) - 1)
                for x, axis in zip(state, self.axes, strict=True)
            ]
            after.append((cells[0] * len(self.axes[1]) + cells[1]).astype(np.int64))
            reached.append(end)
        self.after, self.reached = np.stack(after, 1), np.stack(reached, 1)

    def starts(self, wanted: set[int], n: int, seed: int) -> Array:
        """[≤ n, 2], states from which a wanted goal can be reached within the limit, at random."""
        fewest = fewest_actions(self.after, self.reached, wanted, CAR_STEPS // CAR_HOLD)
        feasible = np.flatnonzero(np.isfinite(fewest))
        chosen: LongArray = np.random.default_rng(seed).permutation(feasible)[:n]
        return self.states[chosen]


Begin = Callable[[Any, int], Any]
"""Begins episode i in an environment, and returns what is seen first."""


def ends(agent: Agent, envs: Sequence[Any], begin: Begin, label: Label, hold: int) -> list[Any]:
    """What the label names at the end of an episode in each environment; actions are held."""
    seen = [begin(env, i) for i, env in enumerate(envs)]
    found: list[Any] = [None] * len(envs)
    going = list(range(len(envs)))
    while going:
        actions = agent.act(np.stack([seen[i] for i in going]))
        for i, action in zip(list(going), actions, strict=True):
            for _ in range(hold):
                seen[i], _, terminated, truncated, info = envs[i].step(int(action))
                found[i] = label(seen[i], info, envs[i].unwrapped)
                if terminated or truncated or found[i] is not None:
                    going.remove(i)
                    break
    return found


def judged(text: str, wanted: set[str], found: Sequence[Any], best: float = math.nan) -> Judged:
    """How often a wanted goal was reached."""
    return Judged(text, len(found), float(np.mean([name in wanted for name in found])), best)


def of_car(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    """Play from states all over the plane, and from the environment's own starts."""
    plane = Plane()
    envs = _copies("MountainCar-v0", episodes, CAR_STEPS)
    for text, wanted in HILLS.items():
        starts = plane.starts({("left", "right").index(name) for name in wanted}, episodes, seed)

        def anywhere(env: Any, i: int, starts: Array = starts) -> Any:
            env.reset(seed=UNSEEN)
            env.unwrapped.state = starts[i].copy()
            return starts[i].astype(np.float32)

        found = ends(skills.for_task(text), envs[: len(starts)], anywhere, hill, CAR_HOLD)
        yield judged(text, wanted, found, 1.0)
        found = ends(skills.for_task(text), envs, partial(_own_start, seed), hill, CAR_HOLD)
        yield judged(f"{text}, from the environment's own starts", wanted, found, 1.0)


def of_lander(skills: Skills, episodes: int, seed: int) -> Iterator[Judged]:
    """Play from the environment's own starts."""
    envs = _copies("LunarLander-v3", episodes, LANDER_STEPS)
    for text, wanted in PLACES.items():
        found = ends(skills.for_task(text), envs, partial(_own_start, seed), place, LANDER_HOLD)
        yield judged(text, wanted, found)


def _copies(name: str, n: int, steps: int) -> list[Any]:
    return [gym.make(name, max_episode_steps=steps, disable_env_checker=True) for _ in range(n)]


def _own_start(seed: int, env: Any, i: int) -> Any:
    return env.reset(seed=UNSEEN + seed + i)[0]


WORLDS = (
    World(
        "mountain-car",
        "MountainCar, both hills",
        car,
        of_car,
        "success 0.95 from all starts from which it can be done",
        most_lost=0.05,
        extras=("deep",),
        episodes=1_000,
        minutes=5.0,
    ),
    World(
        "lunar-lander",
        "LunarLander, where to come down on a leg",
        lander,
        of_lander,
        "success 0.9",
        most_lost=0.1,
        extras=("box2d", "deep"),
        episodes=200,
        minutes=15.0,
    ),
)
