"""Exit codes of the command."""

from __future__ import annotations

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
STOPPED = "stopped"
"""What Ctrl-C says where nothing is kept."""
