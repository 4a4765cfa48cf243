"""The names of engines: a command that lists them need not import one."""

from __future__ import annotations

SERIAL, PROCESSES, RAY = "serial", "processes", "ray"
ENGINES = (SERIAL, PROCESSES, RAY)
