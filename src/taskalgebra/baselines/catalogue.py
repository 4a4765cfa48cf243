"""All baselines; the package's docstring compares them."""

from __future__ import annotations

from taskalgebra.baselines.extended import ExtendedValues
from taskalgebra.baselines.features import FeaturesOfGoals, FeaturesOfTasks
from taskalgebra.baselines.interface import Baseline
from taskalgebra.baselines.plain import AverageOfTasks, FromScratch, MaxOfGoals, MaxOfTasks

ALL: tuple[type[Baseline], ...] = (
    ExtendedValues,
    MaxOfTasks,
    MaxOfGoals,
    AverageOfTasks,
    FromScratch,
    FeaturesOfTasks,
    FeaturesOfGoals,
)
"""Every baseline, ours first."""
