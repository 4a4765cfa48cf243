"""A window to watch a game; the only module that needs pygame."""

from __future__ import annotations

from typing import Any

import numpy as np

from taskalgebra.arrays import Image
from taskalgebra.extras import hint


class Window:
    """Shows one image after the other; it opens with the first.

    Args:
        title: of the window.
        fps: the most images per second; `show` waits accordingly.

    Raises:
        ImportError: pygame is not installed.
    """

    def __init__(self, title: str, fps: int) -> None:
        """Import pygame; nothing is opened yet."""
        try:
            import pygame
        except ImportError:
            raise ImportError(
                'render_mode="human" opens a window with pygame, which is not installed; install '
                f'it with {hint("window")}, or use render_mode="rgb_array"'
            ) from None
        self._pygame = pygame
        self._title, self._fps = title, fps
        self._clock = pygame.time.Clock()
        self._screen: Any = None

    def show(self, image: Image) -> None:
        """Put an image into the window, and wait until it is time for the next."""
        pygame = self._pygame
        if self._screen is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen = pygame.display.set_mode((image.shape[1], image.shape[0]))
        pygame.event.pump()  # or the program seems not to respond
        pygame.surfarray.blit_array(self._screen, np.swapaxes(image, 0, 1))
        pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close the window; a later image opens it again."""
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None
