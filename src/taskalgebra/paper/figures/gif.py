"""Films as GIF files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from PIL import Image

from taskalgebra import files

Film = list[tuple[Image.Image, int]]  # pictures, and for how many milliseconds
BETWEEN = 3  # pictures from one cell to the next
MOVE, LOOK = 50, 500  # milliseconds: a picture of a move, and before the start


def between(here: NDArray[Any], there: NDArray[Any]) -> list[tuple[NDArray[Any], int]]:
    """The places of an agent on a step, and for how long each is shown; or one, if it stays."""
    if (here == there).all():
        return [(there, BETWEEN * MOVE)]
    return [(here + (there - here) * k / BETWEEN, MOVE) for k in range(1, BETWEEN + 1)]


def write_gif(film: Film, palette: Image.Image, path: Path) -> None:
    """Write a film that starts again at its end, in the colours of a palette."""
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in film]
    out = io.BytesIO()
    frames[0].save(
        out,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=[duration for _, duration in film],
        loop=0,
        optimize=False,
        disposal=1,
    )
    files.replace(path, out.getvalue())
