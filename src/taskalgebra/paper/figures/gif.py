"""Films as GIF files."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from taskalgebra import files

Film = list[tuple[Image.Image, int]]  # pictures, and for how many milliseconds


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
