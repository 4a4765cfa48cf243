"""`taskalgebra reproduce trust`: one part at toy size, kept, and errors."""

from __future__ import annotations

import json

import pytest

from taskalgebra.showcase.trust import noise
from taskalgebra.showcase.trust import run as report


def test_a_part_runs_at_toy_size_and_is_kept(tmp_path, document, run, monkeypatch):
    arguments = ("reproduce", "trust-noise", "--quick", "--quiet", "--out", tmp_path)
    first = document(*arguments)
    (part,) = first["parts"]
    assert part["name"] == "noise" and not part["kept"] and len(part["claims"]) == 3
    directory = tmp_path / "results" / "trust"
    assert "## Noise on base tasks" in (directory / "trust.md").read_text()
    assert (directory / "figures" / "noise.png").stat().st_size > 10_000
    assert len(json.loads((directory / "claims.json").read_text())) == 3
    monkeypatch.setattr(noise, "run", None)
    (again,) = document(*arguments)["parts"]
    assert again["kept"] and again["claims"] == part["claims"]
    code, out, _ = run(*(each for each in arguments if each != "--quiet"))
    assert code == 0 and "of 3 claims" in out and "at toy size" in out
    assert (
        out.splitlines()[-1] == "This was at toy size: verdicts need the full run, without --quick."
    )
    with pytest.raises(TypeError):  # a toy does not stand for the whole
        list(report.run(["noise"], tmp_path))


def test_a_damaged_result_is_made_again(tmp_path):
    (first,) = report.run(["noise"], tmp_path, quick=True)
    (tmp_path / "results" / "trust" / "noise.csv").write_text("")
    (again,) = report.run(["noise"], tmp_path, quick=True)
    assert not again.kept and again.result == first.result


def test_unknown_parts_are_said(run, tmp_path):
    with pytest.raises(ValueError, match="Did you mean 'slips'"):
        report.chosen(["slip"])
    assert [part.name for part in report.chosen([])] == list(report.PARTS)
    code, _, err = run("reproduce", "trust-nosie", "--out", tmp_path)
    assert code == 2 and err
    code, _, _ = run("reproduce", "trust", "--train", "--out", tmp_path)
    assert code == 2
