"""Run the table: make the skills of each world by the user's lines, and judge them.

Below `out/results/worlds`, each world has a result of its own, kept unless it is asked for anew;
`worlds.md` is the table of all that are there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import final

from taskalgebra import files
from taskalgebra.extras import missing
from taskalgebra.paper.results.record import Result, Table, load
from taskalgebra.progress import Event, Listener, duration, silent
from taskalgebra.showcase.record import Judged, World
from taskalgebra.validation import closest, listed

MODULES = (
    "toy_text",
    "minigrid_fixed",
    "minigrid_fetch",
    "letter_world",
    "stable_baselines",
    "control",
)
PACKAGES = {
    "box2d": "Box2D",
    "deep": "torch",
    "mazes": "gymnasium_robotics",
    "minigrid": "minigrid",
    "ogbench": "ogbench",
    "sb3": "stable_baselines3",
}
"""The package that tells whether an extra is installed."""
TABLE = "worlds.md"
QUICK = 20  # episodes at toy size
COLUMNS = tuple(field.name for field in fields(Judged))


@final
@dataclass(frozen=True)
class Shown:
    """A world that was run."""

    world: World
    judged: tuple[Judged, ...]
    seconds: float  # of the user's lines
    cpu_seconds: float
    quick: bool = False  # at toy size
    kept: bool = False

    @property
    def ok(self) -> bool:
        """Whether every expression reaches the bar, and the lines were quick enough.

        Two cores have twice as many seconds as the clock; a busy machine stops the clock for none.
        """
        world = self.world
        quick = self.cpu_seconds <= 2 * 60 * world.minutes
        return quick and all(one.ok(world.most_lost, world.most_steps) for one in self.judged)

    @property
    def worst(self) -> Judged:
        """The expression furthest below the best."""
        return min(self.judged, key=lambda one: one.success - _best(one))


def worlds() -> dict[str, World]:
    """All worlds by name, in the order of the table."""
    modules = (import_module(f"taskalgebra.showcase.{name}") for name in MODULES)
    return {world.name: world for module in modules for world in module.WORLDS}


def chosen(names: Sequence[str]) -> list[World]:
    """Worlds by name, or all.

    Raises:
        ValueError: there is no such world.
    """
    known = worlds()
    for name in names:
        if name not in known:
            raise ValueError(
                f"unknown world {name!r}; there are {listed(list(known), 40)}"
                f"{closest(name, list(known))}"
            )
    return [known[name] for name in names] or list(known.values())


def run(
    names: Sequence[str] = (),
    out: Path = Path(),
    *,
    fresh: bool = False,
    quick: bool = False,
    listener: Listener = silent,
) -> Iterator[Shown]:
    """Run worlds one after the other, and write the table.

    Raises:
        ModuleNotFoundError: a world needs an extra that is not installed.
        ValueError: there is no such world, or a result cannot be read.
    """
    picked = chosen(names)
    for world in picked:
        require_extras(f"the world {world.name}", world.extras)
    directory = out / "results" / "worlds"
    for i, world in enumerate(picked):
        listener(Event(world.title, i / len(picked)))
        shown = None if fresh else _kept(world, directory)
        if shown is None or (shown.quick and not quick):
            shown = _run(world, quick)
            _save(shown, directory)
        listener(Event(world.title, (i + 1) / len(picked), seconds=shown.seconds, kept=shown.kept))
        yield shown
    files.replace(directory / TABLE, table(directory).encode())


def require_extras(what: str, extras: Sequence[str]) -> None:
    """Refuse what needs an extra that is not installed.

    Raises:
        ModuleNotFoundError: the message says what to install.
    """
    for extra in lacking(extras):
        raise ModuleNotFoundError(missing(what, PACKAGES[extra], extra))


def lacking(extras: Sequence[str]) -> list[str]:
    """Those of some extras that are not installed."""
    return [extra for extra in extras if find_spec(PACKAGES[extra]) is None]


def _run(world: World, quick: bool) -> Shown:
    start, cpu = time.perf_counter(), time.process_time()
    skills = world.code()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    episodes = min(QUICK, world.episodes) if quick else world.episodes
    judged = tuple(world.judge(skills, episodes, 0))
    return Shown(world, judged, round(seconds, 1), round(cpu, 1), quick)


def _save(shown: Shown, directory: Path) -> None:
    world = shown.world
    config = {
        "title": world.title,
        "lines": world.n_lines,
        "seconds": shown.seconds,
        "cpu_seconds": shown.cpu_seconds,
        "bar": world.bar,
        "ok": shown.ok,
        **({"quick": True} if shown.quick else {}),
    }
    rows = Table.of_rows(COLUMNS, [astuple(one) for one in shown.judged])
    Result(world.name, config, {world.name: rows}).save(directory)


def _kept(world: World, directory: Path) -> Shown | None:
    try:
        result = load(world.name, directory)
    except FileNotFoundError:
        return None
    judged = tuple(Judged(**{str(k): v for k, v in row.items()}) for row in result.table.rows())
    config: Mapping[str, float] = result.config
    quick = bool(config.get("quick", False))
    return Shown(world, judged, config["seconds"], config["cpu_seconds"], quick, kept=True)


def table(directory: Path) -> str:
    """The table of all worlds whose results are there, as Markdown."""
    lines = [
        "| world | lines | CPU time | tasks | success | best possible | steps | fewest | bar |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for world in worlds().values():
        shown = _kept(world, directory)
        if shown is None:
            continue
        judged = shown.judged
        lines.append(
            f"| {world.title} | {world.n_lines} | {duration(shown.cpu_seconds)} | {len(judged)} | "
            f"{_range([one.success for one in judged], 100, ' %')} | "
            f"{_range([one.best for one in judged], 100, ' %')} | "
            f"{_range([one.steps for one in judged])} | "
            f"{_range([one.best_steps for one in judged])} | "
            f"{'ok' if shown.ok else 'short'} |"
        )
    return "\n".join(lines) + "\n"


def _best(one: Judged) -> float:
    return 1.0 if math.isnan(one.best) else one.best


def _range(numbers: Sequence[float], scale: float = 1.0, unit: str = "") -> str:
    """From the lowest to the highest, in short; nothing where none is known."""
    known = [scale * number for number in numbers if not math.isnan(number)]
    if not known:
        return ""
    low, high = (f"{end:.1f}".removesuffix(".0") for end in (min(known), max(known)))
    return f"{low if low == high else f'{low}–{high}'}{unit}"
