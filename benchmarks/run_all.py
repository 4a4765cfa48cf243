"""Run every benchmark, each in a process of its own; exit 1 if any bar falls short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = (
    "planning",
    "big_worlds",
    "stochastic_worlds",
    "scaling",
    "algebra",
    "expressions",
    "temporal",
    "learning",
    "boxman",
    "imports",
    "playground",
)


def main() -> None:
    """Run them one after the other, so that they do not disturb each other."""
    failed = []
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nshort: {', '.join(failed)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
