"""Keeping memory that was freed, for a server whose answers are hundreds of kilobytes each.

By default glibc hands blocks of that size back to the system at once, and every request waits for
the system to clear them again: of the time to solve a world of 60 × 60 cells with its slices, that
was six parts in seven.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of <malloc.h>
KEPT = 64 * 2**20


def keep_freed_memory() -> None:
    """Let malloc keep up to 64 MB; does nothing where the C library is another one."""
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    mallopt(_MMAP_THRESHOLD, KEPT // 2)  # glibc accepts up to 32 MB
    mallopt(_TRIM_THRESHOLD, KEPT)
