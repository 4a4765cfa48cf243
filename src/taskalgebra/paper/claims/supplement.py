"""What the supplement claims about Four Rooms, what was measured, and the verdicts.

Policies of a task are *identical* to optimal when they earn the optimum from every start, and *very
close* when their mean return, over starts and learnings, is at most the cost of one step, 0.1,
below the optimum.  The paper does not say what it means by "very close", nor by "very similar"
values: here their mean difference is at most a tenth of their range.

Other seeds must not turn a verdict.  It is judged for the learnings drawn again with replacement,
2,000 times, and stands where 95 % of these agree; else the claim holds in part, and it is said that
it is undecided.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.paper.claims.verdicts import CLOSE, Claim, Verdict, judged
from taskalgebra.paper.results.labels import CORRECTED, PRINTED
from taskalgebra.paper.results.record import Result, Table
from taskalgebra.paper.results.resampling import FEWEST, LEVEL, interval, resampled_means

EXACT = 1e-9
TRAP = (
    " Few learnings lose most: at a constant learning rate values keep moving by more than a step "
    "costs, and where STAY comes out best, the agent never leaves."
)
MOST_NAMED = 3
"""Of the tasks that are far from optimal, how many are named; the figure shows them all."""
N_TABLES = 4
"""Tables that are learned in a run: two base tasks and the bounds."""
SIMILAR = 0.1
"""Values are similar when their mean difference is at most this share of their range."""


def algorithm(result: Result) -> Iterator[Claim]:
    """Fig. 7: both updates at the end of learning."""
    last = int(result.table["episode"].max(initial=0))
    found = {(row["update"], row["episode"]): row["largest_error"] for row in result.table.rows()}
    errors = defaultdict(lambda: math.nan, found)
    episodes = result.table.distinct("episode") or [0]
    middle = min(episodes, key=lambda episode: abs(episode - last / 2))
    exact = {update: errors[update, last] <= EXACT for update in (PRINTED, CORRECTED)}
    grows = errors[PRINTED, last] > errors[PRINTED, middle]
    yield judged(
        "Supplement, Fig. 7 (Algorithm 1)",
        "Goal-oriented Q-learning learns extended value functions.",
        f"largest |Q̄ − Q̄*| after {middle} and {last} episodes: as printed "
        f"{errors[PRINTED, middle]:,.0f} and {errors[PRINTED, last]:,.0f}; with one term added "
        f"{errors[CORRECTED, middle]:.1g} and {errors[CORRECTED, last]:.1g}",
        Verdict.HOLDS if exact[PRINTED] else Verdict.PART if exact[CORRECTED] else Verdict.FAILS,
        f"As printed {'it diverges' if grows else 'its values are not exact'}: where an episode "
        f"ends in another goal, δ ← r̄_MIN lacks − Q(s, g, a). With that term it learns the exact "
        f"values."
        if exact[CORRECTED]
        else "The values are not exact when learning ends, with either update.",
    )


def dense_composition(result: Result) -> Iterator[Claim]:
    """Fig. 8: values and policies with dense rewards."""
    table = result.table
    panels = table.distinct("panel")
    sparse, dense = (
        np.stack([_by_cell(table.where(rewards=kind, panel=panel)) for panel in panels])
        for kind in ("sparse", "dense")
    )
    difference, width = np.abs(sparse - dense), float(np.ptp(sparse))
    alike = difference.mean(axis=1) <= SIMILAR * width
    rows = {
        row["panel"]: row
        for row in result.tables["composition_errors"].rows()
        if row["rewards"] == "dense"
    }
    lost = np.array([rows[panel]["optimal_starts"] < rows[panel]["starts"] for panel in panels])
    named = [
        f"{panel} in {rows[panel]['starts'] - rows[panel]['optimal_starts']} of "
        f"{rows[panel]['starts']} cells"
        for panel, loses in zip(panels, lost, strict=True)
        if loses
    ]
    n = len(panels)
    yield judged(
        "Supplement, Fig. 8",
        "With dense rewards the value functions are very similar to those of the sparse setting.",
        f"|V_dense − V_sparse| is {difference.mean():.2f} on average and at most "
        f"{difference.max():.2f}, of a range of {width:.1f}; policies that are not optimal: "
        f"{' and '.join(named) or 'none'}",
        Verdict.of(int(alike.sum()), n),
        f"In {n - alike.sum()} of {n} panels the values differ by more than a tenth of their "
        f"range.",
    )


def _by_cell(rows: Table) -> Array:
    """The values of one panel, cell by cell."""
    values: Array = rows["v"][np.lexsort((rows["column"], rows["row"]))]
    return values


@dataclass(frozen=True)
class _Closeness:
    """How close the composed policies of one variant are to optimal."""

    variant: str
    rows: Table  # one per task
    gaps: Array  # [runs, tasks]
    low: Array  # [tasks], the ends of the interval of the mean gap
    high: Array
    trapped_tables: float  # share of the learned tables in which the agent stands still somewhere
    trapped_loss: float  # share of all that is lost, in the runs with such tables

    @property
    def identical(self) -> BoolArray:
        """[tasks], whether all runs are optimal."""
        same: BoolArray = self.rows["optimal_runs"] == self.rows["runs"]
        return same

    @property
    def close(self) -> BoolArray:
        """[tasks], whether the mean is surely within one step, or identical."""
        close: BoolArray = self.identical | (self.high <= CLOSE)
        return close

    @property
    def far(self) -> BoolArray:
        """[tasks], whether the mean is surely not within one step."""
        far: BoolArray = self.low > CLOSE
        return far

    @property
    def measured(self) -> str:
        """In words, with 95 % intervals of what is lost."""
        same, near, doubt = self.identical, self.close & ~self.identical, ~self.close & ~self.far
        words = f"{same.sum()} of {self.rows.n_rows} tasks identical, {near.sum()} within one step"
        rows = self.rows.rows()
        for what, tasks in (("in doubt", doubt), ("far", self.far)):
            worst = sorted(np.flatnonzero(tasks), key=lambda t: -self.gaps[:, t].mean())
            named = [
                f"{rows[t]['task']} (loses {self.low[t]:.2f} to {self.high[t]:.2f} of "
                f"{rows[t]['optimum']:.2f}"
                + (f", {_share(rows[t]['failure_rate'])} fail)" if rows[t]["failure_rate"] else ")")
                for t in worst[:MOST_NAMED]
            ]
            if len(worst) > MOST_NAMED:
                named.append(f"and {len(worst) - MOST_NAMED} more that lose less")
            words += f"; {what}: {', '.join(named)}" if named else ""
        return f"{words}; {len(self.gaps)} learnings"

    def verdict(self, rule: Callable[[int, int], Verdict]) -> tuple[Verdict, str]:
        """What a rule of good tasks and all tasks says for other seeds too; why it is undecided."""
        n = self.rows.n_rows
        good = (self.identical | (resampled_means(self.gaps) <= CLOSE)).sum(axis=1)
        found = Counter(rule(int(k), n) for k in good)
        (verdict, times), *_ = found.most_common()
        if len(self.gaps) < FEWEST:
            return Verdict.PART, f" Undecided: {len(self.gaps)} learnings are too few to tell."
        if times < LEVEL * good.size:
            return Verdict.PART, (
                f" Undecided: with other seeds {good.min()} to {good.max()} of {n} tasks would be."
            )
        return verdict, ""


def _closeness(result: Result) -> Iterator[_Closeness]:
    """Each variant of a box plot."""
    runs = result.tables[f"{result.name}_runs"]
    for variant in result.table.distinct("variant"):
        rows, here = result.table.where(variant=variant), runs.where(variant=variant)
        gaps = np.stack([here[task] for task in rows["task"].tolist()], axis=1)
        trapped = here["trapped_tables"]
        lost = gaps[trapped > 0].sum() / max(gaps.sum(), EXACT)
        yield _Closeness(
            variant, rows, gaps, *interval(gaps), float(trapped.mean()) / N_TABLES, float(lost)
        )


def _majority(good: int, total: int) -> Verdict:
    return Verdict.HOLDS if 2 * good > total else Verdict.FAILS


def relaxed(result: Result) -> Iterator[Claim]:
    """Fig. 9: each variant of the assumptions."""
    for one in _closeness(result):
        exact, n = one.variant == "sparse, same", one.rows.n_rows
        same = int(one.identical.sum())
        verdict, doubt = (Verdict.of(same, n), "") if exact else one.verdict(_majority)
        yield judged(
            f"Supplement, Fig. 9, {one.variant} absorbing set",
            "Extended values learned in the theoretically optimal manner are indeed optimal."
            if exact
            else "For the majority of the tasks, policies are identical or very close to optimal.",
            one.measured,
            verdict,
            f"{same if exact else one.close.sum()} of {n} tasks are.{doubt}",
        )


def slips(result: Result) -> Iterator[Claim]:
    """Fig. 10: each slip probability."""
    for one in _closeness(result):
        verdict, doubt = one.verdict(Verdict.of)
        n, others = one.rows.n_rows, ~one.close
        worst = float(one.rows["failure_rate"][others].max(initial=0.0))
        trap = TRAP if one.trapped_loss > 0.5 else ""
        yield judged(
            f"Supplement, Fig. 10, {one.variant}",
            "Composed policies are identical or very close to optimal.",
            f"{one.measured}; by single learnings, {_share(float((one.gaps <= CLOSE).mean()))} of "
            f"{one.gaps.size} policies are within one step; in {_share(one.trapped_tables)} of the "
            f"learned tables STAY is a trap somewhere, and their runs carry "
            f"{_share(one.trapped_loss)} of the loss",
            verdict,
            f"{one.close.sum()} of {n} tasks surely are, {one.far.sum()} surely not; of those that "
            f"are not surely, the worst fails in {_share(worst)} of the episodes.{trap}{doubt}",
        )


def _share(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def table_1(layout: Result) -> Iterator[Claim]:
    """Table 1: what the labels of four goals are."""
    goals = layout.tables["layout_4_goals"]
    desired = {
        name: {g for g, one in zip(goals["goal"].tolist(), goals[name], strict=True) if one}
        for name in ("top", "left")
    }
    yield judged(
        "Supplement, Table 1 and Fig. 16",
        "Labels for four goals give the base tasks x₁ = {top-right, top-left} and x₂ = "
        "{bottom-left, top-left}.",
        "; ".join(f"{name} = {{{', '.join(sorted(s))}}}" for name, s in desired.items()),
        desired == {"top": {"top_left", "top_right"}, "left": {"top_left", "bottom_left"}},
        "The base tasks are others.",
    )
