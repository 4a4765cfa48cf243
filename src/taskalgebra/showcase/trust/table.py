"""The page of the report, as Markdown: verdicts and tables of every part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from taskalgebra.paper.claims.verdicts import Claim
from taskalgebra.paper.results.record import Column, Result, Table
from taskalgebra.showcase.markdown import code, markdown

TINY = 5e-10
ALT = {
    "slips": "Loss, rounds, sweeps and samples of all 16 tasks over the slip probability.",
    "noise": "Loss and largest error of composed agents over the depth of the expression.",
    "lifelong": "Tasks learned over tasks seen, between the two bounds; and what slips cost.",
}


def page(
    results: Mapping[str, Result],
    claims: Mapping[str, Sequence[Claim]],
    titles: Mapping[str, str],
    pictures: Collection[str],
) -> str:
    """All parts: tables, claims, and the picture if there is one."""
    blocks = []
    for name, result in results.items():
        blocks += [f"## {titles[name]}", *TABLES[name](result), _claims(claims[name])]
        if name in pictures:
            blocks.append(f"![{ALT[name]}](figures/{name}.png)")
    return "\n\n".join(blocks) + "\n"


def _claims(claims: Sequence[Claim]) -> str:
    rows = []
    for claim in claims:
        measured = f"{claim.measured}. {claim.reason}" if claim.reason else claim.measured
        rows.append((code(claim.claim), code(measured), f"**{claim.verdict}**"))
    return markdown(("claim", "measured", "verdict"), rows)


def _lakes(result: Result) -> list[str]:
    table, limited = result.table, result.tables["lakes_within_limit"]
    rows = []
    for world in table.distinct("world"):
        here = table.where(world=world)
        own = here.where(task="gift")
        if not own.n_rows:
            rows.append((world, f"{here.n_rows} agents", *_figures(here)))
            continue
        for task in here.distinct("task"):
            some = here.where(task=task)
            rows.append((world, f"`{code(task)}`", *_figures(some)))
    head = (
        *("world", "task", "loss by the letter: mean", "worst", "loss: mean", "worst"),
        *("bound", "may never end", "rounds", "sweeps", "sweeps from nothing", "loss after"),
    )
    shares = ("possible", "letter", "composed", "improved", "planned", "planned_improved")
    within = [
        (
            world,
            f"`{code(task)}`",
            *(_share(some[name]) for name in shares),
            _range(some["planned_loss"]),
            _range(some["planned_after"]),
        )
        for world in limited.distinct("world")
        for task in limited.distinct("task")
        if (some := limited.where(world=world, task=task)).n_rows
    ]
    titles = (
        *("success within 100 steps", "task", "best possible", "by the letter", "composed"),
        *("improved", "for 100 steps", "for 100 steps, improved", "loss for 100 steps"),
        "loss after",
    )
    return [markdown(head, rows), markdown(titles, within)]


def _figures(rows: Table) -> tuple[str, ...]:
    return (
        _mean(rows["letter_mean"]),
        _most(rows["letter_worst"]),
        _mean(rows["mean_loss"]),
        _most(rows["worst_loss"]),
        _most(rows["bound"]),
        f"{int((rows['endless'] > 0).sum())} of {rows.n_rows}",
        _counts(rows["rounds"]),
        _median(rows["sweeps"]),
        _median(rows["nothing_sweeps"]),
        _most(rows["after"]),
    )


def _slips(result: Result) -> list[str]:
    head = (
        *("world", "slip", "agents", "optimum", "loss by the letter: mean", "worst", "loss: mean"),
        *("worst", "bound", "optimal", "rounds", "from nothing", "sweeps", "from nothing"),
        "value iteration",
    )
    rows = []
    table = result.table
    for world in table.distinct("world"):
        for slip in table.where(world=world).distinct("slip"):
            some = table.where(world=world, slip=slip)
            optimal = int((some["worst_loss"] <= TINY).sum())
            rows.append(
                (
                    world,
                    f"{slip:g}",
                    some.n_rows,
                    f"{some['optimum'].mean():.2f}",
                    _mean(some["letter_mean"]),
                    _most(some["letter_worst"]),
                    _mean(some["mean_loss"]),
                    _most(some["worst_loss"]),
                    _most(some["bound"]),
                    optimal,
                    _counts(some["rounds"]),
                    _counts(some["nothing_rounds"]),
                    _median(some["sweeps"]),
                    _median(some["nothing_sweeps"]),
                    _median(some["value_sweeps"]),
                )
            )
    return [markdown(head, rows), _samples(result.tables["slips_samples"])]


def _samples(table: Table) -> str:
    head = (
        *("learned values, slip", "episodes", "runs", "loss of the composed agent", "steps"),
        *("taken", "loss after", "loss of the same learner from nothing"),
        *("steps of plain Q-learning to the same loss", "never in 1,000,000 steps"),
    )
    rows = []
    for slip in table.distinct("slip"):
        for episodes in table.distinct("episodes"):
            some = table.where(slip=slip, episodes=episodes)
            rows.append(
                (
                    f"{slip:g}",
                    f"{episodes:,}",
                    some.n_rows,
                    _spread(some["composed_loss"]),
                    _spread(some["steps"], 0),
                    f"{int(some['kept'].sum())}",
                    _spread(some["loss"]),
                    _spread(some["again_loss"]),
                    _spread(some["plain_steps"], 0),
                    f"{int((some['plain_reached'] == 0).sum())}",
                )
            )
    return markdown(head, rows)


def _noise(result: Result) -> list[str]:
    table = result.table
    head = (
        *("noise", "bounds", "goals", "depth", "largest error / ε", "of what is allowed"),
        *("optimal starts", "starts that never end", "mean loss"),
    )
    depths = sorted(table.distinct("depth"))
    shown = sorted({depths[0], depths[len(depths) // 2], depths[-1]})
    rows = []
    for kind in table.distinct("kind"):
        for scale in table.distinct("scale"):
            for bounds in table.distinct("bounds"):
                for goals in table.distinct("goals"):
                    for depth in shown:
                        some = table.where(
                            kind=kind, scale=scale, bounds=bounds, goals=goals, depth=depth
                        )
                        rows.append(
                            (
                                f"{kind}, ε = {scale:g}",
                                bounds,
                                goals,
                                depth,
                                f"{some['error'].max() / scale:.2f}",
                                f"{some['ratio'].max():.2f}",
                                _share(some["optimal"], several=False),
                                _share(some["endless"], several=False),
                                _mean(some["mean_loss"]),
                            )
                        )
    return [markdown(head, rows)]


def _lifelong(result: Result) -> list[str]:
    table = result.table
    last = table["seen"].max(initial=0)
    head = (
        *("goals of a task", "base tasks", "learned as", "slip", "penalty", "streams"),
        *("learned", "composed", "of these optimal", "mean loss", "worst"),
    )
    rows = []
    for kind in dict.fromkeys(
        (row["n_desired"], row["values"], row["base_task"], row["slip"], row["penalty"])
        for row in table.rows()
    ):
        names = ("n_desired", "values", "base_task", "slip", "penalty")
        some = table.where(**dict(zip(names, kind, strict=True)))
        composed = some.where(composed=1)
        optimal = int((composed["most_lost"] <= 1e-9).sum())
        rows.append(
            (
                kind[0],
                kind[1],
                kind[2],
                f"{kind[3]:g}" if kind[3] else "none",
                kind[4] if kind[3] else "",
                len(some.distinct("stream")),
                f"{some.where(seen=last)['n_learned'].mean():.1f} of {last}",
                f"{composed.n_rows:,}",
                f"{optimal:,}",
                _mean(composed["mean_loss"]),
                _most(composed["most_lost"]),
            )
        )
    return [markdown(head, rows)]


TABLES: dict[str, Callable[[Result], list[str]]] = {
    "lakes": _lakes,
    "slips": _slips,
    "noise": _noise,
    "lifelong": _lifelong,
}


def _number(value: float) -> str:
    """Three decimals, or two digits of what is smaller; rounding errors are 0."""
    if abs(value) <= TINY:
        return "0"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.1g}"


def _mean(column: Column) -> str:
    return _number(float(column.mean())) if column.size else "–"


def _most(column: Column) -> str:
    return _number(float(column.max())) if column.size else "–"


def _median(column: Column) -> str:
    return f"{float(np.median(column)):.1f}".removesuffix(".0")


def _counts(column: Column) -> str:
    low, high = int(column.min()), int(column.max())
    return f"{low}" if low == high else f"{low}–{high}"


def _range(column: Column) -> str:
    low, high = _number(float(column.min())), _number(float(column.max()))
    return low if low == high else f"{low}–{high}"


def _share(column: Column, several: bool = True) -> str:
    """Per cent: the mean, and the range if there are several."""
    mean = f"{100 * float(column.mean()):.1f} %"
    if not several or column.size == 1:
        return mean
    return f"{mean} ({100 * float(column.min()):.0f}–{100 * float(column.max()):.0f})"


def _spread(column: Column, digits: int = 4) -> str:
    """The median, and from the lowest to the highest tenth."""
    low, middle, high = (f"{q:,.{digits}f}" for q in np.quantile(column, (0.1, 0.5, 0.9)))
    return f"{middle} ({low}–{high})"
