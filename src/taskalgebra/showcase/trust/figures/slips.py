"""What slips cost composed agents, what it takes to mend them, and how many samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from taskalgebra.arrays import Array
from taskalgebra.paper.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    legend_mark,
    new_figure,
    styled,
)
from taskalgebra.paper.results.record import Result, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST = 1e-9
"""Losses below this are nothing, which has no place on a logarithmic axis."""
WORLDS = {"Four Rooms": "-", "mazes": "--"}
LETTER, DEFAULT = "Definition 2 by the letter", "r̄$_{MIN}$ = r$_∅$"


@styled
def draw(result: Result) -> Figure:
    """Six panels: loss, worst loss and bound, rounds; sweeps, samples, and loss after learning."""
    figure = new_figure(13.0, 7.6, w_pad=0.1, h_pad=0.12)
    (mean, worst, rounds), (sweeps, steps, learned) = figure.subplots(2, 3)
    table, samples = result.table, result.tables["slips_samples"]
    _losses(mean, table)
    _worst(worst, table)
    _effort(
        rounds, table, {"rounds": ("improved", BLUE), "nothing_rounds": ("from nothing", ORANGE)}
    )
    rounds.set_title("Rounds to the optimum, Four Rooms", loc="left")
    rounds.set_ylabel("rounds: median and middle 80 %")
    names = {
        "sweeps": ("improved", BLUE),
        "nothing_sweeps": ("from nothing", ORANGE),
        "value_sweeps": ("value iteration", GREY),
    }
    _effort(sweeps, table, names)
    sweeps.set_yscale("log")
    sweeps.set_title("Sweeps to the optimum, Four Rooms", loc="left")
    sweeps.set_ylabel("sweeps: median and middle 80 %")
    _runs(
        steps,
        samples,
        {"steps": ("learning on", BLUE), "plain_steps": ("plain Q-learning", ORANGE)},
    )
    steps.set_title("Steps of learning to the same loss", loc="left")
    steps.set_ylabel("steps")
    kinds = {
        "composed_loss": ("composed", GREEN),
        "loss": ("learned on", BLUE),
        "again_loss": ("the same from nothing", ORANGE),
    }
    _runs(learned, samples, kinds)
    learned.set_title("Loss of learned values", loc="left")
    learned.set_ylabel("mean loss of return")
    return figure


def _losses(axes: Axes, table: Table) -> None:
    """Means over tasks and starts, with either penalty."""
    lines = {"letter_mean": (LETTER, ORANGE), "mean_loss": (DEFAULT, BLUE)}
    _by_world(axes, table, lines, np.mean)
    axes.set_title("What is lost on average", loc="left")
    axes.set_ylabel("mean loss of return")


def _worst(axes: Axes, table: Table) -> None:
    """The worst start of all tasks, and the largest bound."""
    lines = {
        "bound": (f"bound of {DEFAULT}", GREY),
        "letter_worst": (LETTER, ORANGE),
        "worst_loss": (DEFAULT, BLUE),
    }
    _by_world(axes, table, lines, np.max)
    axes.axhline(0.1, color=GREY, lw=0.8, ls=":", zorder=0)
    axes.text(0.0, 0.1, "one step", color=GREY, ha="left", va="bottom", fontsize=9)
    axes.set_title("From the worst start", loc="left")
    axes.set_ylabel("loss of return")


def _by_world(
    axes: Axes,
    table: Table,
    lines: dict[str, tuple[str, str]],
    of: Callable[[Array], float],
) -> None:
    for world, line in WORLDS.items():
        here = table.where(world=world)
        slips = sorted(here.distinct("slip"))
        for name, (_, colour) in lines.items():
            _line(axes, slips, [float(of(here.where(slip=s)[name])) for s in slips], line, colour)
    for label, colour in lines.values():
        axes.plot([], [], color=colour, marker="o", ms=4, lw=1.6, label=label)
    for world, line in WORLDS.items():
        axes.plot([], [], line, color=INK, lw=1.2, label=world)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend
    axes.set_xlim(-0.03, 0.95)
    axes.set_xlabel("slip; nothing is lost at 0")
    axes.grid(axis="y", color=LIGHT, lw=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", fontsize=9)


def _line(axes: Axes, x: list[float], y: list[float], line: str, colour: str) -> None:
    shown = [(slip, lost) for slip, lost in zip(x, y, strict=True) if lost > LEAST]
    axes.plot(
        [slip for slip, _ in shown],
        [lost for _, lost in shown],
        line,
        color=colour,
        marker="o",
        ms=4,
        lw=1.6,
    )


def _effort(axes: Axes, table: Table, names: dict[str, tuple[str, str]]) -> None:
    """Medians over the tasks of Four Rooms, and the middle 80 %."""
    table = table.where(world="Four Rooms")
    slips = sorted(table.distinct("slip"))
    for name, (label, colour) in names.items():
        low, middle, high = (
            [float(np.quantile(table.where(slip=slip)[name], q)) for slip in slips]
            for q in (0.1, 0.5, 0.9)
        )
        axes.fill_between(slips, low, high, color=colour, alpha=0.16, lw=0)
        axes.plot(slips, middle, color=colour, marker="o", ms=4, lw=1.6, label=label)
    axes.set_xlabel("slip")
    axes.set_xlim(-0.03, 0.95)
    axes.grid(axis="y", color=LIGHT, lw=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="best", fontsize=9)


def _runs(axes: Axes, table: Table, names: dict[str, tuple[str, str]]) -> None:
    """One mark per run, in groups by slip and episodes; a line at the median of each."""
    groups = [
        (slip, episodes)
        for slip in table.distinct("slip")
        for episodes in table.distinct("episodes")
    ]
    wide = 0.8 / len(names)
    for x, (slip, episodes) in enumerate(groups):
        rows = table.where(slip=slip, episodes=episodes)
        for i, (name, (_, colour)) in enumerate(names.items()):
            values = np.maximum(rows[name].astype(float), 1e-4)
            at = x + (i - (len(names) - 1) / 2) * wide
            jitter = _spread_out(values.size, 0.3 * wide)
            axes.scatter(at + jitter, values, s=10, color=colour, alpha=0.5, lw=0)
            middle = float(np.median(values))
            axes.plot([at - 0.4 * wide, at + 0.4 * wide], [middle] * 2, color=colour, lw=2)
    axes.set_yscale("log")
    axes.set_xticks(range(len(groups)), [f"slip {s:g}\n{n} ep." for s, n in groups], fontsize=8)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color=LIGHT, lw=0.6)
    axes.set_axisbelow(True)
    marks = [legend_mark("o", 5, colour, colour, label) for label, colour in names.values()]
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.3)  # room for the legend
    axes.legend(handles=marks, loc="upper left", fontsize=9)


def _spread_out(n: int, width: float) -> Array:
    """Shifts in a fixed order that looks random."""
    order = (np.arange(n, dtype=np.float64) * 0.618033988749895) % 1.0
    shifts: Array = (order - 0.5) * 2 * width
    return shifts
