"""Films of agents at play, as GIF files.

On a map the agent is a disc that moves over values and arrows.  A game with a layout is drawn by
itself, with the agent between its cells; any other world is filmed as it renders itself, step by
step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from taskalgebra import files
from taskalgebra.arrays import Image
from taskalgebra.drawing.board import Map
from taskalgebra.drawing.worlds import checked_image
from taskalgebra.envs.finite_env import FiniteEnv
from taskalgebra.skills.shown.seen import Seen, seen
from taskalgebra.theory.goal_env import (
    MAX_EPISODE_STEPS,
    RENDERED,
    GoalEnv,
    goals_entered,
    render_modes,
)
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import checked_seed, count
from taskalgebra.worlds.finite import NO_GOAL

if TYPE_CHECKING:
    from taskalgebra.drawing.plots.film import Walk

SUFFIX = ".gif"
MOST_EPISODES = 50


@dataclass(frozen=True)
class Settings:
    """What is filmed, checked."""

    path: Path
    episodes: int
    seed: int
    max_steps: int | None

    @classmethod
    def of(cls, path: str | Path, episodes: int, seed: int, max_steps: int | None) -> Settings:
        """Check what a user asked for; the directory of the file is made."""
        file = files.at(path)
        if file.suffix.lower() != SUFFIX:
            raise ValueError(f"a film is a {SUFFIX} file, got {str(path)!r}")
        if max_steps is not None:
            max_steps = count(max_steps, "max_steps")
        episodes = count(episodes, "episodes", most=MOST_EPISODES)
        file.parent.mkdir(parents=True, exist_ok=True)
        return cls(file, episodes, checked_seed(seed), max_steps)

    def limit(self, env: GoalEnv | None) -> int:
        """Steps after which an episode is cut off."""
        own = None if env is None else env.max_episode_steps
        return self.max_steps or own or MAX_EPISODE_STEPS


@dataclass(frozen=True)
class Way:
    """An episode on a table: states, one more than actions, and the goal, or −1."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    total: float
    goal: int


def way_of(
    task: Task, choose: Callable[[int], int], start: int | None, seed: int, most_steps: int
) -> Way:
    """Play one episode of a task in its finite world, from a state, or from a random one."""
    env = FiniteEnv(task.space, task=task)
    state, _ = env.reset(seed=seed, options=None if start is None else {"state": start})
    states, total, goal = [int(state)], 0.0, NO_GOAL
    actions: list[int] = []
    while goal == NO_GOAL and len(states) <= most_steps:
        actions.append(choose(states[-1]))
        state, reward, _, _, info = env.step(actions[-1])
        total, goal = total + float(reward), int(info["goal"])
        states.append(int(state))
    return Way(tuple(states), tuple(actions), total, goal)


def board_walk(env: GoalEnv, found: Seen, states: Sequence[int]) -> Walk:
    """An episode of a game, up to its goal, on its own board."""
    from PIL import Image as Picture

    from taskalgebra.drawing.plots.film import Walk

    mdp, layout = found.mdp, found.layout
    assert layout is not None and mdp.cells is not None

    def shown(place: NDArray[Any], goal: int = NO_GOAL) -> Any:
        frame = env.film_frame(layout, (float(place[0]), float(place[1])), goal)
        return Picture.fromarray(checked_image(frame, type(env).__name__))

    goals = mdp.goal_of_state[list(states)]
    reached = goals != NO_GOAL
    n = int(np.argmax(reached)) + 1 if reached.any() else len(goals)
    end = shown(np.zeros(2), int(goals[n - 1])) if reached.any() else None
    return Walk(mdp.cells[list(states)][:n].astype(np.float64), shown, end)


def board_ends(env: GoalEnv, found: Seen) -> list[Any]:
    """What is seen in each goal of a game, for the colours of a film."""
    from PIL import Image as Picture

    assert found.layout is not None
    frames = [env.film_frame(found.layout, (0.0, 0.0), g) for g in range(found.mdp.n_goals)]
    return [Picture.fromarray(frame) for frame in frames if frame is not None]


