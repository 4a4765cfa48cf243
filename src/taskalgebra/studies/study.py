"""What a study is: frozen records that travel to wherever a cell of it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from taskalgebra.learning.few_steps.learner import FewSteps
from taskalgebra.learning.hindsight import Hindsight
from taskalgebra.learning.planned import Planner
from taskalgebra.learning.q_learning import Settings
from taskalgebra.learning.tabular import QLearning

SETTINGS = ("learning_rate", "epsilon", "discount")
LEARNERS = {
    "planner": ("r_bar_min", "tolerance"),
    "q-learning": ("steps", "episodes", "r_bar_min", *SETTINGS),
    "few-steps": ("max_steps", "patience", "r_bar_min"),
    "hindsight": ("steps", "r_bar_min", *SETTINGS),
}
"""The kinds of learners, and the settings of each."""
_CLASSES = {
    "planner": Planner,
    "q-learning": QLearning,
    "few-steps": FewSteps,
    "hindsight": Hindsight,
}


@final
@dataclass(frozen=True)
class World:
    """A world by its name or its map, and how it is set."""

    name: str
    """Of `taskalgebra list worlds`, or of the file of the map."""
    map: str = ""
    """The text of the map, where it is one."""
    slip: float = 0.0
    """The probability that a move slips."""
    goal_reward: str | None = None
    """What a desired goal pays, in words; "auto" makes every goal worth the way."""
    touch: bool = False
    """Whether goals of a map are taken by walking onto them."""
    base: tuple[str, ...] = ()
    """The base tasks, each `NAME` or `NAME=GOAL,GOAL`; by default those of the world."""
    title: str = ""
    """What the table calls it."""


@final
@dataclass(frozen=True)
class LearnerOf:
    """A learner by its kind and its settings."""

    kind: str
    given: tuple[tuple[str, float], ...] = ()
    title: str = ""
    """What the table calls it."""

    def make(self) -> Planner | QLearning | FewSteps | Hindsight:
        """The learner.

        Raises:
            ValueError: a setting makes no sense.
        """
        own = dict(self.given)
        settings = {name: own.pop(name) for name in SETTINGS if name in own}
        if settings:
            own["settings"] = Settings(**settings)  # type: ignore[assignment]
        made: Planner | QLearning | FewSteps | Hindsight = _CLASSES[self.kind](**own)
        return made


@final
@dataclass(frozen=True)
class Study:
    """Worlds × learners × seeds; each learns the base tasks once, and is played on all tasks."""

    worlds: tuple[World, ...]
    learners: tuple[LearnerOf, ...]
    tasks: tuple[str, ...]
    """Expressions over the base tasks."""
    seeds: int = 10
    """How often each learner learns in each world."""
    episodes: int = 1000
    """Episodes to play of each task."""
    seed: int = 0
    """Of all random numbers."""

    def learnings(self) -> Iterator[Learning]:
        """The cells, in the order of the table."""
        for world in self.worlds:
            for learner in self.learners:
                whole = Learning(world, learner, self.tasks, self.episodes, self.seed)
                yield from (replace(whole, number=number) for number in range(self.seeds))


@final
@dataclass(frozen=True)
class Learning:
    """One cell of a study: a learner in a world, with one seed."""

    world: World
    learner: LearnerOf
    tasks: tuple[str, ...]
    episodes: int
    seed: int
    number: int = 0

    def __str__(self) -> str:
        """The name of the cell."""
        return f"{self.world.title}, {self.learner.title}, seed {self.number}"
