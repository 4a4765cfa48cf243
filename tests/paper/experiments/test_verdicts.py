"""Claims, verdicts, and what is written down about how results were made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles import plain_q
from taskalgebra.paper.catalogue import FIGURES, PICTURES, QUESTIONS
from taskalgebra.paper.claims import verdicts
from taskalgebra.paper.claims.verdicts import Claim, Question, Verdict, answer, judged
from taskalgebra.paper.experiments import algorithm, theorems
from taskalgebra.paper.experiments.suite import EXPERIMENTS
from taskalgebra.paper.results import provenance
from taskalgebra.paper.results.labels import CORRECTED, PRINTED
from taskalgebra.paper.results.record import Result, Table

HOLDS = Claim("Fig. 1", "one", "two", Verdict.HOLDS, figures=("a", "b"))
PART = Claim("Fig. 2", "x, “y” & <z>", "1 of 2", Verdict.PART, "because", ("a",))


def test_a_reason_is_given_unless_a_claim_holds():
    with pytest.raises(ValueError, match="a reason is given unless it holds"):
        Claim("Fig. 1", "one", "two", Verdict.PART)
    with pytest.raises(ValueError, match="a reason is given unless it holds"):
        Claim("Fig. 1", "one", "two", Verdict.HOLDS, "why not")
    assert judged("Fig. 1", "one", "two", True, "dropped").reason == ""
    assert judged("Fig. 1", "one", "two", False, "kept") == Claim(
        "Fig. 1", "one", "two", Verdict.FAILS, "kept"
    )


def test_claims_are_read_as_they_were_written(tmp_path):
    verdicts.save([HOLDS, PART], tmp_path / "new")
    assert verdicts.load(tmp_path / "new") == [HOLDS, PART]


def test_questions_are_asked_where_their_results_are_there():
    asked = Question(("here",), lambda result: [HOLDS], ("a", "b"))
    other = Question(("here", "missing"), lambda *results: pytest.fail("not asked"))
    assert answer([other, asked], {"here": Result("here", {}, {})}) == [HOLDS]


def test_every_question_is_about_known_figures():
    for question in QUESTIONS:
        halves = {EXPERIMENTS[name].half for name in question.needs}
        halves |= {EXPERIMENTS[PICTURES[name].needs[0]].half for name in question.figures}
        assert len(halves) == 1


def test_every_claim_has_a_home():
    assert sorted(map(id, QUESTIONS)) == sorted({id(question) for question in QUESTIONS})
    assert len(QUESTIONS) == sum(len(figure.questions) for figure in FIGURES)
    assert [q.figures for q in QUESTIONS if not q.figures] == [()]  # theory, which comes first
    assert not QUESTIONS[0].figures
    assert [q.ours for q in QUESTIONS] == sorted(q.ours for q in QUESTIONS)


def test_value_iteration_is_that_of_the_oracle():
    rng = np.random.default_rng(0)
    next_state = rng.integers(0, 12, (12, 3))
    steps = -rng.integers(1, 9, (12, 3)) / 8
    paid = np.full((12, 3), np.nan)
    paid[[3, 7]] = [[1.0, 0.5, 0.0], [2.0, 2.0, 2.0]]
    expected = plain_q(next_state.tolist(), steps.tolist(), {s: paid[s] for s in (3, 7)})
    assert np.array_equal(theorems.value_iteration(next_state, steps, paid), expected)


@pytest.fixture(scope="module")
def tried():
    return theorems.run(theorems.QUICK)


def verdict_of(result):
    return {c.where: c.verdict for c in answer(QUESTIONS, {"theorems": result})}


def test_theorems_hold_but_for_what_their_proofs_leave_out(tried):
    found = verdict_of(tried)
    assert found.pop("Theorem 1") == found.pop("Lemma 1") == Verdict.HOLDS
    assert set(found.values()) == {Verdict.PART} and len(found) == 3


@pytest.mark.parametrize("item", ["Theorem 1", "Lemma 1", "Corollary 1", "Theorem 2"])
def test_one_broken_equation_is_enough(tried, item):
    broken = tried.table["broken"].copy()
    broken[np.flatnonzero(tried.table["item"] == item)[0]] = 1
    worse = replace(tried, tables={tried.name: Table({**tried.table, "broken": broken})})
    (where,) = [place for place in verdict_of(worse) if item in place]
    assert verdict_of(worse)[where] == Verdict.FAILS


def test_broken_laws_are_counted(monkeypatch):
    """The examiner is awake: an operator that is wrong breaks the theorems about it."""
    from taskalgebra.theory.tables import TabularQ

    monkeypatch.setattr(TabularQ, "__and__", lambda self, other: self | other)
    table = theorems.run(replace(theorems.QUICK, worlds=2)).table
    broken = {row["item"] for row in table.rows() if row["broken"] and row["place"] != "as printed"}
    assert broken >= {"Theorem 2", "Theorem 3"}
    assert not broken & {"Theorem 1", "Lemma 1"}


def test_the_printed_update_diverges_and_the_corrected_one_does_not():
    result = algorithm.run(algorithm.Config(episodes=120, every=60))
    printed, corrected = (
        result.table.where(update=u)["largest_error"] for u in (PRINTED, CORRECTED)
    )
    assert printed[1] > 1.5 * printed[0] > 100
    assert corrected[1] < 5
    (claim,) = answer(QUESTIONS, {"algorithm": result})
    assert claim.verdict is Verdict.FAILS  # 120 episodes are too few for either


def test_provenance_is_kept_by_part(tmp_path):
    place = tmp_path / "new"
    assert provenance.load(place) == {}
    first = provenance.note(place, "one", 1.234, 2.0)
    second = provenance.note(place, "two", 3.0, 4.0)
    assert provenance.load(place) == {"one": first, "two": second}
    assert first.seconds == 1.23 and "python" in first.versions and "cores" in first.machine
    (place / provenance.FILE).write_text('{"one": {"seconds": 1}}')
    assert provenance.load(place) == {}
