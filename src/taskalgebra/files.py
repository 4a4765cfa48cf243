"""Writing files so that a reader never sees a half-written one."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def replace(path: Path, data: bytes, prefix: str = "") -> None:
    """Write a file under a temporary name in the same directory, then rename it in one step."""
    temporary = path.parent / f".{prefix}{uuid.uuid4().hex}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
