"""Solutions as files: a picture of a map, or a film of the agent."""

from __future__ import annotations

from pathlib import Path

from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.solution import Episode, Solution
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.picture import CELL
from taskalgebra.paper.experiments.boxman_trajectories import Play, record
from taskalgebra.paper.figures import boxman_film
from taskalgebra.paper.figures.solution import FILM, Map, draw, draw_game, write, write_film

EPISODES = 3
"""Of a film of Boxman that has no start of its own."""


def save_picture(solution: Solution, episode: Episode, path: Path, *, seed: int | None) -> None:
    """Write what the name of the file asks for.

    Args:
        solution: what to draw.
        episode: what the agent does in the film, or on the game's board.
        path: where to; its end says what.
        seed: a film of Boxman shows further episodes, of the seeds that follow; None for one.

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
    world = solution.agent.skills.world
    if isinstance(world, Boxman):
        _save_game(solution, world, episode, path, seed)
        return
    shown = map_of(solution)
    if path.suffix.lower() == FILM:
        write_film(shown, episode.cells(solution), _success(solution, episode), path)
    else:
        given = seed is None  # a start was chosen, so its path is of interest
        write(draw(shown, path=episode.cells(solution) if given else None), path)


def map_of(solution: Solution, note: str = "") -> Map:
    """What a picture of a solution needs."""
    mdp = solution.task.space.mdp
    earned, best = (values[mdp.starts].mean() for values in (solution.returns, solution.optimum))
    return Map.of(
        mdp,
        str(solution.agent.expression),
        solution.values,
        solution.actions,
        solution.wanted,
        note or f"mean return {earned:.4f}, optimum {best:.4f}",
    )


def _success(solution: Solution, episode: Episode) -> bool:
    return episode.goal >= 0 and bool(solution.wanted[episode.goal])


def _save_game(
    solution: Solution, world: Boxman, episode: Episode, path: Path, seed: int | None
) -> None:
    agent, text = solution.agent, str(solution.agent.expression)
    assert solution.code is not None
    codes = [solution.code.copy()]
    codes[0][0] = episode.states[0]
    if path.suffix.lower() == FILM:
        for k in range(1, EPISODES if seed is not None else 1):
            world.task = agent.task
            world.reset(seed=(seed or 0) + k)
            codes.append(world.code)
        plays = [Play("solve", text, i, world, agent, code) for i, code in enumerate(codes)]
        boxman_film.write(record(plays, {}), "solve", text, path)
        return
    end = "nothing" if episode.goal < 0 else solution.task.space.goal_names[episode.goal]
    note = f"collects {end}, return {episode.total:.1f}, optimum {episode.optimum:.1f}"
    board = world.picture(codes[0][None], agent=False)[0]
    walked = episode.cells(solution)
    figure = draw_game(map_of(solution, note), board, CELL, walked, _success(solution, episode))
    write(figure, path)
