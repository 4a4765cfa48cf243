"""The results that are shipped: complete, at the paper's scale, and what the code computes."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taskalgebra.paper.catalogue import PICTURES, QUESTIONS
from taskalgebra.paper.claims import verdicts
from taskalgebra.paper.experiments import suite
from taskalgebra.paper.figures import samples
from taskalgebra.paper.figures.boxes import box_statistics
from taskalgebra.paper.results.record import Table, as_json, load

EXPERIMENTS = {name: e for name, e in suite.EXPERIMENTS.items() if e.half == suite.TABULAR}
DRAWN = [name for name, picture in PICTURES.items() if set(picture.needs) <= set(EXPERIMENTS)]
SHIPPED = Path(__file__).parents[3] / "results" / "tabular"

SMALLER = {  # the same rows as at full scale, but fewer of them
    "samples": {"runs": 2},
    "forty_goals": {"runs": 1},
    "efficient": {"runs": 1},
    "optimal_sixteen": {"seeds": 2},
    "optimal_forty": {"tasks": 10},
    "relaxed": {"runs": 1, "evaluation_episodes": 1667},  # 100,000 episodes among 60 runs
}


@pytest.fixture(scope="module")
def results():
    return {name: load(name, SHIPPED) for name in EXPERIMENTS}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_shipped_results_have_the_paper_s_configuration(results, name):
    assert results[name].config == as_json(EXPERIMENTS[name].config())


def assert_same(one: Table, other: Table) -> None:
    assert list(one) == list(other)
    for name in one:
        if one[name].dtype.kind == "f":
            assert np.allclose(one[name], other[name], rtol=0, atol=1e-9), name
        else:
            assert np.array_equal(one[name], other[name]), name


@pytest.mark.parametrize("name", ["rewards", "layout", "composition", "n_tasks", "algorithm"])
def test_small_results_are_computed_anew_in_full(results, name):
    again = EXPERIMENTS[name].module.run(EXPERIMENTS[name].config())
    for table in again.tables:
        assert_same(again.tables[table], results[name].tables[table])


@pytest.mark.parametrize("name", SMALLER)
def test_the_first_runs_are_computed_anew(results, name):
    config = replace(EXPERIMENTS[name].config(), **SMALLER[name])
    again = EXPERIMENTS[name].module.run(config)
    table = f"{name}_runs" if name == "relaxed" else name
    shipped, new = results[name].tables[table], again.tables[table]
    if name == "optimal_forty":
        shipped = Table({column: shipped[column][:10] for column in shipped})
    elif name == "optimal_sixteen":
        shipped = Table({c: shipped[c][shipped["seed"] < 2] for c in shipped})
    else:
        last = int(new["run"].max())
        shipped = Table({c: shipped[c][shipped["run"] <= last] for c in shipped})
    assert_same(new, shipped)


def test_the_first_run_with_slips_is_learned_anew(results):
    config = replace(
        EXPERIMENTS["slips"].config(), slip_probabilities=(0.0,), runs=1, evaluation_episodes=10
    )
    again = EXPERIMENTS["slips"].module.run(config).tables["slips_runs"]
    shipped = results["slips"].tables["slips_runs"].where(variant="slip 0", run=0)
    columns = ("learning_steps", "trapped_tables", "optimal_tasks")
    assert_same(
        Table({c: again[c] for c in columns}),
        Table({c: shipped[c] for c in columns}),
    )


@pytest.mark.parametrize("name", ["relaxed", "slips"])
def test_counts_means_and_rates_tell_one_story(results, name):
    summary, returns = results[name].table, results[name].tables[f"{name}_returns"]
    runs, episodes = (results[name].config[key] for key in ("runs", "evaluation_episodes"))
    single = results[name].tables[f"{name}_runs"]
    episodes = runs * math.ceil(episodes / runs)
    for row in summary.rows():
        lost = single.where(variant=row["variant"])[row["task"]]
        assert lost.size == runs and lost.mean() == pytest.approx(row["gap"], abs=1e-6)
        assert row["gap_low"] - 1e-9 <= row["gap"] <= row["gap_high"] + 1e-9
        assert row["failure_low"] - 1e-9 <= row["failure_rate"] <= row["failure_high"] + 1e-9
        assert row["optimal_runs"] + row["trapped_runs"] <= runs
        here = returns.where(variant=row["variant"], task=row["task"], policy="composed")
        assert here["episodes"].sum() == episodes
        mean = (here["return"] * here["episodes"]).sum() / episodes
        assert mean == pytest.approx(row["mean"])
        failed = here["episodes"][here["outcome"] != "desired goal"].sum() / episodes
        assert failed == pytest.approx(row["failure_rate"], abs=1e-12)
        best = returns.where(variant=row["variant"], task=row["task"], policy="optimal policy")
        optimum = (best["return"] * best["episodes"]).sum() / best["episodes"].sum()
        assert optimum == pytest.approx(row["optimum"], abs=0.02)
        assert row["gap"] >= -0.01


def test_shipped_claims_follow_from_shipped_results(results, tmp_path):
    verdicts.save(verdicts.answer(QUESTIONS, results), tmp_path)
    for name in ("claims.csv", "claims.json"):
        assert (tmp_path / name).read_text() == (SHIPPED / name).read_text()


def test_what_the_theory_promises_holds(results):
    verdict = {(c.where, c.claim): c.holds for c in verdicts.answer(QUESTIONS, results)}
    exact = "Supplement, Fig. 9, sparse, same absorbing set"
    for where in ("Theorem 1", "Lemma 1", "Fig. 1", "Fig. 2", "Fig. 3b", exact):
        found = [holds for (place, _), holds in verdict.items() if place == where]
        assert found and all(found), where
    theorems = results["theorems"].table
    assert not theorems["broken"][theorems["place"] != "as printed"].any()
    assert results["optimal_sixteen"].table["optimal"].all()
    assert results["optimal_sixteen"].table.n_rows == 1600
    assert results["optimal_forty"].table["optimal"].all()
    assert results["optimal_forty"].table.n_rows == 1000


@pytest.mark.parametrize("name", DRAWN)
def test_figures_draw_from_shipped_results(results, name):
    assert PICTURES[name].draw(results).axes
    assert (SHIPPED / "figures" / f"{name}.png").exists()


def test_our_learners_are_drawn_beside_the_paper_s(results):
    assert len(samples.draw(results["forty_goals"]).axes) == 1
    figure = samples.draw(results["forty_goals"], results["efficient"])
    assert len(figure.axes) == 2
    assert "not in the paper" in figure.axes[1].get_title()


def test_boxes_are_those_of_the_single_episodes():
    rng = np.random.default_rng(0)
    values = rng.normal(size=7).round(1)
    counts = rng.integers(1, 50, 7)
    box = box_statistics(values, counts)
    every = np.repeat(values, counts)
    quartiles = np.quantile(every, [0.25, 0.5, 0.75], method="inverted_cdf")
    assert [box["q1"], box["med"], box["q3"]] == quartiles.tolist()
    assert box["mean"] == pytest.approx(every.mean())
    outside = (every < box["whislo"]) | (every > box["whishi"])
    assert set(box["fliers"]) == set(every[outside])


def test_results_are_small():
    size = sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file())
    assert size < 4_000_000
