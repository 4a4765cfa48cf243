"""Run the attacks: `python tests/attack/run.py [NAME ...] [--at ci|full] [--size N] [--seed N]`.

One line per attack; exit 1 when something broke.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attack.harness import CI, FULL, NAMES, run


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description="Attack taskalgebra.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--at", choices=[CI, FULL], default=FULL, help="which of the two sizes")
    parser.add_argument("--size", type=int, help="another size")
    parser.add_argument("--seed", type=int, help="repeat an attack; a fresh one by default")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no attack {unknown[0]!r}; there are {', '.join(NAMES)}")
    broken = False
    for name in given.names or NAMES:
        report = run(name, given.size, given.seed, given.at)
        print(report, flush=True)
        broken |= bool(report.broken)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
