"""Results as rows of words: what the page shows beside its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from taskalgebra.paper.report.markup import Markup, table, tag
from taskalgebra.paper.results.labels import FIXED, PRINTED, RANDOM, TOUCH
from taskalgebra.paper.results.provenance import Made
from taskalgebra.paper.results.record import Result, load

SETTINGS = {FIXED: "figure-6", RANDOM: "random-objects", TOUCH: "figure-14"}
"""The setting of Boxman: the section that shows its returns."""


ITEMS = {
    "Theorem 1": "tasks obey the laws of a Boolean algebra",
    "Definition 3": "planned extended values are those of value iteration",
    "Lemma 1": "values are the largest extended ones over goals",
    "Lemma 2": "the best way to a goal is the same for all tasks",
    "Corollary 1": "so is its return",
    "Theorem 2": "extended values obey the laws of a Boolean algebra",
    "Theorem 3": "¬, ∨, ∧ and xor of values are the values of ¬, ∨, ∧ and xor",
    "Corollary 2": "all 16 expressions over two base tasks are planned and composed alike",
}


def theorems(result: Result) -> Markup:
    """How many equations were tried, and how many hold."""
    places = sorted(result.table.distinct("place"), key=lambda place: place == PRINTED)
    rows = []
    for item, words in ITEMS.items():
        found = {row["place"]: row for row in result.table.where(item=item).rows()}
        counts = [
            f"{found[p]['equations'] - found[p]['broken']:,} of {found[p]['equations']:,}"
            if p in found
            else "–"
            for p in places
        ]
        rows.append((item, words, *counts))
    return table(
        ("item", "what is compared", *places),
        rows,
        caption="Equations that hold, of those tried on exact tables",
        numbers=range(2, 2 + len(places)),
    )


def returns(result: Result, setting: str) -> Markup:
    """What each task earned, beside the optimum."""
    found = result.table.where(setting=setting).rows()
    exact = any(row["score_of_exact"] < 1 for row in found)
    rows = [
        (
            row["task"],
            f"{row['mean']:.3f}",
            _interval(row["mean_low"], row["mean_high"], 3),
            f"{row['optimum']:.3f}",
            *([f"{row['exact_composition']:.3f}"] if exact else []),
            f"{100 * row['success']:.1f} %",
            f"{row['optimal_episodes']:,} of {row['episodes']:,}",
        )
        for row in found
    ]
    columns = (
        "task",
        "mean return",
        "95 % interval",
        "optimum",
        *(["exact composition"] if exact else []),
        "success",
        "optimal episodes",
    )
    return table(
        columns,
        rows,
        caption="Returns of composed networks",
        numbers=range(1, len(columns)),
    )


def _interval(low: float, high: float, digits: int) -> str:
    return "exact" if low == high else f"{low:.{digits}f} to {high:.{digits}f}"


def baselines(result: Result) -> Markup:
    """The algebra beside what others do, over all 16 tasks of Four Rooms."""
    rows = []
    for method in result.table.distinct("method"):
        all_rows = result.table.where(method=method)
        told = all_rows.where(expressible=1)
        optimal = int((told["optimal_runs"] == told["runs"]).sum())
        ties = 100 * float(told["random_ties_failure_rate"].mean())
        rows.append(
            (
                method,
                f"{all_rows['n_tables'][0]}",
                f"{all_rows['n_entries'][0]:,}",
                f"{all_rows['samples'][0]:,.0f}",
                f"{told.n_rows} of {all_rows.n_rows}",
                f"{optimal}",
                f"{100 * told['failure_rate'].mean():.1f} %",
                f"{ties:.1f} %",
                f"{told['worst_gap'].max() + 0.0:.2f}",
            )
        )
    columns = (
        "method",
        "tables",
        "numbers",
        "samples",
        "tasks it can express",
        "of these optimal",
        "failures",
        "failures, ties at random",
        "worst loss",
    )
    return table(
        columns,
        rows,
        caption=f"Methods on the 16 tasks of Four Rooms, {result.config['runs']} runs",
        numbers=range(1, len(columns)),
        class_="dense",
    )


def networks(directory: Path) -> list[Markup]:
    """Seeds of trainings and undone changes, where they were measured."""
    tables = []
    for name, title in (
        ("boxman_seeds", "The fast preset, trained anew with several seeds"),
        ("boxman_paper_seeds", "The paper's own network"),
    ):
        if (result := _maybe(name, directory)) is not None:
            rows = [
                (
                    f"{row['seed']}",
                    f"{row['updates']:,}",
                    f"{row['seconds']:,.0f} s",
                    f"{row['five_worst_score']:.4f}",
                    "–" if math.isnan(row["all_worst_score"]) else f"{row['all_worst_score']:.4f}",
                )
                for row in result.table.rows()
            ]
            columns = ("seed", "gradient steps", "time", "worst of 5 tasks", "worst of 63 tasks")
            tables.append(table(columns, rows, caption=title, numbers=range(1, 5)))
    if (result := _maybe("boxman_paper_changes", directory)) is not None:
        undone = [
            (row["undone"], f"{row['last_score']:.2f}", f"{row['best_score']:.2f}")
            for row in result.table.rows()
        ]
        tables.append(
            table(
                ("change undone", "last score", "best score"),
                undone,
                caption="The paper's network with single changes of ours undone, task blue",
                numbers=(1, 2),
            )
        )
    return tables


def _maybe(name: str, directory: Path) -> Result | None:
    try:
        return load(name, directory)
    except FileNotFoundError:
        return None


def times(title: str, results: Mapping[str, Result], made: Mapping[str, Made]) -> Markup:
    """How long each part took, and with which configuration."""
    rows = []
    for name in [*results, "figures"]:
        entry = made.get(name)
        config = results[name].config if name in results else {}
        words = ", ".join(
            f"{key} {_short(value)}" for key, value in config.items() if key != "skills"
        )
        rows.append(
            (
                name,
                f"{entry.seconds:.1f} s" if entry else "not recorded",
                f"{entry.cpu_seconds:.1f} s" if entry else "",
                words,
            )
        )
    total = [made[name] for name in [*results, "figures"] if name in made]
    rows.append(
        (
            tag("strong", "together"),
            f"{sum(entry.seconds for entry in total):.1f} s",
            f"{sum(entry.cpu_seconds for entry in total):.1f} s",
            "",
        )
    )
    return table(
        ("part", "time", "CPU time", "configuration"),
        rows,
        caption=title,
        numbers=(1, 2),
        class_="stacks labels",
    )


def _short(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)
