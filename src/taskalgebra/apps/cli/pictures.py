"""Solutions as files: a picture of a map, or a film of the agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.solution import Episode, Solution, solution_of
from taskalgebra.arrays import Array
from taskalgebra.paper.figures import film
from taskalgebra.paper.figures.film import Walk
from taskalgebra.paper.figures.solution import FILM, Map, draw, draw_game, write, write_film
from taskalgebra.worlds.finite import NO_GOAL

EPISODES = 3
"""Of a film of a game, unless a start is chosen."""


def save_picture(solution: Solution, episode: Episode, path: Path, *, seed: int | None) -> None:
    """Write a picture or a film, by the suffix of the file.

    Args:
        solution: what to draw.
        episode: what the agent does in the film, or on the game's board.
        path: the file; its suffix says what to draw.
        seed: a film of a game shows more episodes, with the next seeds; None for only one.

    Raises:
        Failure: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _save(solution, episode, path, seed)
    except FileExistsError:
        raise Failure(f"cannot write {path}: {path.parent} is not a directory") from None
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror or error}") from None


def _save(solution: Solution, episode: Episode, path: Path, seed: int | None) -> None:
    layout, moving = solution.layout, path.suffix.lower() == FILM
    success = episode.goal >= 0 and bool(solution.desired[episode.goal])
    walked = episode.cells(solution)
    if layout is None or layout.image is None:
        shown = map_of(solution)
        if moving:
            write_film(shown, walked, success, path)
        else:  # draw the path where a start was chosen
            write(draw(shown, path=walked if seed is None else None), path)
    elif moving:
        walks = [_walk(solution, episode)]
        for k in range(1, EPISODES if seed is not None else 1):
            other = solution_of(solution.agent, (seed or 0) + k)
            walks.append(_walk(other, other.play(None, (seed or 0) + k)))
        n_goals = solution.task.space.n_goals
        ends = [_frame(solution, np.zeros(2), goal) for goal in range(n_goals)]
        film.write(str(solution.agent.expression), walks, ends, path)
    else:
        end = "nothing" if episode.goal < 0 else solution.task.space.goal_names[episode.goal]
        note = f"collects {end}, return {episode.total:.1f}, optimum {episode.optimum:.1f}"
        shown = map_of(solution, note)
        write(draw_game(shown, layout.image, layout.pixels, walked, success), path)


def map_of(solution: Solution, note: str = "") -> Map:
    """The map of a solution, for drawing."""
    mdp = solution.task.space.mdp
    earned, best = (values[mdp.starts].mean() for values in (solution.returns, solution.optimum))
    return Map.of(
        mdp,
        str(solution.agent.expression),
        solution.values,
        solution.actions,
        solution.desired,
        note or f"mean return {earned:.4f}, optimum {best:.4f}",
    )


def _walk(solution: Solution, episode: Episode) -> Walk:
    """An episode of a game, up to its goal, for a film."""
    goals = solution.task.space.mdp.goal_of_state[list(episode.states)]
    reached = goals != NO_GOAL
    n = int(np.argmax(reached)) + 1 if reached.any() else len(goals)
    return Walk(
        episode.cells(solution)[:n].astype(np.float64),
        lambda place: _frame(solution, place),
        _frame(solution, np.zeros(2), int(goals[n - 1])) if reached.any() else None,
    )


def _frame(solution: Solution, place: Array, goal: int = NO_GOAL) -> Image.Image:
    """The game with the agent at a place, or in a goal."""
    env, layout = solution.agent.skills.env, solution.layout
    assert env is not None and layout is not None
    row, column = place.tolist()
    drawn = env.film_frame(layout, (row, column), goal)
    if drawn is None:
        raise Failure("this world has no pictures for a film; save a .png")
    return Image.fromarray(drawn)
