"""The most of everything that is counted: beyond, a number is a mistake and is refused."""

from __future__ import annotations

MOST = 10**12
"""Of steps and the like: days of work, and far from where 64-bit counters end."""
MOST_STATES = 2**31
"""Of a world: their numbers are kept in 32 bits."""
MOST_OUTCOMES = 2**32 - 1
"""Of a world: searches count them in 32 bits."""
MOST_EPISODES = 10_000_000
"""Of one evaluation; the standard error is then far below what matters."""
MOST_COPIES = 10**6
"""Copies of an environment that are played at once."""
MOST_SEED = 2**64 - 1
"""So that the streams of tables and tasks, which have seeds next to it, stay within 64 bits."""
MOST_THREADS = 1024