class Player(Protocol):
    """An agent that acts, and is told what it entered."""

    def reset(self, begins: Any = ...) -> None:
        """An episode begins."""

    def act(self, observations: Any, env: Any = None) -> Any:
        """The action for one observation."""

    def observe(self, reached: Any) -> None:
        """The goal that a step entered, or −1."""


def rendered(
    world: GoalEnv, agent: Player, task: Task | None, over: Callable[[int], bool], asked: Settings
) -> list[list[Image]]:
    """Episodes in the environment itself, as it renders them.

    Args:
        world: where the agent acts.
        agent: who acts.
        task: that is paid; None for a formula, in which episodes outlive goals.
        over: whether an episode is over, after a step that entered this goal, or −1.
        asked: how many, and for how long.

    Raises:
        TypeError: the world renders no images.
    """
    play = _in_copies if _copies_render(world, task) else _alone
    return [
        list(play(world, agent, task, over, asked.seed + k, asked.limit(world)))
        for k in range(asked.episodes)
    ]


def _copies_render(world: GoalEnv, task: Task | None) -> bool:
    """Whether copies of the world render images of themselves."""
    if RENDERED not in render_modes(world):
        return False
    try:
        copies = _copies(world, task)
    except TypeError:
        return False
    modes = render_modes(copies)
    copies.close()
    return RENDERED in modes


def _copies(world: GoalEnv, task: Task | None) -> Any:
    drawn: Any = copy(world)
    drawn.render_mode = RENDERED
    return drawn.continuing(1) if task is None else drawn.vector(1, task=task)


def _in_copies(
    world: GoalEnv,
    agent: Player,
    task: Task | None,
    over: Callable[[int], bool],
    seed: int,
    limit: int,
) -> Iterator[Image]:
    """One episode of a copy that the world makes of itself."""
    copies, name = _copies(world, task), type(world).__name__
    try:
        observations, _ = copies.reset(seed=seed)
        agent.reset()
        yield checked_image(copies.render()[0], name)
        for _ in range(limit):
            action = agent.act(observations[0])
            observations, _, terminated, truncated, infos = copies.step([action])
            goal = int(goals_entered(infos, 1)[0])
            agent.observe(goal)
            yield checked_image(copies.render()[0], name)
            if over(goal) or terminated[0] or truncated[0]:
                return
    finally:
        copies.close()


def _alone(
    world: GoalEnv,
    agent: Player,
    task: Task | None,
    over: Callable[[int], bool],
    seed: int,
    limit: int,
) -> Iterator[Image]:
    """One episode of the environment from which the world was made, or of the world itself."""
    name = type(world).__name__
    env: Any = world.rendering()
    try:
        observation, info = world.begin(env, seed)
        agent.reset()
        yield checked_image(env.render(), name)
        for _ in range(limit):
            action = agent.act(observation, env)
            observation, _, terminated, truncated, info = env.step(action)
            goal = world.entered(observation, info, env)
            agent.observe(goal)
            yield checked_image(env.render(), name)
            if over(goal) or terminated or truncated:
                return
    finally:
        if env is not world:
            env.close()


def film_of_agent(agent: Any, found: Seen | None, asked: Settings, start: int | None) -> Path:
    """Film an agent for one task.

    Args:
        agent: an `Agent`.
        found: all states or those of a layout, with their values; None in an open world.
        asked: how many episodes.
        start: a state of the world to begin in.
    """
    from taskalgebra.drawing.plots import film
    from taskalgebra.drawing.plots.maps import large

    title, env, task = str(agent.expression), agent.skills.env, agent.task
    if found is None or found.mdp.cells is None:
        if start is not None:
            raise ValueError("a film begins in a given state only on a map, and there is none here")
        world = _world_of(env)
        shown = rendered(world, agent, task, lambda goal: goal != NO_GOAL, asked)
        return film.write_frames(title, shown, asked.path, how_made(agent))
    agent.reset()
    each = [_seen_again(agent, found, asked.seed + k) for k in range(asked.episodes)]
    ways = [
        way_of(one.task, _choosing(agent, one), start, asked.seed + k, asked.limit(env))
        for k, one in enumerate(each)
    ]
    if found.layout is not None and found.layout.image is not None and env is not None:
        walks = [board_walk(env, one, way.states) for one, way in zip(each, ways, strict=True)]
        return film.write(title, walks, board_ends(env, found), asked.path, how_made(agent))
    cells = found.mdp.cells
    drawn = Map.of(found.mdp, title, found.values, found.actions, task.wanted)
    walked = [
        film.Walked(cells[list(way.states)], way.goal != NO_GOAL and bool(task.wanted[way.goal]))
        for way in ways
    ]
    return film.map_film(drawn, walked, asked.path, {0: large(drawn)})


