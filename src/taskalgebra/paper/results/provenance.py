"""How long each part of a reproduction took, on what machine, with which versions.

Results do not depend on these and do not hold them: equal results are equal files.  They are
kept beside the results in `provenance.json`, one entry per part, as long as its result.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from taskalgebra import files

FILE = "provenance.json"
PACKAGES = ("taskalgebra", "numpy", "numba", "gymnasium", "matplotlib", "torch")


@dataclass(frozen=True)
class Made:
    """How a part was made."""

    seconds: float
    cpu_seconds: float  # of all threads together
    machine: str
    versions: dict[str, str]


def note(
    directory: Path, part: str, seconds: float, cpu_seconds: float, further: Sequence[str] = ()
) -> Made:
    """Record that a part was made here and now; `further` packages have their versions noted."""
    made = Made(round(seconds, 2), round(cpu_seconds, 2), machine(), versions(further))
    entries = {**load(directory), part: made}
    text = json.dumps({name: asdict(entry) for name, entry in entries.items()}, indent=2)
    directory.mkdir(parents=True, exist_ok=True)
    files.replace(directory / FILE, f"{text}\n".encode())
    return made


def load(directory: Path) -> dict[str, Made]:
    """What is known about each part; nothing if the file cannot be read."""
    try:
        content = json.loads(files.read(directory / FILE))
        return {str(part): Made(**fields) for part, fields in content.items()}
    except (OSError, AttributeError, TypeError, ValueError, RecursionError):
        return {}


def machine() -> str:
    """The processor, the number of cores, and the system."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line[:10] == "model name"]
        name = next(iter(models), name)
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def versions(further: Sequence[str] = ()) -> dict[str, str]:
    """Of Python and of the packages that results depend on, as far as they are installed."""
    found = {"python": platform.python_version()}
    for package in (*PACKAGES, *further):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
