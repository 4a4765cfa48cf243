"""Every verdict can fail: fabricated results turn every claim both ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refutations import (
    ELSEWHERE,
    PAIRS,
    alter,
    asked,
    earning,
    judge_of,
    judged_from,
    keep,
    shipped,
    with_table,
)
from taskalgebra.paper.catalogue import QUESTIONS
from taskalgebra.paper.claims.verdicts import Question, Verdict, answer, judged
from taskalgebra.paper.results.labels import TOUCH
from taskalgebra.paper.results.record import Result, Table

ASKED = asked()


def result_for(key, change):
    """The fabricated result that a claim is judged from; it needs only one."""
    (name,) = ASKED[key].needs
    return change(shipped(name))


def verdict_of(key, result):
    return judged_from(ASKED[key], result)[int(key.rpartition(":")[2])].verdict


def test_every_claim_of_the_catalogue_can_be_refuted_and_borne_out():
    """A claim that is added needs an entry of its own."""
    here = {key for key, question in ASKED.items() if judge_of(question) not in ELSEWHERE}
    assert here == set(PAIRS)
    assert set(ELSEWHERE) <= {judge_of(question) for question in QUESTIONS}


REFUTATIONS = [(key, i) for key, pair in PAIRS.items() for i in range(len(pair.refutations))]


@pytest.mark.parametrize(("key", "i"), REFUTATIONS)
def test_a_result_that_refutes_a_claim_makes_it_fail(key, i):
    assert verdict_of(key, result_for(key, PAIRS[key].refutations[i])) is Verdict.FAILS


@pytest.mark.parametrize("key", PAIRS)
def test_a_result_that_bears_a_claim_out_makes_it_hold(key):
    pair = PAIRS[key]
    refuted = result_for(key, pair.refutations[0])
    assert verdict_of(key, pair.holds(refuted)) is Verdict.HOLDS


@pytest.mark.parametrize("question", QUESTIONS, ids=judge_of)
@pytest.mark.parametrize("read", [False, True], ids=["as made", "as read"])
def test_nothing_follows_from_empty_tables(question, read):
    (name,) = question.needs
    tables = {
        key: Table({column: values[:0] for column, values in table.items()})
        for key, table in shipped(name).tables.items()
    }
    if read:
        tables = {key: Table.from_csv(table.to_csv()) for key, table in tables.items()}
    try:
        found = judged_from(question, replace(shipped(name), tables=tables))
    except ValueError as error:
        assert "run again with --fresh" in str(error)
    else:
        assert found and {claim.verdict for claim in found} == {Verdict.FAILS}


@pytest.mark.parametrize("question", QUESTIONS, ids=judge_of)
def test_one_number_that_is_missing_is_enough_to_fail(question):
    (name,) = question.needs
    before = shipped(name)
    for key, table in before.tables.items():
        for column, values in table.items():
            if values.dtype.kind == "U":
                continue
            worse = values.astype(np.float64)
            worse[-1] = np.nan
            result = with_table(before, Table({**table, column: worse}), key)
            try:
                found = judged_from(question, result)
            except ValueError:  # a count that is no number
                assert values.dtype.kind == "i"
                continue
            assert found and {claim.verdict for claim in found} == {Verdict.FAILS}, (key, column)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_nothing_follows_from_what_is_not_finite(wrong):
    table = Table({"x": [1.0, wrong]})
    question = Question(("a",), lambda result: [judged("here", "so", "it is", True, "")])
    results = {"a": Result("a", {}, {"a": Table({"x": [1.0, 2.0]})})}
    assert answer([question], results)[0].holds
    (claim,) = answer([question], {"a": Result("a", {}, {"a": table})})
    assert claim.verdict is Verdict.FAILS and "'x' of a" in claim.reason


def test_in_part_is_between_the_two():
    """Corrections that keep the point of a claim, and claims that are true of most."""
    parts = {
        "rooms.n_base_tasks:0": lambda result: result,
        "rooms.n_base_tasks:1": lambda result: result,
        "supplement.algorithm:0": lambda result: result,
        "theory.theorems:3": lambda result: result,
        "boxman.composition:0": alter(
            where={"setting": "fixed", "task": "blue ^ square"}, optimal_episodes=57
        ),
        "boxman.touch:0": earning("optimum", 0.2, setting=TOUCH, task="blue & square"),
        "boxman.dips:0": alter(
            "boxman_values_touched", where={"task": "purple"}, after=lambda t: t["beside"]
        ),
    }
    for key, change in parts.items():
        assert verdict_of(key, result_for(key, change)) is Verdict.PART, key


def test_a_claim_about_composed_tasks_is_not_judged_by_base_tasks():
    key = "boxman.touch:0"
    worse = earning("optimum", 1.0, setting=TOUCH, kind="base")
    assert verdict_of(key, result_for(key, worse)) is Verdict.HOLDS


def test_whose_network_it_is_is_said():
    """The paper's sentence on errors of approximation is about the paper's network."""
    key = "boxman.touch:1"
    ours = judged_from(ASKED[key])[1]
    assert "another network than the paper's: planning" in ours.claim
    assert "nothing of the paper's own network" in ours.reason
    theirs = judged_from(ASKED[key], result_for(key, alter(network="paper")))[1]
    assert "another" not in theirs.claim and "paper's own" not in theirs.reason


def test_what_is_measured_follows_the_result():
    """Numbers in words are those of the result."""
    paid = judged_from(
        ASKED["rooms.rewards:0"], result_for("rooms.rewards:0", alter(conjunction=1))
    )
    assert "∧ pays in 100 %" in paid[0].measured and "∧ pays outside" in paid[0].reason
    few = keep("composition_errors", panel=lambda column: column != "T")
    found = judged_from(ASKED["rooms.composition:0"], result_for("rooms.composition:0", few))
    assert "over 5 tables" in found[0].measured
    steps = alter(where={"run": 3}, steps=2500)
    found = judged_from(ASKED["rooms.fewer_samples:0"], result_for("rooms.fewer_samples:0", steps))
    assert "at most 2,500 steps" in found[0].measured
    assert found[0].reason == "1 of 100 runs need more."
