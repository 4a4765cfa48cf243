"""Type aliases of arrays; shapes are given where they are used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int32]
"""Numbers of states, goals and actions, as they are kept."""
IndexArray = NDArray[np.uint32]
"""Positions in other arrays, in graphs."""
LongArray = NDArray[np.int64]
"""Numbers of states, goals and actions, as they are returned, and of steps and outcomes."""
Image = NDArray[np.uint8]  # [H, W, 3]
Observations = NDArray[Any]  # [B, ...]
