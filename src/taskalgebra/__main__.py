"""`python -m taskalgebra` is the command `taskalgebra`."""

from __future__ import annotations

import sys

from taskalgebra.apps.cli import main

if __name__ == "__main__":
    sys.exit(main())
