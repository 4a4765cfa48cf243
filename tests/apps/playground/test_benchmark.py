"""The benchmark measures the right thing: different questions, and failures are counted."""

from __future__ import annotations

import json

import pytest

import playground as benchmark
from report import Report
from taskalgebra.logic.formulas import parse


def test_the_expressions_differ_and_mean_many_things():
    texts = benchmark.expressions(200)
    assert len(set(texts)) == 200
    names = [f"t{k}" for k in range(benchmark.N_TASKS)]
    assert len({parse(text, names).truth_table(names) for text in texts}) > 50


def test_the_world_is_the_one_of_the_bar(client):
    world = benchmark.world(7)
    assert len(world["map"]) == len(world["map"][0]) == 60 and len(world["goals"]) == 8
    answer = client.solve(world, "t0 ^ t1 ^ t2")
    assert answer["n_tasks"]["labels"] == 8
    assert answer["values"] == answer["optimum"] != [None] * 3600


def test_the_missions_are_formulas_over_time(client, presets):
    world = presets["office"]["world"]
    for text in benchmark.MISSIONS:
        assert len(client.solve(world, text)["states"]) >= 1


def test_a_failed_request_falls_short(capsys):
    good = (200, 0.001, json.dumps({"values": [1.0]}).encode())
    report = Report()
    benchmark.measured(report, "good", [good] * 20, 250)
    assert not report.short
    benchmark.measured(report, "slow", [(200, 0.3, good[2])] * 20, 250)
    assert report.short
    with pytest.raises(SystemExit):
        report.finish()
    broken = Report()
    benchmark.measured(broken, "failed", [good, (500, 0.001, b"{}")])
    assert broken.short
