"""A picture of the report: steps, or where none are published scores, beside the optimum.

Drawn from results alone; it needs matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from taskalgebra.paper.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    new_figure,
    styled,
)
from taskalgebra.showcase.temporal.record import Published, Shown, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS = (BLUE, SKY, GREEN)
THEIRS = (ORANGE, RED, PURPLE)
MARKS = "oDs"
SHIFT = 0.16  # between marks, which would hide each other

Line = tuple[str, dict[str, float]]
"""A method, and its figure for each task."""


@final
@dataclass(frozen=True)
class Panel:
    """What is shown of one world."""

    world: str
    what: str
    tasks: list[str]
    best: dict[str, float]
    ours: list[Line]
    theirs: list[Line]
    bounds: dict[str, str]  # what is drawn as the optimum, where it is not


@styled
def draw(parts: Sequence[Shown], published: Sequence[Published]) -> Figure:
    """One panel for each world that has published figures."""
    names = dict.fromkeys(one.world for part in parts for one in part.tasks)
    found = [panel for name in names if (panel := _panel(name, parts, published))]
    heights = [len(panel.tasks) + 1.5 for panel in found]
    figure = new_figure(8.5, 0.55 * sum(heights) + 0.3, h_pad=0.1)
    if found:
        grid = figure.subplots(len(found), 1, squeeze=False, height_ratios=heights)
        for axes, panel in zip(grid[:, 0], found, strict=True):
            _draw(axes, panel)
    return figure


def _panel(world: str, parts: Sequence[Shown], published: Sequence[Published]) -> Panel | None:
    """The figures of a world; None if nothing is published."""
    own = [(part.entry, one) for part in parts for one in part.tasks if one.world == world]
    others = [one for one in published if one.world == world]
    reported = {one.task for one in others}
    tasks = [task for task in dict.fromkeys(one.task for _, one in own) if task in reported]
    if not tasks:
        return None
    by_steps = not all(math.isnan(one.steps) for one in others)
    entries = list(dict.fromkeys(entry for entry, _ in own))
    name = "steps" if by_steps else "score"
    best = {one.task: float(getattr(one, f"best_{name}")) for _, one in reversed(own)}

    def line(rows: Iterable[Summary | Published]) -> dict[str, float]:
        shown = {one.task: float(getattr(one, name)) for one in rows if one.task in tasks}
        return shown if by_steps else {task: value / best[task] for task, value in shown.items()}

    methods = dict.fromkeys(one.method for one in others)
    return Panel(
        world,
        "mean steps of episodes that succeed"
        if by_steps
        else f"{entries[0].score}, as a share of the optimum",
        tasks,
        best if by_steps else dict.fromkeys(tasks, 1.0),
        [(e.title.partition(", ")[2], line(one for f, one in own if f is e)) for e in entries],
        [(method, line(one for one in others if one.method == method)) for method in methods],
        {one.task: one.bound for _, one in own if one.bound},
    )


def _draw(axes: Axes, panel: Panel) -> None:
    """One row for each task: the optimum as a line, methods as marks."""
    for y, task in enumerate(panel.tasks):
        axes.axhline(y, color=LIGHT, lw=0.8, zorder=0)
        if not math.isnan(panel.best[task]):
            label = "optimum" if y == 0 else None
            axes.plot([panel.best[task]] * 2, [y - 0.38, y + 0.38], color=INK, lw=2, label=label)
    middle = (len(panel.ours) - 1) / 2
    for i, (method, found) in enumerate(panel.ours):
        _marks(axes, panel, method, found, MARKS[i % 3], OURS[i % 3], SHIFT * (i - middle))
    for i, (method, found) in enumerate(panel.theirs):
        shift = SHIFT * (i - (len(panel.theirs) - 1) / 2) / 2
        _marks(axes, panel, method, found, MARKS[i % 3], THEIRS[i % 3], shift)
    names = [f"{task}\n({of})" if (of := panel.bounds.get(task)) else task for task in panel.tasks]
    axes.set_yticks(range(len(panel.tasks)), names)
    axes.set_ylim(len(panel.tasks) - 0.4, -0.6)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]) if _below_zero(panel) else 0.0)
    axes.set_xlabel(panel.what)
    axes.set_title(panel.world, loc="left")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=GREY)


def _marks(
    axes: Axes,
    panel: Panel,
    method: str,
    found: dict[str, float],
    mark: str,
    colour: str,
    shift: float,
) -> None:
    shown = [(found[task], y + shift) for y, task in enumerate(panel.tasks) if task in found]
    axes.scatter(
        [x for x, _ in shown],
        [y for _, y in shown],
        s=34,
        marker=mark,
        facecolor=colour if colour in OURS else "white",
        edgecolor=colour,
        linewidth=1.4,
        label=method,
        zorder=3,
    )


def _below_zero(panel: Panel) -> bool:
    return any(value < 0 for _, found in (*panel.ours, *panel.theirs) for value in found.values())
