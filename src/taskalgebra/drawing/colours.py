"""Colours that colour-blind readers tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.arrays import Array

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"  # Okabe and Ito 2008
RED, PURPLE, SKY = "#D55E00", "#CC79A7", "#56B4E9"
_VIRIDIS = np.array(
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], np.float64
)


def viridis(levels: NDArray[Any]) -> NDArray[np.uint8]:
    """[..., 3], a colour for each level in [0, 1]: dark blue is low, yellow is high."""
    place = np.clip(levels, 0.0, 1.0) * (len(_VIRIDIS) - 1)
    i = np.minimum(place.astype(np.int64), len(_VIRIDIS) - 2)
    share = (place - i)[..., None]
    mixed: Array = _VIRIDIS[i] + share * (_VIRIDIS[i + 1] - _VIRIDIS[i])
    return mixed.astype(np.uint8)
