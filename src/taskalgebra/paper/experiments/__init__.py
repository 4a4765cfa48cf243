"""The paper's experiments, one protocol per file: `Config` (frozen) and `run(config) -> Result`.

The defaults of a `Config` are the paper's numbers; `QUICK` is the same protocol at toy size.  A
`Result` is plain tables, saved as CSV with the configuration beside it as JSON.  Figures are drawn
from results only (`taskalgebra.paper.figures`).  `suite` lists them all.
"""