def how_made(agent: Any) -> str:
    """Where an agent comes from, in a line below the title of its film."""
    from taskalgebra.drawing.plots.film import COMPOSED

    if agent.improvement is not None:
        return "composed from base tasks, then improved"
    return "a base task" if agent.expression.kind == "name" else COMPOSED


def _seen_again(agent: Any, found: Seen, seed: int) -> Seen:
    """The layout of another episode, if each has its own and is drawn."""
    layout = found.layout
    if layout is None or layout.fixed or layout.image is None:
        return found
    other = seen(agent, seed)
    assert other is not None
    return other


def _choosing(agent: Any, found: Seen) -> Callable[[int], int]:
    """How the agent acts in a state: as it plays, or on a layout as it sees the state."""
    if found.layout is not None:
        return lambda state: int(found.actions[state])
    agent.policy.reset(np.ones(1, np.bool_))
    return lambda state: int(agent.policy.actions(np.array([state]))[0])


def film_of_formula(agent: Any, asked: Settings, start: int | None) -> Path:
    """Film an agent for a formula over time.

    Args:
        agent: a `TemporalAgent`.
        asked: how many episodes.
        start: a state of the world to begin in.

    Raises:
        ValueError: the formula cannot be satisfied from there, or from any start.
    """
    from taskalgebra.drawing.plots import film
    from taskalgebra.drawing.plots.maps import large, scale

    title, space, automaton = str(agent.expression), agent.skills.family.space, agent.automaton
    if not space.finite or space.mdp.cells is None:
        if start is not None:
            raise ValueError("a film begins in a given state only on a map, and there is none here")

        def over(goal: int) -> bool:
            u = int(agent.states[0])
            return bool(automaton.accepting[u] or automaton.dead[u])

        shown = rendered(_world_of(agent.skills.env), agent, None, over, asked)
        return film.write_frames(title, shown, asked.path, how_made(agent))
    values, _ = agent.table()
    starts = space.mdp.starts if start is None else np.array([start])
    able = starts[np.isfinite(values[starts])]
    if not able.size:
        raise ValueError(f"{title} cannot be satisfied: {agent.why_not(int(starts[0]))}")
    rng = np.random.default_rng(asked.seed)
    walks = [
        agent.walk(int(rng.choice(able)), seed=asked.seed + k, max_steps=asked.limit(None))
        for k in range(asked.episodes)
    ]
    visited = dict.fromkeys(u for walk in walks for u in walk.progress[:-1])
    maps = {u: agent.map_in(u) for u in visited}
    norm = scale(np.concatenate([each.values for each in maps.values()]))
    figures = {u: large(each, norm=norm) for u, each in maps.items()}
    walked = [
        film.Walked(
            space.mdp.cells[list(walk.states)],
            walk.satisfied,
            [*walk.progress[:-1], walk.progress[-2]],
        )
        for walk in walks
    ]
    return film.map_film(next(iter(maps.values())), walked, asked.path, figures)


def _world_of(env: GoalEnv | None) -> GoalEnv:
    if env is None:
        raise ValueError(
            "these skills have no environment to film, and their world has no map; load them with "
            "one: load(path, env=...)"
        )
    return env
