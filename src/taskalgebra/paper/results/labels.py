"""Words in the tables of results, by which claims and figures find their rows."""

from __future__ import annotations

TABULAR, DEEP = "tabular", "deep"
"""The halves of the paper's experiments, and their directories."""
PLAIN, EXTENDED = "Q-learning", "goal-oriented Q-learning"
"""The learners of Fig. 3."""
PRINTED, CORRECTED = "as printed", "corrected"
"""Algorithm 1, and other things that the paper prints."""
PAPER, ADDED, REMOVED = "paper", "added", "removed"
"""Kinds of rows of `efficient`: the learners of the paper, ideas added, ideas removed."""
ONE_TASK, OURS = "Q-learning, one single-goal task", "+ exploring"
"""Two of the learners of `efficient`."""
FIXED, RANDOM, TOUCH = "fixed", "random", "touch"
"""The settings of Boxman."""
COMPOSED, AGENT, OPTIMAL, EXACT = (
    "composed",
    "composed networks",
    "optimal policy",
    "exact composition",
)
"""Who acts: composed tables or networks, or one of the two they are compared with."""
