"""Fig. 3b: how many tasks can be solved from K learned ones.

With disjunction alone 2^K − 1, one for every non-empty subset of the learned tasks.  With the whole
algebra 2^(2^K), one for every Boolean function of them.  For small K both are also counted, by
composing goal sets until nothing new appears.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import and_, or_

from taskalgebra.paper.results.record import Result
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.theory.base_tasks import minimal_labels
from taskalgebra.validation import count

NAME = "n_tasks"
NOT_COUNTED = -1


@dataclass(frozen=True)
class Config:
    """Evaluate two formulas, and count where counting is possible."""

    most_learned: int = 6
    """The largest number K of learned tasks."""
    most_counted: int = 4
    """Up to this K the tasks are also counted one by one; at 4 there are 65,536."""


QUICK = Config(most_counted=3)


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row per number of learned tasks; −1 where not counted."""
    rows = []
    for k in range(1, count(config.most_learned, "most_learned") + 1):
        counted = NOT_COUNTED, NOT_COUNTED
        if k <= config.most_counted:
            counted = _n_disjunctions(k), _n_compositions(k)
        rows.append((k, float(2**k - 1), float(2 ** (2**k)), *counted))
        if sweep.progress is not None:
            sweep.progress(k / config.most_learned)
    names = ("learned", "disjunction", "algebra", "disjunction_counted", "algebra_counted")
    return Result.of_rows(NAME, config, names, rows)


def _base_sets(k: int) -> list[int]:
    """K base tasks that tell 2^K goals apart, each as a set of goals in the bits of a number."""
    labels = minimal_labels(2**k)
    return [sum(1 << g for g in range(2**k) if labels[g, j]) for j in range(k)]


def _n_disjunctions(k: int) -> int:
    """The different unions of one or more base tasks."""
    return len(_closure(set(_base_sets(k)), or_))


def _n_compositions(k: int) -> int:
    """The different sums of products of the base tasks and their complements."""
    everything, base = (1 << 2**k) - 1, _base_sets(k)
    literals = {*base, *(everything & ~goals for goals in base)}
    return len(_closure(_closure(literals, and_), or_))


def _closure(some: set[int], operation: Callable[[int, int], int]) -> set[int]:
    """What results from some sets by applying an operation repeatedly."""
    found, new = set(some), set(some)
    while new:
        new = {operation(goals, other) for goals in new for other in some} - found
        found |= new
    return found
