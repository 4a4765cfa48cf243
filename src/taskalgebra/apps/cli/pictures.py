"""Solutions as files: a picture of a map, or a film of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from taskalgebra.apps.cli.commands import Failure
from taskalgebra.apps.cli.solution import Episode, Solution, solution_of
from taskalgebra.arrays import Array
from taskalgebra.paper.figures.gif import write_gif
from taskalgebra.paper.figures.solution import FILM, Map, draw, draw_game, write, write_film

EPISODES = 3
"""Of a film of a game that has no start of its own."""
SIDE, BAND = 336, 46  # pixels: of the longer side of a board, and of the words above it
BETWEEN, MOVE, LOOK, SHOW = 3, 50, 500, 900  # pictures a step; milliseconds
COLOURS = 254
PAPER, INK, GREY = (250, 250, 250), (34, 34, 34), (119, 119, 119)
BELOW = "composed from base tasks, no further learning"


def save_picture(solution: Solution, episode: Episode, path: Path, *, seed: int | None) -> None:
    """Write what the name of the file asks for.

    Args:
        solution: what to draw.
        episode: what the agent does in the film, or on the game's board.
        path: where to; its end says what.
        seed: a film of a game shows further episodes, of the seeds that follow; None for one.

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
    layout, film = solution.layout, path.suffix.lower() == FILM
    success = episode.goal >= 0 and bool(solution.wanted[episode.goal])
    walked = episode.cells(solution)
    if layout is None or layout.image is None:
        shown = map_of(solution)
        if film:
            write_film(shown, walked, success, path)
        else:  # where a start was chosen, its path is of interest
            write(draw(shown, path=walked if seed is None else None), path)
    elif film:
        plays = [(solution, episode)]
        for k in range(1, EPISODES if seed is not None else 1):
            other = solution_of(solution.agent, (seed or 0) + k)
            plays.append((other, other.play(None, (seed or 0) + k)))
        pages = [page for play in plays for page in _pages(*play)]
        write_gif(pages, _palette(solution, pages[0][0]), path)
    else:
        end = "nothing" if episode.goal < 0 else solution.task.space.goal_names[episode.goal]
        note = f"collects {end}, return {episode.total:.1f}, optimum {episode.optimum:.1f}"
        shown = map_of(solution, note)
        write(draw_game(shown, layout.image, layout.pixels, walked, success), path)


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


def _pages(solution: Solution, episode: Episode) -> Iterator[tuple[Image.Image, int]]:
    """An episode of a game: each picture, and for how many milliseconds."""
    mdp = solution.task.space.mdp
    text = str(solution.agent.expression)
    places = episode.cells(solution).astype(np.float64)
    yield _page(_board(solution, places[0]), text), LOOK
    for i, (here, there) in enumerate(pairwise(places), start=1):
        if (here != there).any():
            for k in range(1, BETWEEN + 1):
                yield _page(_board(solution, here + (there - here) * k / BETWEEN), text), MOVE
        goal = int(mdp.goal_of_state[episode.states[i]])
        if goal >= 0:
            yield _page(_board(solution, there, goal), text), SHOW
            return
        if (here == there).all():
            yield _page(_board(solution, there), text), BETWEEN * MOVE


def _board(solution: Solution, place: Array, goal: int = -1) -> Image.Image:
    """The game with the agent at a place, or in a goal."""
    env, layout = solution.agent.skills.env, solution.layout
    assert env is not None and layout is not None
    row, column = place.tolist()
    drawn = env.film_frame(layout, (row, column), goal)
    if drawn is None:
        raise Failure("this world has no pictures for a film; save a .png")
    board = Image.fromarray(drawn)
    share = SIDE / max(board.size)
    size = (round(board.width * share), round(board.height * share))
    return board.resize(size, Image.Resampling.LANCZOS)


def _page(board: Image.Image, title: str) -> Image.Image:
    """A picture with words above it."""
    page = Image.new("RGB", (board.width, BAND + board.height), PAPER)
    page.paste(board, (0, BAND))
    words = ImageDraw.Draw(page)
    for text, height, colour, size in ((title, 17, INK, 19), (BELOW, 36, GREY, 12)):
        font = ImageFont.load_default(size)
        words.text((board.width / 2, height), text, colour, font, anchor="mm")
    return page


def _palette(solution: Solution, page: Image.Image) -> Image.Image:
    """One set of colours for the whole film, so that what stands still does not flicker.

    Half of them are those of a page; the others are of goals, which are shown large, so that none
    of their colours is lost.
    """
    n_goals = solution.task.space.n_goals
    ends = [_board(solution, np.zeros(2), goal) for goal in range(n_goals)]
    sheet = Image.new("RGB", (ends[0].width, ends[0].height * n_goals))
    for i, end in enumerate(ends):
        sheet.paste(end, (0, i * end.height))
    half = COLOURS // 2
    parts = (
        page.quantize(half, method=Image.Quantize.MEDIANCUT),
        sheet.quantize(half, method=Image.Quantize.MAXCOVERAGE),
    )
    palette = Image.new("P", (1, 1))
    palette.putpalette([c for part in parts for c in (part.getpalette() or [])[: 3 * half]])
    return palette
