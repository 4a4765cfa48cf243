"""Images as PNG files, with numpy and zlib alone."""

from __future__ import annotations

from struct import pack
from zlib import compress, crc32

import numpy as np

from taskalgebra.arrays import Image

_COLOUR_TYPES = {3: 2, 4: 6}  # RGB and RGBA


def png(image: Image) -> bytes:
    """An image `[H, W, 3]`, or `[H, W, 4]` with opacity, as a PNG file."""
    height, width, channels = image.shape
    unfiltered = np.zeros((height, 1 + channels * width), np.uint8)
    unfiltered[:, 1:] = image.reshape(height, channels * width)
    header = pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", compress(unfiltered.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))
        for kind, data in chunks
    )
