"""Verdicts that can fail: made-up results of Fig. 3a and 8 to 10 that must turn each claim."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.paper.claims import samples, supplement
from taskalgebra.paper.claims.verdicts import Verdict
from taskalgebra.paper.experiments import samples as samples_experiment
from taskalgebra.paper.experiments.rooms import SIXTEEN, has_trap, optimum
from taskalgebra.paper.results.labels import EXTENDED, PLAIN
from taskalgebra.paper.results.record import Result, Table, load
from taskalgebra.paper.results.resampling import interval

HOLDS, PART, FAILS = Verdict.HOLDS, Verdict.PART, Verdict.FAILS
TASKS = [str(expression) for expression in SIXTEEN]
SHIPPED = Path(__file__).parents[3] / "results" / "tabular"
JUDGES = {
    "samples": samples.samples,
    "dense_composition": supplement.dense_composition,
    "relaxed": supplement.relaxed,
    "slips": supplement.slips,
}


def fabricated_samples(cost, runs=100, noise=0.2, seed=0):
    """Samples by `cost(learner, number of the task, position)`, learned in shuffled orders."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(16) for _ in range(runs)]
    rows = [
        (
            learner,
            TASKS[order[p]],
            run,
            round(cost(learner, order[p], p) * (1 + noise * rng.uniform(-1, 1))),
            p,
        )
        for learner in (PLAIN, EXTENDED)
        for p in range(16)
        for run, order in enumerate(orders)
    ]
    columns = ("learner", "task", "run", "steps", "position")
    return Result("samples", {}, {"samples": Table.of_rows(columns, rows)})


def by_learner(plain, extended):
    return lambda learner, t, p: (plain if learner == PLAIN else extended)(t, p)


def flat(steps):
    return lambda t, p: steps


UNSTRUCTURED = np.random.default_rng(1).lognormal(sigma=1.5, size=(2, 16)) * 20_000
EQUAL = by_learner(flat(15_000), flat(50_000))


def fabricated_runs(name, gaps, *, optimal=None, trapped_tables=0):
    """The result of a box plot from `{variant: [runs, tasks] gaps}`; without a gap is optimal."""
    summary, runs = [], []
    for variant, gap in gaps.items():
        facts = {"variant": variant, "trapped_tables": trapped_tables}
        runs += [{**facts, **dict(zip(TASKS, one, strict=True))} for one in gap.tolist()]
        best = gap == 0 if optimal is None else np.broadcast_to(optimal, gap.shape)
        low, high = interval(gap)
        for t, task in enumerate(TASKS):
            named = {"variant": variant, "task": task}
            summary.append(
                {
                    **named,
                    "optimum": 1.0,
                    "mean": 1.0 - gap[:, t].mean(),
                    "gap": gap[:, t].mean(),
                    "gap_low": low[t],
                    "gap_high": high[t],
                    "failure_rate": 0.01 * (gap[:, t].mean() > 0.1),
                    "optimal_runs": int(best[:, t].sum()),
                    "runs": len(gap),
                }
            )
    tables = {name: Table.of_dicts(summary), f"{name}_runs": Table.of_dicts(runs)}
    return Result(name, {}, tables)


def losing(n_far, runs=60, near=0.05, far=0.5):
    """[runs, tasks] gaps of which the last `n_far` tasks lose."""
    rng = np.random.default_rng(2)
    gaps = np.full((runs, 16), near)
    gaps[:, 16 - n_far :] = far
    return gaps * rng.uniform(0.8, 1.2, gaps.shape)


