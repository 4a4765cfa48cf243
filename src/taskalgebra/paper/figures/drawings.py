"""What a gallery holds: figures and films, each with the experiments that it is drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from matplotlib.figure import Figure

from taskalgebra.paper.experiments.record import Result
from taskalgebra.paper.figures import boxman_film
from taskalgebra.paper.figures.style import save

Results = Mapping[str, Result]


@dataclass(frozen=True)
class Drawing(ABC):
    """Something that can be drawn from results and written to files."""

    needs: tuple[str, ...]  # the experiments

    @abstractmethod
    def write(self, results: Results, stem: Path) -> list[Path]:
        """Draw it and write it, to files whose names begin with `stem`."""


@final
@dataclass(frozen=True)
class Still(Drawing):
    """A figure, as PNG and PDF."""

    draw: Callable[[Results], Figure]

    def write(self, results: Results, stem: Path) -> list[Path]:
        """Draw it and write both files."""
        return save(self.draw(results), stem)


@final
@dataclass(frozen=True)
class Film(Drawing):
    """Recorded episodes of a task, as GIF."""

    setting: str
    task: str

    def write(self, results: Results, stem: Path) -> list[Path]:
        """Draw all pictures and write the file."""
        path = stem.with_name(f"{stem.name}.gif")
        return [boxman_film.write(results[self.needs[0]], self.setting, self.task, path)]
