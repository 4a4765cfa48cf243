"""`taskalgebra sweep`: a study from a file to one table."""

from __future__ import annotations

import hashlib
import json

import pytest

from taskalgebra.apps import cli
from taskalgebra.paper.results.record import Table

STUDY = """seeds = 2
episodes = 50
tasks = ["top & left", "top ^ left"]

[[world]]
name = "four-rooms"

[[learner]]
kind = "planner"

[[learner]]
kind = "q-learning"
steps = 20000
"""


def test_a_study_becomes_a_table_and_its_cells_are_kept(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    assert cli.main(["sweep", str(path), "--engine", "serial", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    text = (tmp_path / "study.csv").read_text()
    table = Table.from_csv(text)
    assert table.n_rows == 2 * 2 * 2 and said["cells"] == 4 and said["kept"] == 0
    assert (table.where(learner="planner")["worst_loss"] == 0).all()
    made = json.loads((tmp_path / "study.provenance.json").read_text())
    assert made["sha256"] == hashlib.sha256(STUDY.encode()).hexdigest()
    assert set(table["study"]) == {made["sha256"][:16]}
    assert cli.main(["sweep", str(path), "--engine", "serial", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == 4
    assert (tmp_path / "study.csv").read_text() == text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seeds = 2", "sedes = 2", "line 1: unknown key 'sedes'"),
        ("steps = 20000", "stepps = 2000", "line 13: unknown key 'stepps'"),
        ('"planner"', '"planer"', "line 9: unknown learner 'planer'"),
        ("top & left", "tpo & left", "line 3"),
        ("seeds = 2", "seeds = ", "not valid TOML"),
        ("steps = 20000", "steps = 0", "steps"),
    ],
)
def test_a_wrong_study_is_refused_with_its_line(tmp_path, capsys, old, new, words):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace(old, new, 1))
    assert cli.main(["sweep", str(path), "--engine", "serial"]) == 1
    assert words in capsys.readouterr().err
