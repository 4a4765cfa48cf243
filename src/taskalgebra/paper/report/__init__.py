"""One page for the whole paper: figures, claims, verdicts, deviations; made from results alone.

`write` reads the files of a reproduction and writes a single, self-contained HTML file: it needs no
network, no scripts, no fonts.

- `paper`: PAPER.md, which holds the index and the deviations
- `tables`: results as rows
- `markup`: escaped HTML from plain values
- `page`: puts them together
"""

from __future__ import annotations

from taskalgebra.paper.report.page import write

__all__ = ["write"]
