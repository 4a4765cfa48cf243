"""What all environments say when there is nothing to render."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium as gym


def warn_of_no_render_mode(modes: Sequence[str]) -> None:
    """Warn that `render` was called without a render mode, and name those that there are."""
    ways = " or ".join(f'render_mode="{mode}"' for mode in modes)
    gym.logger.warn(
        "render() was called without a render mode; choose one when the environment is made: "
        + ways
    )
