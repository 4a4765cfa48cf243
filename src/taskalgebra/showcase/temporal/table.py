"""The tables of the report, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from taskalgebra.progress import duration
from taskalgebra.showcase.markdown import code, markdown
from taskalgebra.showcase.temporal.record import (
    AT_OPTIMUM,
    NETWORK,
    UNKNOWN,
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
        known = [one for one in tasks if one.short >= 0 and one.episodes > 0]
        n_optimal = sum(one.short == 0 for one in known)
        shipped = part.entry.values == NETWORK and not any(row.learning_steps for row in part.rows)
        rows.append(
            (
                part.entry.title,
                "shipped" if shipped else _range({row.learning_steps for row in part.rows}),
                len({row.seed for row in part.rows}),
                len(tasks),
                _episodes(tasks),
                f"{n_optimal} of {len(known)} tasks" if known else "not known",
                duration(part.cpu_seconds),
                "ok" if part.ok else "short",
            )
        )
    return markdown((*head, "bar"), rows)


def _world(world: str, parts: Sequence[Shown], published: Sequence[Published]) -> str:
    """Tasks of one world: the optimum, ours, and the published methods."""
    own = [(part.entry, one) for part in parts for one in part.tasks if one.world == world]
    tasks = list(dict.fromkeys(one.task for _, one in own))
    entries = list(dict.fromkeys(entry for entry, _ in own))
    others = [one for one in published if one.world == world and one.task in tasks]
    methods = list(dict.fromkeys(one.method for one in others))
    kinds = _kinds([*(one for _, one in own), *others])
    rows = []
    for task in tasks:
        ours = {entry: one for entry, one in own if one.task == task}
        first = next(iter(ours.values()))
        theirs = {one.method: one for one in others if one.task == task}
        rows.append(
            [
                f"{task}: `{code(first.formula)}`" if task.isdigit() else code(task),
                _best(first, kinds),
                *(_ours(ours.get(entry), first, kinds) for entry in entries),
                *(_theirs(theirs.get(method), kinds) for method in methods),
            ]
        )
    titles = [entry.title.partition(", ")[2] or entry.title for entry in entries]
    head = [f"{world}: {' / '.join(kinds)}", "optimum", *titles, *methods]
    return markdown(head, rows)


def _kinds(rows: Iterable[Summary | Published]) -> list[str]:
    """The figures that some row has."""
    every = ("success", "score", "steps")
    found = list(rows)
    return [kind for kind in every if not all(math.isnan(getattr(one, kind)) for one in found)]


def _best(one: Summary, kinds: Sequence[str]) -> str:
    """The optimum, or what stands for it."""
    shown = _figures(one, kinds, "best_")
    return f"{shown} ({one.bound})" if one.bound else shown


def _ours(one: Summary | None, first: Summary, kinds: Sequence[str]) -> str:
    """Figures and verdict; figures that are those of the optimum beside it are not repeated."""
    if one is None:
        return ""
    said = [] if one.verdict == UNKNOWN else [one.verdict]
    if one.verdict != AT_OPTIMUM or not math.isclose(one.best_steps, first.best_steps):
        said.insert(0, _figures(one, kinds))
    if one.refused:
        said.append(f"{one.refused} of {one.refused + one.episodes} refused")
    return ", ".join(said)


def _theirs(one: Published | None, kinds: Sequence[str]) -> str:
    return "" if one is None else _figures(one, kinds)


def _episodes(tasks: Sequence[Summary]) -> str:
    """How many were played, and how many were refused."""
    played, refused = (sum(getattr(one, n) for one in tasks) for n in ("episodes", "refused"))
    return f"{played:,}, {refused:,} refused" if refused else f"{played:,}"


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
    return markdown((f"{part.entry.title}: {head[0]}", *head[1:]), rows)


def _optimal(rows: Iterable[Measured], seed: int) -> bool:
    return all(row.short == 0 for row in rows if row.seed == seed)


def _figures(one: Summary | Published, kinds: Sequence[str], prefix: str = "") -> str:
    known = [(kind, float(getattr(one, prefix + kind))) for kind in kinds]
    numbers = [_success(x) if kind == "success" else _number(x) for kind, x in known]
    while numbers and numbers[-1] == "–":
        numbers.pop()
    return " / ".join(numbers) or "not known"


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
