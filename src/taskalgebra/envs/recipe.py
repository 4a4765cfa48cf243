"""What to train, and how: the networks that come with the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taskalgebra.learning.deep.learner import DeepQ


@dataclass(frozen=True)
class Recipe:
    """What to train: an environment, base tasks, and how."""

    tasks: tuple[str, ...]
    learner: DeepQ
    world: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    start: str | None = None  # the skills whose network to start from
    paper: DeepQ | None = None  # the paper's way to learn the same, from scratch, if there is one
