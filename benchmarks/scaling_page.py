"""The tables and figures of `docs/scaling.md`, from the rows that `scaling.py` keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

from measured import RESULTS, kept
from taskalgebra import files
from taskalgebra.paper.figures import style
from taskalgebra.paper.figures.style import BLUE, GREEN, GREY, INK, LIGHT, ORANGE, PURPLE, RED
from taskalgebra.paper.results import provenance
from taskalgebra.paper.results.record import Table

OURS = "taskalgebra"
FILES = ("planning", "acting", "memory", "automata", "samples")
MEGABYTES = (100, 200, 300, 500, 1000, 2000, 5000)
LAST = 3
"""Points at the end of a curve, through which its slope is fitted."""
LOOKS = {
    OURS: (BLUE, "o"),
    "numpy value iteration": (GREY, "v"),
    "numpy, tables": (GREY, "v"),
    "scipy, dijkstra": (ORANGE, "s"),
    "scipy.sparse value iteration": (ORANGE, "s"),
    "scipy, breadth first": (RED, "D"),
    "stormpy": (RED, "D"),
    "networkit": (GREEN, "^"),
    "quantecon": (GREEN, "^"),
    "python-graphblas": (PURPLE, "P"),
    "mdpsolver": (PURPLE, "P"),
    "Q-learning, a table a goal": (GREY, "v"),
    "Algorithm 1": (ORANGE, "s"),
    "few steps": (BLUE, "o"),
    "in order": (BLUE, "o"),
    "any order": (ORANGE, "s"),
}
ORDERS = ("in order", "any order")


@dataclass(frozen=True)
class Panel:
    """One picture and one table: curves of a column of the rows over their size."""

    what: str
    title: str
    across: str
    column: str = "seconds"

    def lines(self, times, counts):
        """Sizes and figures, by the name of the curve."""
        table = counts if self.column == "count" else times
        if self.what == "automata":
            parts = {kind: table.where(what=f"automata, {kind}") for kind in ORDERS}
        else:
            of = table.where(what=self.what)
            parts = {library: of.where(library=library) for library in of.distinct("library")}
        return {name: (one["size"], one[self.column]) for name, one in parts.items()}


FIGURES = {
    "planning": (
        Panel("mazes, states", "Mazes, 16 goals", "states"),
        Panel("mazes, goals", "Mazes of 64,000 states", "goals"),
        Panel("slips, states", "Grids with slip 0.1, one goal", "states"),
        Panel("slips, goals", "Grids of 18,000 states with slip 0.1", "goals"),
    ),
    "acting": (
        Panel("acting, goals", "1,000 decisions", "goals", "cpu_seconds"),
        Panel(
            "acting, operators", "From an expression to 1,000 decisions", "operators", "cpu_seconds"
        ),
        Panel("acting, batch", "Decisions at once", "decisions", "cpu_seconds"),
    ),
    "learning": (
        Panel("memory, states", "Memory of planning mazes, 16 goals", "states", "peak_bytes"),
        Panel("memory, goals", "Memory of planning mazes of 64,000 states", "goals", "peak_bytes"),
        Panel("samples", "Samples until all values are exact", "goals", "count"),
        Panel("automata", "From a formula to its automaton", "states of the automaton"),
    ),
}
UNITS = {
    "seconds": "seconds",
    "cpu_seconds": "CPU seconds",
    "peak_bytes": "peak memory",
    "count": "environment steps",
}


def slope(sizes, figures):
    """Of log figure over log size, by least squares through the last points; None for fewer."""
    if len(sizes) < LAST:
        return None
    x, y = np.log(np.asarray(sizes[-LAST:], float)), np.log(np.asarray(figures[-LAST:], float))
    return float(np.polyfit(x, y, 1)[0])


SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def in_words(figure, column):
    """A figure with its unit, in two or three digits."""
    if column == "count":
        return f"{figure:,.0f}"
    if column == "peak_bytes":
        return f"{figure / 2**20:,.0f} MB"
    scale, unit = next((one for one in SECONDS if figure >= one[0]), SECONDS[-1])
    return f"{digits(figure / scale)} {unit}"


def digits(number):
    """Two digits, or all before the point."""
    return (
        f"{number:.2f}"
        if number < 0.995
        else f"{number:.1f}"
        if number < 9.95
        else f"{number:,.0f}"
    )


def steepness(sizes, figures):
    """The slope in words; a dash where there are too few points."""
    found = slope(sizes, figures)
    return "–" if found is None else f"{found:.2f}"


def table(panel, times, counts):
    """A table: a line for each library; how it compares with ours at its largest size."""
    lines = panel.lines(times, counts)
    sizes = sorted({int(size) for own, _ in lines.values() for size in own})
    compared = OURS in lines and len(lines) > 1
    head = ["", *(f"{size:,}" for size in sizes), "slope", *(["× ours"] if compared else [])]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    ours = dict(zip(*lines[OURS], strict=True)) if compared else {}
    for name, (own, figures) in lines.items():
        found = dict(zip(own.tolist(), figures.tolist(), strict=True))
        cells = [in_words(found[size], panel.column) if size in found else "" for size in sizes]
        last = own[-1]
        share = [digits(found[last] / ours[last])] if compared and last in ours else []
        share = ["" if name == OURS else share[0]] if share else [""] * compared
        rows.append([name, *cells, steepness(own, figures), *share])
    body = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"**{panel.title}**: {UNITS[panel.column]}, by {panel.across}\n\n{body}\n"


def text(times, counts, made):
    """All tables, with the figures before them and how they were made after them."""
    parts = []
    for name, panels in FIGURES.items():
        titles = "; ".join(panel.title for panel in panels)
        parts.append(f"![{titles}: log-log curves with their slopes](figures/{name}.png)\n")
        parts += [table(panel, times, counts) for panel in panels]
    machines = {made[name].machine for name in FILES}
    packages = {pair for name in FILES for pair in made[name].versions.items()}
    versions = ", ".join(f"{name} {number}" for name, number in sorted(packages))
    where = " and ".join(sorted(machines))
    parts.append(f"Measured on {where}, with {versions}.\n")
    return "\n".join(parts)


@style.styled
def draw(panels, times, counts):
    """Log-log curves, with names and slopes beside their ends."""
    columns = 2 if len(panels) == 4 else len(panels)
    rows = len(panels) // columns
    figure = style.new_figure(6.2 * columns, 4.3 * rows, w_pad=0.12, h_pad=0.1)
    for axes, panel in zip(np.ravel(figure.subplots(rows, columns)), panels, strict=True):
        _panel(axes, panel, panel.lines(times, counts))
    return figure


def _panel(axes, panel, lines):
    axes.set_xscale("log")
    axes.set_yscale("log")
    for name, (sizes, figures) in lines.items():
        colour, marker = LOOKS[name]
        main = name in (OURS, "few steps")
        axes.plot(
            sizes,
            figures,
            color=colour,
            marker=marker,
            ms=6,
            lw=2.4 if main else 1.5,
            zorder=3 if main else 2,
        )
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.across)
    axes.set_ylabel(UNITS[panel.column])
    axes.grid(color=LIGHT, lw=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.03, y=0.08)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=9))
        axis.set_minor_formatter(NullFormatter())
    if panel.column == "peak_bytes":
        axes.yaxis.set_major_locator(FixedLocator([2**20 * k for k in MEGABYTES]))
        axes.yaxis.set_major_formatter(lambda figure, _: in_words(figure, panel.column))
    _names(axes, lines)


def _names(axes, lines, gap=0.085):
    """Names and slopes right of the axes, as high as the ends of the curves if there is room."""
    axes.autoscale_view()
    ends = {
        name: float(
            axes.transAxes.inverted().transform(axes.transData.transform((x[-1], y[-1])))[1]
        )
        for name, (x, y) in lines.items()
    }
    names = sorted(ends, key=ends.get)
    heights = [ends[name] for name in names]
    for _ in range(200):  # neighbours push each other apart
        for i in range(len(heights) - 1):
            lack = gap - (heights[i + 1] - heights[i])
            if lack > 1e-6:
                heights[i] -= lack / 2
                heights[i + 1] += lack / 2
        low, high = min(heights[0], 0.0), max(heights[-1], 1.0)
        heights = [height - low if low < 0 else height - (high - 1.0) for height in heights]
    for name, height in zip(names, heights, strict=True):
        sizes, figures = lines[name]
        words = f"{name}  {steepness(sizes, figures)}" if len(sizes) >= LAST else name
        axes.annotate(
            words,
            (sizes[-1], figures[-1]),
            xytext=(1.05, height),
            textcoords="axes fraction",
            va="center",
            fontsize=9.5,
            color=INK,
            fontweight="bold" if name == OURS else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": LOOKS[name][0],
                "lw": 0.9,
                "alpha": 0.7,
                "relpos": (0, 0.5),
                "shrinkB": 4,
            },
        )


def rows(folder=RESULTS):
    """The rows of times, of all files together, and those of counts."""
    times = [one for name in FILES if name != "samples" for one in kept(name, folder).rows()]
    return Table.of_dicts(times), kept("samples", folder)


def write(folder=RESULTS):
    """Draw all figures and write the tables beside the rows."""
    times, counts = rows(folder)
    for name, panels in FIGURES.items():
        figure = draw(panels, times, counts)
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        style.write(figure, folder / "figures" / f"{name}.png")
    words = text(times, counts, provenance.load(folder))
    files.replace(folder / "scaling.md", words.encode())
