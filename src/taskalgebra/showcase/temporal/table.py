"""The tables of the report, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from taskalgebra.progress import duration
from taskalgebra.showcase.temporal.record import (
    AT_OPTIMUM,
    Measured,
    Published,
    Shown,
    Summary,
    summaries,
)


def page(parts: Sequence[Shown], published: Sequence[Published]) -> str:
    """All tables: one of the parts, one for each world, and one for each part with budgets."""
    blocks = [_parts(parts)]
    worlds = dict.fromkeys(task.world for part in parts for task in part.tasks)
    blocks += [_world(world, parts, published) for world in worlds]
    blocks += [_budgets(part) for part in parts if len({row.budget for row in part.measured}) > 1]
    return "\n\n".join(blocks) + "\n"


def _parts(parts: Sequence[Shown]) -> str:
    head = ("part", "steps of learning", "seeds", "tasks", "episodes", "at the optimum", "CPU time")
    rows = []
    for part in parts:
        tasks = part.tasks
        n_optimal = sum(one.short == 0 for one in tasks)
        rows.append(
            (
                part.entry.title,
                _range({row.learning_steps for row in part.rows}),
                len({row.seed for row in part.rows}),
                len(tasks),
                f"{sum(one.episodes for one in tasks):,}",
                f"{n_optimal} of {len(tasks)} tasks",
                duration(part.cpu_seconds),
                "ok" if part.ok else "short",
            )
        )
    return _markdown((*head, "bar"), rows)


def _world(world: str, parts: Sequence[Shown], published: Sequence[Published]) -> str:
    """Tasks of one world: the optimum, ours, and the published methods."""
    own = [(part.entry, one) for part in parts for one in part.tasks if one.world == world]
    tasks = list(dict.fromkeys(one.task for _, one in own))
    entries = list(dict.fromkeys(entry for entry, _ in own))
    others = [one for one in published if one.world == world and one.task in tasks]
    methods = list(dict.fromkeys(one.method for one in others))
    with_score = any(entry.score for entry in entries)
    rows = []
    for task in tasks:
        ours = {entry: one for entry, one in own if one.task == task}
        first = next(iter(ours.values()))
        theirs = {one.method: one for one in others if one.task == task}
        rows.append(
            [
                f"{task}: `{_code(first.formula)}`" if task.isdigit() else task,
                _figures(first.best_success, first.best_score, first.best_steps, with_score),
                *(_ours(ours.get(entry), with_score) for entry in entries),
                *(_theirs(theirs.get(method), with_score) for method in methods),
            ]
        )
    what = "success / score / steps" if with_score else "success / steps"
    titles = [entry.title.removeprefix(f"{world}, ").removeprefix("Office, ") for entry in entries]
    head = [f"{world}: {what}", "optimum", *titles, *methods]
    return _markdown(head, rows)


def _ours(one: Summary | None, with_score: bool) -> str:
    if one is None:
        return ""
    if one.verdict == AT_OPTIMUM:
        return AT_OPTIMUM
    return f"{_figures(one.success, one.score, one.steps, with_score)}, {one.verdict}"


def _theirs(one: Published | None, with_score: bool) -> str:
    return "" if one is None else _figures(one.success, one.score, one.steps, with_score)


def _budgets(part: Shown) -> str:
    """How many episodes fall short of the optimum after more and more steps of learning."""
    head = ("steps of learning", "episodes short of the optimum", "tasks", "seeds")
    rows = []
    for budget in sorted({row.budget for row in part.measured}):
        found = [row for row in part.measured if row.budget == budget]
        seeds = sorted({row.seed for row in found})
        tasks = summaries(found)
        rows.append(
            (
                f"{budget:,}",
                f"{sum(row.short for row in found):,} of {sum(row.episodes for row in found):,}",
                f"{sum(one.short == 0 for one in tasks)} of {len(tasks)} at the optimum",
                f"{sum(_optimal(found, seed) for seed in seeds)} of {len(seeds)} in all tasks",
            )
        )
    return _markdown((f"{part.entry.title}: {head[0]}", *head[1:]), rows)


def _optimal(rows: Iterable[Measured], seed: int) -> bool:
    return all(row.short == 0 for row in rows if row.seed == seed)


def _figures(success: float, score: float, steps: float, with_score: bool) -> str:
    numbers = [_success(success), *([_number(score)] if with_score else []), _number(steps)]
    return " / ".join(numbers)


def _success(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "1" if value == 1.0 else f"{value:.3f}".lstrip("0") if value else "0"


def _number(value: float) -> str:
    """With as many digits as the published figures have, or a few more."""
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.2g}"


def _range(numbers: Iterable[int]) -> str:
    low, high = min(numbers), max(numbers)
    if high == 0:
        return "none"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _code(text: str) -> str:
    return text.replace("|", "\\|")


def _markdown(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
