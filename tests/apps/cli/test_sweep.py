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
        ('"top ^ left"', '"top & left"', "line 3: tasks has 'top & left' twice"),
        ('"top ^ left"', '"F top"', "line 3: 'F top' is a formula over time"),
        ("seeds = 2", f"seeds = {'[' * 3000}", "nested too deeply"),
        ("seeds = 2", f"seeds = {'9' * 5000}", "not valid TOML"),
    ],
)
def test_a_wrong_study_is_refused_with_its_line(tmp_path, capsys, old, new, words):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace(old, new, 1))
    assert cli.main(["sweep", str(path), "--engine", "serial"]) == 1
    assert words in capsys.readouterr().err


MAP = "#####\n#A.B#\n#####\n"
OF_A_MAP = """seeds = 1
episodes = 5
tasks = ["A"]

[[world]]
map = "maze.txt"

[[learner]]
kind = "planner"
"""


def test_another_map_under_the_same_name_is_another_world(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path, of_map = tmp_path / "study.toml", tmp_path / "maze.txt"
    path.write_text(OF_A_MAP)
    steps = []
    for text in (MAP, MAP.replace(".", "....").replace("#####", "########")):
        of_map.write_text(text)
        assert cli.main(["sweep", "study.toml", "--engine", "serial", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["kept"] == 0
        made = json.loads((tmp_path / "study.provenance.json").read_text())
        assert made["maps"] == {"maze.txt": text}
        steps.append(Table.from_csv((tmp_path / "study.csv").read_text())["mean_steps"][0])
    assert steps[0] < steps[1]
    path.write_text(OF_A_MAP.replace("map =", "name ="))
    assert cli.main(["sweep", "study.toml", "--engine", "serial"]) == 1
    assert "line 5: 'maze.txt' is a file; write map = 'maze.txt'" in capsys.readouterr().err


@pytest.mark.parametrize(("data", "words"), [(b"\n", "is empty"), (b"\x89PNG", "is not text")])
def test_a_map_that_is_none_is_said(tmp_path, capsys, data, words):
    (tmp_path / "study.toml").write_text(OF_A_MAP)
    (tmp_path / "maze.txt").write_bytes(data)
    assert cli.main(["sweep", str(tmp_path / "study.toml"), "--engine", "serial"]) == 1
    said = capsys.readouterr().err
    assert "line 6: the map" in said and words in said


def test_a_table_that_cannot_be_written_is_said_before_anything_is_learned(tmp_path, capsys):
    path = tmp_path / "study.csv"  # no usual name for a study
    path.write_text(STUDY)
    assert cli.main(["sweep", str(path), "--engine", "serial"]) == 2
    assert "would replace the study" in capsys.readouterr().err
    assert path.read_text() == STUDY
    for name in ("table.csv", "other.provenance.json"):
        (tmp_path / name).mkdir()
    for out in ("table.csv", "other.csv"):
        command = ["sweep", str(path), "--engine", "serial", "--out", str(tmp_path / out)]
        assert cli.main(command) == 2
        said = " ".join(capsys.readouterr().err.replace("│", " ").split())
        assert "give another name to the table" in said
    assert cli.main(["sweep", str(tmp_path), "--engine", "serial"]) == 1
    assert "is a directory; give the file of a study" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.cells"))
