"""All baselines; the package's docstring compares them."""

from __future__ import annotations

from taskalgebra.baselines.extended import ExtendedValues
from taskalgebra.baselines.features import FeaturesOfGoals, FeaturesOfTasks
from taskalgebra.baselines.hindsight import HindsightGoals
from taskalgebra.baselines.interface import Baseline
from taskalgebra.baselines.linear import SumOfGoals
from taskalgebra.baselines.plain import AverageOfTasks, FromScratch, MaxOfGoals, MaxOfTasks
from taskalgebra.baselines.soft import CorrectedAverage, SoftMaxOfTasks

ALL: tuple[type[Baseline], ...] = (
    ExtendedValues,
    MaxOfTasks,
    MaxOfGoals,
    AverageOfTasks,
    FromScratch,
    FeaturesOfTasks,
    FeaturesOfGoals,
    SumOfGoals,
    SoftMaxOfTasks,
    CorrectedAverage,
    HindsightGoals,
)
"""Every baseline, ours first."""
SOFT: tuple[type[SumOfGoals | SoftMaxOfTasks | CorrectedAverage], ...] = (
    SumOfGoals,
    SoftMaxOfTasks,
    CorrectedAverage,
)
"""Those that have a temperature."""
