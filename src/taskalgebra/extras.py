"""What to install where a package is missing."""

from __future__ import annotations

TORCH = "torch==2.13.0"
"""The constraint of `constraints.txt`: a small build for CPUs."""
WITH_TORCH = frozenset({"all", "bench", "deep", "docs", "sb3", "tensorboard", "test"})
"""The extras that install torch."""


def hint(extra: str) -> str:
    """The command that installs an extra."""
    if extra not in WITH_TORCH:
        return f'pip install "taskalgebra[{extra}]"'
    return (
        f'pip install "taskalgebra[{extra}]" {TORCH} (this release of torch is a small build for '
        f"CPUs; others may be gigabytes)"
    )


def missing(what: str, package: str, extra: str) -> str:
    """The message for a missing package."""
    need = "need" if what.endswith("s") else "needs"
    return f"{what} {need} {package}: {hint(extra)}"