def rarely(runs=60, tasks=9):
    """A trap in a few learnings: the mean of some tasks is about one step, by chance."""
    gaps = losing(0, runs)
    for t in range(tasks):
        gaps[np.random.default_rng(t).choice(runs, max(1, runs // 30), replace=False), t] = 1.6
    return gaps


def relaxed_result(**variants):
    same = {"sparse, same": np.zeros((60, 16))}
    return fabricated_runs("relaxed", same | {"dense, same": losing(0)} | variants)


def slips_result(gaps, **more):
    return fabricated_runs("slips", {"slip 0.3": gaps}, **more)


def fabricated_composition(shift, optimal_starts):
    """Fig. 8: dense values moved by a shift, policies optimal in so many of 10 starts, by panel."""
    v = np.linspace(0, 2, 10)
    panels = [f"panel {i}" for i in range(6)]
    cells = [
        (rewards, panel, 1, column, value + (shift[i] if rewards == "dense" else 0.0))
        for rewards in ("sparse", "dense")
        for i, panel in enumerate(panels)
        for column, value in enumerate(v)
    ]
    errors = [("dense", panel, n, 10) for panel, n in zip(panels, optimal_starts, strict=True)]
    return Result(
        "composition",
        {},
        {
            "composition": Table.of_rows(("rewards", "panel", "row", "column", "v"), cells),
            "composition_errors": Table.of_rows(
                ("rewards", "panel", "optimal_starts", "starts"), errors
            ),
        },
    )


MORE, LINEAR, FACTOR = "More samples", "Both scale linearly", "They differ only by"
EXACT, MAJORITY, CLOSE = "Extended values learned in", "For the majority", "Composed policies are"
SIMILAR = "With dense rewards the value"
CASES = [  # judge, beginning of the claim, made-up result, its verdict
    ("samples", MORE, lambda: fabricated_samples(EQUAL), HOLDS),
    ("samples", MORE, lambda: fabricated_samples(by_learner(flat(9e4), flat(9e4))), FAILS),
    ("samples", MORE, lambda: fabricated_samples(by_learner(flat(9e4), flat(5e4))), FAILS),
    (
        "samples",
        MORE,
        lambda: fabricated_samples(by_learner(flat(5e4), lambda t, p: 9e4 if t < 10 else 4e4)),
        PART,
    ),
    ("samples", LINEAR, lambda: fabricated_samples(EQUAL), HOLDS),
    (  # the tenth task learned costs twice the first
        "samples",
        LINEAR,
        lambda: fabricated_samples(by_learner(flat(15_000), lambda t, p: 25_000 * (1 + p / 9))),
        FAILS,
    ),
    (  # what is learned is shared: each further task is cheaper
        "samples",
        LINEAR,
        lambda: fabricated_samples(by_learner(lambda t, p: 15_000 * 0.97**p, flat(50_000))),
        FAILS,
    ),
    (  # each task of the list costs more than the one before it
        "samples",
        LINEAR,
        lambda: fabricated_samples(by_learner(lambda t, p: 9000 * (t + 1), flat(50_000))),
        FAILS,
    ),
    (
        "samples",
        LINEAR,
        lambda: fabricated_samples(
            by_learner(lambda t, p: UNSTRUCTURED[0, t], lambda t, p: UNSTRUCTURED[1, t])
        ),
        FAILS,
    ),
    ("samples", LINEAR, lambda: fabricated_samples(EQUAL, runs=3), PART),
    ("samples", FACTOR, lambda: fabricated_samples(EQUAL), HOLDS),
    (  # costs without structure, and yet one factor
        "samples",
        FACTOR,
        lambda: fabricated_samples(
            by_learner(lambda t, p: UNSTRUCTURED[0, t], lambda t, p: 3 * UNSTRUCTURED[0, t])
        ),
        HOLDS,
    ),
    (
        "samples",
        FACTOR,
        lambda: fabricated_samples(by_learner(flat(15_000), lambda t, p: 5000 * (t + 4))),
        FAILS,
    ),
    (  # in the order of the list, sums have one factor after two tasks; single tasks do not
        "samples",
        FACTOR,
        lambda: fabricated_samples(by_learner(flat(15_000), lambda t, p: 2e4 if t % 2 else 8e4)),
        FAILS,
    ),
    (
        "samples",
        FACTOR,
        lambda: fabricated_samples(
            by_learner(flat(15_000), lambda t, p: 20_000 if t == 15 else 50_000)
        ),
        PART,
    ),
    ("dense_composition", SIMILAR, lambda: fabricated_composition([0.1] * 6, [10] * 6), HOLDS),
    ("dense_composition", SIMILAR, lambda: fabricated_composition([0.5] * 6, [10] * 6), FAILS),
    (  # the claim is about values, whatever policies lose
        "dense_composition",
        SIMILAR,
        lambda: fabricated_composition([0.0] * 6, [9] * 6),
        HOLDS,
    ),
    (
        "dense_composition",
        SIMILAR,
        lambda: fabricated_composition([0.0] * 5 + [1.0], [10] * 6),
        PART,
    ),
    ("relaxed", EXACT, relaxed_result, HOLDS),
    ("relaxed", EXACT, lambda: relaxed_result(**{"sparse, same": losing(16)}), FAILS),
    ("relaxed", EXACT, lambda: relaxed_result(**{"sparse, same": losing(0)}), FAILS),
    ("relaxed", MAJORITY, relaxed_result, HOLDS),
    ("relaxed", MAJORITY, lambda: relaxed_result(**{"dense, same": losing(7)}), HOLDS),
    ("relaxed", MAJORITY, lambda: relaxed_result(**{"dense, same": losing(8)}), FAILS),
    ("relaxed", MAJORITY, lambda: relaxed_result(**{"dense, same": rarely()}), PART),
    ("slips", CLOSE, lambda: slips_result(losing(0)), HOLDS),
    ("slips", CLOSE, lambda: slips_result(np.zeros((60, 16)), trapped_tables=4), HOLDS),
    ("slips", CLOSE, lambda: slips_result(losing(16)), FAILS),
    ("slips", CLOSE, lambda: slips_result(losing(8)), FAILS),
    ("slips", CLOSE, lambda: slips_result(losing(1)), PART),
    ("slips", CLOSE, lambda: slips_result(rarely()), PART),  # a coin toss
    ("slips", CLOSE, lambda: slips_result(losing(0, runs=5)), PART),  # too few learnings
]


def judged(judge, claim, result):
    return [c for c in JUDGES[judge](result) if c.claim.startswith(claim)]


@pytest.mark.parametrize(("judge", "claim", "fabricate", "verdict"), CASES)
def test_a_verdict_follows_from_the_result(judge, claim, fabricate, verdict):
    found = judged(judge, claim, fabricate())
    assert {c.verdict for c in found} == {verdict}, [(c.measured, c.reason) for c in found]


def test_every_claim_is_turned_both_ways():
    turned = {}
    for judge, claim, _, verdict in CASES:
        turned.setdefault((judge, claim), set()).add(verdict)
    assert all(verdicts >= {HOLDS, FAILS} for verdicts in turned.values())
    for judge, name in zip(JUDGES, ("samples", "composition", "relaxed", "slips"), strict=True):
        for claim in JUDGES[judge](load(name, SHIPPED)):
            assert any(claim.claim.startswith(text) for of, text in turned if of == judge)


def test_what_is_said_of_samples_does_not_depend_on_the_order_of_rows():
    result = load("samples", SHIPPED)
    shuffled = np.random.default_rng(0).permutation(result.table.n_rows)
    table = Table({name: column[shuffled] for name, column in result.table.items()})
    again = replace(result, tables={"samples": table})
    for one, other in zip(samples.samples(result), samples.samples(again), strict=True):
        assert one.verdict == other.verdict
        assert sorted(one.measured) == sorted(other.measured)  # exceptions may be named in turn


def test_a_trend_is_measured_in_percent_for_each_task():
    """By hand: a cost of 1 + 0.04 · (p − 7.5) relative to its mean has a slope of 4 %."""
    growing = by_learner(flat(1e6), lambda t, p: 1e6 * (1 + 0.04 * (p - 7.5)))
    (claim,) = judged("samples", LINEAR, fabricated_samples(growing, runs=400, noise=0.0))
    assert "by +0.0 to +0.0 % (regular)" in claim.measured
    assert "+4.0 to +4.0 % (extended)" in claim.measured or "+3.9 to +4." in claim.measured


def test_extremes_over_orders_are_those_of_all_permutations():
    rng = np.random.default_rng(3)
    costs, other = rng.uniform(1, 3, (2, 6))
    for n in (1, 3, 5):
        ratios = [
            other[list(order[:n])].sum() / costs[list(order[:n])].sum()
            for order in itertools.permutations(range(6))
        ]
        expected = pytest.approx((min(ratios), max(ratios)))
        assert samples._over_orders(costs, other, n) == expected


def test_each_run_learns_every_task_once_in_an_order_of_its_own():
    table = samples_experiment.run(samples_experiment.QUICK).table
    orders = {
        (learner, run): table.where(learner=learner, run=run, position=p)["task"].tolist()
        for learner in (PLAIN, EXTENDED)
        for run in range(3)
        for p in [0]
    }
    assert all(len(first) == 1 for first in orders.values())
    for run in range(3):
        plain, extended = (table.where(learner=who, run=run) for who in (PLAIN, EXTENDED))
        assert sorted(plain["task"]) == sorted(TASKS)
        assert plain["task"].tolist() == extended["task"].tolist()
        assert plain["position"].tolist() == list(range(16))
    assert len({tuple(table.where(learner=PLAIN, run=r)["task"]) for r in range(3)}) == 3


def test_intervals_are_those_of_the_normal_distribution_for_many_runs():
    values = np.random.default_rng(4).normal(3.0, 2.0, (500, 3))
    low, high = interval(values)
    width = 1.96 * values.std(axis=0) / np.sqrt(500)
    assert low == pytest.approx(values.mean(axis=0) - width, abs=0.03)
    assert high == pytest.approx(values.mean(axis=0) + width, abs=0.03)


def test_a_trap_is_a_cell_without_a_goal_that_is_never_left():
    for slip in (0.0, 0.3):
        world = FourRooms(slip_probability=slip)
        task = world.find_task("true")
        _, actions = optimum(task)
        assert not has_trap(task, actions)  # it stays on the cells of goals
        stay = world.space.mdp.action_names.index("stay")
        actions[0] = stay
        assert has_trap(task, actions)


def drawn_again(result, rng):
    """The result with as many learnings, drawn from its own with replacement."""
    name, n = f"{result.name}_runs", int(result.config["runs"])
    order = rng.integers(n, size=n)
    runs = {k: c.reshape(-1, n)[:, order].ravel() for k, c in result.tables[name].items()}
    return replace(result, tables={**result.tables, name: Table(runs)})


@pytest.mark.parametrize("name", ["relaxed", "slips"])
def test_other_seeds_would_give_the_shipped_verdicts(name):
    result, rng = load(name, SHIPPED), np.random.default_rng(5)
    shipped = [claim.verdict for claim in JUDGES[name](result)]
    resamples = 60
    again = [[c.verdict for c in JUDGES[name](drawn_again(result, rng))] for _ in range(resamples)]
    same = (np.array(again) == np.array(shipped)).mean(axis=0)
    assert (same >= 0.95).all(), same


def test_standing_still_traps_some_of_the_tables_of_a_slippery_world():
    runs = load("slips", SHIPPED).tables["slips_runs"]
    share = {
        slip: runs.where(variant=f"slip {slip}")["trapped_tables"].mean() / 4
        for slip in ("0", "0.1", "0.2", "0.3")
    }
    assert share["0"] == 0 and 0.05 < share["0.3"] < 0.15
    claims = {c.where: c for c in supplement.slips(load("slips", SHIPPED))}
    for slip, rate in share.items():
        said = f"in {100 * rate:.1f} % of the learned tables STAY is a trap"
        assert said in claims[f"Supplement, Fig. 10, slip {slip}"].measured
