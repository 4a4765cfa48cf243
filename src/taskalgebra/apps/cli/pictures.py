"""Solutions as files: a picture of a map, or a film of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from taskalgebra import files
from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.over_time import AUTOMATON
from taskalgebra.apps.cli.solution import Episode, Solution, solution_of
from taskalgebra.drawing.plots import film
from taskalgebra.drawing.plots.film import Walk as Shown
from taskalgebra.paper.figures.solution import FILM, Map, draw, draw_game, write, write_film
from taskalgebra.skills.shown.film import board_ends, board_walk
from taskalgebra.skills.temporal import TemporalAgent
from taskalgebra.skills.walks import Walk

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
    with writing(path):
        _save(solution, episode, path, seed)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make the directory of a file, and turn errors in writing it into failures."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
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
        env = solution.agent.skills.env
        assert env is not None
        ends = board_ends(env, solution.seen)
        film.write(str(solution.agent.expression), walks, ends, path)
    else:
        end = "nothing" if episode.goal < 0 else solution.task.space.goal_names[episode.goal]
        note = f"collects {end}, return {episode.total:.1f}, optimum {episode.optimum:.1f}"
        shown = map_of(solution, note)
        write(draw_game(shown, layout.image, layout.pixels, walked, success), path)


def save_formula(agent: TemporalAgent, path: Path, walk: Walk | None, seed: int) -> None:
    """Write the automaton, the map in its first state, or a film of an episode.

    Args:
        agent: what to draw.
        path: the file; its suffix says what to draw.
        walk: an episode, if a start was chosen.
        seed: of the episode of a film, where none was.

    Raises:
        Failure: the file cannot be written.
    """
    with writing(path):
        if path.suffix.lower() == AUTOMATON:
            files.replace(path, agent.automaton.svg().encode())
        else:
            _save_map(agent, path, walk, seed)


def _save_map(agent: TemporalAgent, path: Path, walk: Walk | None, seed: int) -> None:
    if path.suffix.lower() == FILM:
        agent.film(path, episodes=1, start=None if walk is None else walk.states[0], seed=seed)
        return
    cells = agent.skills.family.space.mdp.cells
    way = None if walk is None or cells is None else cells[list(walk.states)]
    write(draw(agent.map_in(agent.automaton.start), path=way), path)


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
        note or f"mean return over all starts {earned:.4f}, optimum {best:.4f}",
    )


def _walk(solution: Solution, episode: Episode) -> Shown:
    """An episode of a game, up to its goal, for a film."""
    env = solution.agent.skills.env
    assert env is not None
    return board_walk(env, solution.seen, episode.states)
