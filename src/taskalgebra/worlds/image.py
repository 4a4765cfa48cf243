"""Worlds from pictures: dark pixels are walls, colours are goals.

    world = from_image("campus.png", legend={"#ff0000": "library", "#0000ff": "door"})

One pixel is one cell, with the semantics of `worlds.grid`.  A pixel is a wall if its luminance

    Y = 0.299 R + 0.587 G + 0.114 B

is below the threshold, half of the brightest by default.  A transparent pixel is as bright as the
white paper behind it.

A colour of the legend is a goal, however dark it is.  Pixels of that colour that touch, also at a
corner, are one spot, and one spot is one goal: all its pixels are free, and the goal is on the one
nearest to its middle.  If there are several spots, their goals are numbered from the top left:
"door 1", "door 2".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra import files
from taskalgebra.arrays import Array, BoolArray, Image, IntArray
from taskalgebra.compiled import kernel
from taskalgebra.extras import missing
from taskalgebra.validation import count, instance, listed, share
from taskalgebra.worlds.finite import FiniteMDP
from taskalgebra.worlds.grid import Cell, from_free

MOST_PIXELS = 2**26
"""Of a picture; a world of more cells does not fit in memory."""
LUMINANCE = (0.299, 0.587, 0.114)
"""Of red, green and blue (ITU-R BT.601)."""
PAINTS = {
    "#ff0000": "red",
    "#00ff00": "green",
    "#0000ff": "blue",
    "#ffff00": "yellow",
    "#ff00ff": "magenta",
    "#00ffff": "cyan",
}
"""The pure colours, which are goals where no legend is given."""
SUFFIXES = (
    ".bmp",
    ".gif",
    ".jpeg",
    ".jpg",
    ".pbm",
    ".pgm",
    ".png",
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
)
"""Of files that are pictures."""
Spots = dict[str, Cell | Sequence[Cell]]


def from_image(
    image: str | Path | ArrayLike,
    goals: Mapping[str, Cell | Sequence[Cell]] | None = None,
    *,
    legend: Mapping[str, str] | None = None,
    threshold: float = 0.5,
    tolerance: int = 0,
    step_reward: float = -0.1,
    slip_probability: float = 0.0,
    starts: Sequence[Cell] | None = None,
    touch: bool = False,
    torus: bool = False,
) -> FiniteMDP:
    """Make a world from a picture, one cell per pixel.

    Args:
        image: a file of any format that Pillow reads, such as PNG; or an array: `[H, W]` truth
            values, true for free cells; `[H, W]` greys, `[H, W, 3]` colours or `[H, W, 4]` with
            opacity, as whole numbers up to 255 or as floating-point numbers up to 1.
        goals: by name, with (row, column) of their pixels, counted from 0 at the top left; as for
            `from_text`.
        legend: colours that are goals, `{"#ff0000": "library"}`: each spot of the colour is one.
            By default those of `PAINTS` that the picture has, by their names; {} for none.
        threshold: of the luminance, from 0 (no walls) to 1, below which a pixel is a wall.
        tolerance: by how much red, green and blue may each differ from a colour of the legend, for
            pictures that were compressed or smoothed.
        step_reward: r_{s,a}, the same everywhere.
        slip_probability: of a move in one of the other three directions instead.
        starts: cells in which episodes begin; by default every free cell with a way to a goal.
        touch: whether goals are taken by moving onto their cells, rather than by `stay`.
        torus: whether the map has no edge: who leaves it on one side enters on the other.

    Raises:
        ValueError: the file or the array is no picture, or has no goal of the legend.
        ModuleNotFoundError: reading a file needs Pillow (the extra `images`).
    """
    pixels = _read(image) if isinstance(image, str | Path) else _pixels(np.asarray(image))
    brightest = 255.0 * share(threshold, "threshold")
    free = _luminance(pixels) >= brightest - 1e-9
    most = count(tolerance, "tolerance", least=0, most=255)
    spots = _spots(pixels, free, legend, most)
    if not (goals or spots):
        raise ValueError(
            "the picture has no goal; paint one in a pure colour such as red, #ff0000, name other "
            "colours, legend={'#8b4513': 'door'}, or pixels, goals={'name': (row, column)}"
        )
    for name in instance(goals or {}, Mapping, "goals"):  # type: ignore[type-abstract]
        if name in spots:
            raise ValueError(f"goal {name!r} is a colour of the picture and is given again")
    return from_free(
        free,
        {**spots, **(goals or {})},
        step_reward=step_reward,
        slip_probability=slip_probability,
        starts=starts,
        touch=touch,
        torus=torus,
    )


def _read(path: str | Path) -> Image:
    """The pixels of a file, `[H, W, 3]`, on white paper."""
    at = files.at(path)
    if not at.is_file():
        what = "is a directory" if at.is_dir() else "does not exist"
        raise ValueError(f"{path} {what}; give the path of a picture, such as a PNG")
    try:
        from PIL import Image as pillow
        from PIL import UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(missing("a world from a file", "Pillow", "images")) from error
    try:
        with pillow.open(at) as opened:
            width, height = opened.size
            if width * height > MOST_PIXELS:
                raise ValueError(f"{path}: {_too_large(width, height)}")
            if getattr(opened, "n_frames", 1) > 1:
                raise ValueError(
                    f"{path} has {opened.n_frames} frames, expected one picture; save the one you "
                    f"mean"
                )
            if opened.mode.startswith(("I", "F")):
                raise ValueError(
                    f"{path} has pixels of mode {opened.mode!r}, expected 8 bits per colour; save "
                    f"it so"
                )
            found: Image = np.asarray(opened.convert("RGBA"))
    except (UnidentifiedImageError, pillow.DecompressionBombError) as error:
        raise ValueError(f"{path} is no picture that can be read: {error}") from None
    except (OSError, SyntaxError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    return _pixels(found)


def _too_large(width: int, height: int) -> str:
    return (
        f"the picture has {width:,} × {height:,} pixels, and {MOST_PIXELS:,} are the most; scale "
        f"it down"
    )


def _pixels(given: NDArray[Any]) -> Image:
    """An array as `[H, W, 3]` whole numbers up to 255, on white paper."""
    fits = given.ndim == 2 or (given.ndim == 3 and given.shape[2] in (3, 4))
    if not fits or not given.size:
        raise ValueError(
            f"the picture has shape {given.shape}, expected [H, W], [H, W, 3] or [H, W, 4]"
        )
    if given.shape[0] * given.shape[1] > MOST_PIXELS:
        raise ValueError(_too_large(given.shape[1], given.shape[0]))
    if given.dtype == np.bool_:
        given = given.astype(np.uint8) * 255
    if given.dtype.kind == "f":
        if not ((given >= 0) & (given <= 1)).all():
            raise ValueError(
                "a picture of floating-point numbers has them from 0 to 1; for numbers up to 255 "
                "give whole ones: image.astype(numpy.uint8)"
            )
        given = np.rint(given * 255).astype(np.uint8)
    if given.dtype.kind not in "iu":
        raise ValueError(f"the picture holds {given.dtype}, expected numbers or truth values")
    if given.dtype != np.uint8:
        if given.min() < 0 or given.max() > 255:
            raise ValueError(
                f"the picture holds numbers from {given.min()} to {given.max()}, expected 0 to 255"
            )
        given = given.astype(np.uint8)
    if given.ndim == 2:
        return np.repeat(given[:, :, None], 3, axis=2)
    if given.shape[2] == 4:
        opacity = given[:, :, 3:]
        if (opacity < 255).any():
            part = opacity / np.float32(255)
            return np.rint(given[:, :, :3] * part + 255 * (1 - part)).astype(np.uint8)
    return given[:, :, :3]


def _luminance(pixels: Image) -> Array:
    red, green, blue = LUMINANCE
    found: Array = red * pixels[:, :, 0] + green * pixels[:, :, 1] + blue * pixels[:, :, 2]
    return found


def _spots(
    pixels: Image, free: BoolArray, legend: Mapping[str, str] | None, tolerance: int
) -> Spots:
    """The goals of the legend by name; their pixels are marked as free."""
    found: Spots = {}
    taken: dict[str, BoolArray] = {}
    asked = PAINTS if legend is None else instance(legend, Mapping, "legend")  # type: ignore[type-abstract]
    for colour, name in asked.items():
        wanted = _colour(colour)
        if not isinstance(name, str) or not name:
            raise ValueError(f"the legend says {name!r} for {colour!r}, expected a goal's name")
        if name in found:
            raise ValueError(f"the legend has two colours for {name!r}; give each a name")
        alike = np.ones(free.shape, np.bool_)
        for channel, value in enumerate(wanted):
            part = pixels[:, :, channel]
            alike &= (part >= max(0, value - tolerance)) & (part <= min(255, value + tolerance))
        if not alike.any():
            if legend is None:
                continue
            raise ValueError(
                f"no pixel has the colour {colour} of {name!r}; the picture has "
                f"{_common(pixels)}; give one of these, or a tolerance"
            )
        for other, pixels_of in taken.items():
            if (alike & pixels_of).any():
                raise ValueError(
                    f"some pixels are as near to {colour} as to {other}; lower the tolerance"
                )
        taken[colour] = alike
        free |= alike
        cells = _middles(*_components(alike))
        found[name] = cells[0] if len(cells) == 1 else cells
    return found


def _colour(text: object) -> tuple[int, int, int]:
    digits = text.removeprefix("#") if isinstance(text, str) else ""
    try:
        if len(digits) == 6 and digits.isalnum():
            return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    except ValueError:
        pass
    raise ValueError(f"the colour {text!r} is none; write it as in '#ff0000', which is red")


def _common(pixels: Image) -> str:
    """The most frequent colours of a picture, in words."""
    red, green, blue = (pixels[:, :, i].astype(np.uint32) for i in range(3))
    codes, counts = np.unique((red << 16) | (green << 8) | blue, return_counts=True)
    most = codes[np.argsort(-counts, kind="stable")[:6]]
    more = f" and {len(codes) - 6:,} more" if len(codes) > 6 else ""
    return listed([f"#{code:06x}" for code in most]) + more


@kernel
def _components(alike: BoolArray) -> tuple[IntArray, IntArray]:
    """Row and column of each marked pixel, `[N, 2]`, spot by spot; and where each spot begins."""
    rows, columns = alike.shape
    n = 0
    for r in range(rows):
        for c in range(columns):
            n += alike[r, c]
    found = np.empty((n, 2), np.int32)
    begins = np.empty(n + 1, np.int32)
    met = np.zeros(alike.shape, np.bool_)
    tail, n_spots = 0, 0
    for r in range(rows):
        for c in range(columns):
            if not alike[r, c] or met[r, c]:
                continue
            begins[n_spots] = head = tail
            n_spots += 1
            met[r, c] = True
            found[tail, 0], found[tail, 1] = r, c
            tail += 1
            while head < tail:
                here_r, here_c = found[head, 0], found[head, 1]
                head += 1
                for near_r in range(max(0, here_r - 1), min(rows, here_r + 2)):
                    for near_c in range(max(0, here_c - 1), min(columns, here_c + 2)):
                        if alike[near_r, near_c] and not met[near_r, near_c]:
                            met[near_r, near_c] = True
                            found[tail, 0], found[tail, 1] = near_r, near_c
                            tail += 1
    begins[n_spots] = tail
    return found, begins[: n_spots + 1].copy()


def _middles(cells: IntArray, begins: IntArray) -> list[Cell]:
    """The pixel of each spot that is nearest to its middle."""
    middles = []
    for first, last in pairwise(begins.tolist()):
        spot = cells[first:last]
        distance = ((spot - spot.mean(axis=0)) ** 2).sum(axis=1)
        row, column = min(spot[distance <= distance.min() + 1e-9].tolist())
        middles.append((row, column))
    return middles
