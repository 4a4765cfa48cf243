"""Fig. 1: rewards of two regions of a plane, their negation, union, intersection and average.

M_LEFT pays for ending left of the y-axis, M_DOWN for ending below the x-axis.  The operators are
those of Definition 1.  The average is what others use instead of ∧ (Haarnoja et al. 2018, Hunt et
al. 2019); it pays for regions that only one of the tasks desires.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskalgebra.logic.algebra import Bounds, conjunction, disjunction, negation
from taskalgebra.paper.results.record import Result, Table, as_json
from taskalgebra.sweeps.running import ALONE, Sweep
from taskalgebra.validation import count

NAME = "rewards"


@dataclass(frozen=True)
class Config:
    """Two tasks on a square around the origin."""

    r_universal: float = 1.0
    """r_U, for ending in a desired region."""
    r_empty: float = 0.0
    """r_∅, for ending anywhere else."""
    resolution: int = 20
    """Points along each side of the square, at the centres of equal cells."""


QUICK = Config()


def run(config: Config = Config(), sweep: Sweep = ALONE) -> Result:
    """Run the experiment: one row per point of the plane, one column per reward function."""
    n = count(config.resolution, "resolution")
    ticks = (np.arange(n) + 0.5) / n * 2 - 1
    x, y = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
    bounds = Bounds(np.full(x.size, config.r_universal), np.full(x.size, config.r_empty))
    left = np.where(x < 0, bounds.universal, bounds.empty)
    down = np.where(y < 0, bounds.universal, bounds.empty)
    columns = {
        "x": x,
        "y": y,
        "left": left,
        "down": down,
        "not_left": negation(left, bounds),
        "disjunction": disjunction(left, down),
        "conjunction": conjunction(left, down),
        "average": (left + down) / 2,
    }
    return Result(NAME, as_json(config), {NAME: Table(columns)})
