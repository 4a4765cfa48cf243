"""The experiment on streams of tasks: its data, its picture, and claims that can fail."""

from dataclasses import replace

import numpy as np
import pytest

from taskalgebra.paper.results.record import Result, Table, load
from taskalgebra.showcase.trust import lifelong
from taskalgebra.showcase.trust.figures.lifelong import draw

TINY = replace(lifelong.QUICK, tasks=12, streams=1, learning_steps=40_000, n_desired=(20,))


@pytest.fixture(scope="module")
def result():
    return lifelong.run(TINY)


def changed(result, **columns):
    table = result.table
    return Result(
        result.name,
        result.config,
        {result.name: Table({**{name: table[name] for name in table}, **columns})},
    )


def verdicts(result):
    return [claim.holds for claim in lifelong.judge(result)]


def test_the_data_say_what_was_learned(result, tmp_path):
    table = result.table
    assert table.n_rows == 12 * sum(1 for _ in lifelong.streams(TINY))
    for part in lifelong.streams(TINY):
        rows = table.where(
            values=part.values, slip=part.slip, penalty=part.penalty, base_task=part.base_task
        )
        assert rows["seen"].tolist() == list(range(1, 13))
        assert (np.diff(rows["n_learned"], prepend=0) == 1 - rows["composed"]).all()
        assert (rows["steps"] > 0).any() == (part.values == lifelong.LEARNED)
    result.save(tmp_path)
    assert load(lifelong.NAME, tmp_path) == result


def test_what_holds_holds(result):
    bounds, optimal, _, slips = verdicts(result)
    assert bounds and optimal and slips


def test_each_claim_can_fail(result):
    table = result.table
    rows = np.arange(table.n_rows)
    learned = table["n_learned"]
    assert not verdicts(changed(result, n_learned=np.where(rows == 0, 41, learned)))[0]
    few = np.where(table["n_labels"] == 40, 5, learned)
    assert not verdicts(changed(result, n_learned=few))[0]
    assert not verdicts(changed(result, n_labels=np.full(rows.size, 39)))[0]
    calm = np.flatnonzero((table["slip"] == 0) & (table["composed"] == 1))
    lost = table["most_lost"].copy()
    lost[calm[0]] = 1e-3
    assert not verdicts(changed(result, most_lost=lost))[1]
    assert not verdicts(changed(result, composed=np.zeros(rows.size, np.int64)))[1]
    useful = table["base_task"] == lifelong.USEFUL
    assert verdicts(changed(result, n_learned=np.where(useful, 7, 9)))[2]
    assert not verdicts(changed(result, n_learned=np.where(useful, 9, 9)))[2]
    assert not verdicts(changed(result, mean_loss=np.full(rows.size, 0.2)))[3]
    assert not verdicts(changed(result, slip=np.zeros(rows.size)))[3]


def test_the_picture_shows_both_bounds(result):
    figure = draw(result)
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "|G| = 40" in words and "⌈log₂ 40⌉ = 6" in words
