"""Tables and results on disk."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest

from taskalgebra import files
from taskalgebra.paper.results.record import Result, Table, as_json, load


@pytest.fixture
def table():
    return Table(
        {"name": ["a, b", "◆◇", "x"], "n": [1, -2, 3], "value": [0.1 + 0.2, np.nan, -1e-300]}
    )


def test_a_table_reads_back_to_the_same_bits(table):
    again = Table.from_csv(table.to_csv())
    assert again == table
    assert again["value"].tobytes() == table["value"].tobytes()
    assert [again[name].dtype.kind for name in again] == ["U", "i", "f"]


def test_tables_that_differ_are_not_equal(table):
    assert table != Table({**table, "n": [1, -2, 4]})
    assert table != Table({**table, "n": [1.0, -2.0, 3.0]})
    assert table != Table({name: table[name] for name in ("n", "name", "value")})


def test_an_empty_table_keeps_its_columns():
    empty = Table.of_rows(("a", "b"), [])
    assert list(Table.from_csv(empty.to_csv())) == ["a", "b"]
    assert empty.n_rows == 0


def test_rows_can_be_chosen(table):
    assert table.where(n=3)["name"].tolist() == ["x"]
    assert table.where(n=3, name="a, b").n_rows == 0
    assert Table({"a": [2, 1, 2]}).distinct("a") == [2, 1]
    assert table.rows()[0] == {"name": "a, b", "n": 1, "value": 0.1 + 0.2}


def test_columns_are_checked():
    with pytest.raises(ValueError, match="equally long"):
        Table({"a": [1], "b": [1, 2]})
    with pytest.raises(ValueError, match="one dimension"):
        Table({"a": [[1]]})
    with pytest.raises(ValueError, match="numbers or words"):
        Table({"a": [None]})
    with pytest.raises(KeyError, match="this table has a"):
        Table({"a": [1]})["b"]
    with pytest.raises(ValueError, match="names of its columns"):
        Table.from_csv("")


def test_columns_cannot_be_changed(table):
    with pytest.raises(ValueError, match="read-only"):
        table["n"][0] = 5


def test_a_result_reads_back(tmp_path, table):
    result = Result("thing", {"runs": 2, "slips": [0.1]}, {"thing": table, "thing_more": table})
    result.save(tmp_path / "below")
    assert load("thing", tmp_path / "below") == result
    assert sorted(p.name for p in (tmp_path / "below").iterdir()) == [
        "thing.csv",
        "thing.json",
        "thing_more.csv",
    ]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_interrupted_save_leaves_nothing_that_can_be_read(tmp_path, table, monkeypatch, failing):
    result = Result("thing", {"runs": 1}, {"thing": table, "thing_more": table})
    result.save(tmp_path)
    replace, calls = os.replace, []

    def stopped(source, target):
        calls.append(target)
        if len(calls) > failing:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        Result("thing", {"runs": 2}, result.tables).save(tmp_path)
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError):
        load("thing", tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"thing.csv", "thing_more.csv"}


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_full_disk_leaves_the_old_result(tmp_path, table, monkeypatch, failing):
    result = Result("thing", {"runs": 1}, {"thing": table, "thing_more": table})
    result.save(tmp_path)
    before, calls = contents(tmp_path), []

    def full(handle):
        calls.append(handle)
        if len(calls) > failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*thing") as caught:
        Result("thing", {"runs": 2}, result.tables).save(tmp_path)
    assert caught.value.errno == errno.ENOSPC
    assert contents(tmp_path) == before
    with pytest.raises(OSError, match="No space left"):
        result.save(tmp_path / "new" / "below")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[" * 100_000,
        "\ud800",
        "[]",
        '{"experiment": "other", "config": {}, "tables": ["thing"]}',
        '{"experiment": "thing", "config": {}, "tables": []}',
        '{"experiment": "thing", "tables": ["thing"]}',
    ],
)
def test_what_save_did_not_write_is_refused(tmp_path, table, content):
    Result("thing", {}, {"thing": table}).save(tmp_path)
    (tmp_path / "thing.json").write_bytes(content.encode(errors="surrogatepass"))
    with pytest.raises(ValueError, match=r"not a saved result.*--fresh"):
        load("thing", tmp_path)


@pytest.mark.parametrize("name", ["thing.json", "thing.csv", "thing.npz"])
@pytest.mark.parametrize("way", [os.mkfifo, os.mkdir, lambda path: os.symlink(path, path)])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, table, name, way):
    Result("thing", {}, {"thing": table}, {"picture": np.zeros(3)}).save(tmp_path)
    (tmp_path / name).unlink()
    way(tmp_path / name)
    with pytest.raises(ValueError, match=r"not a saved result.*--fresh"):
        load("thing", tmp_path)


def test_a_missing_table_is_as_good_as_no_result(tmp_path, table):
    Result("thing", {}, {"thing": table}).save(tmp_path)
    (tmp_path / "thing.csv").unlink()
    with pytest.raises(FileNotFoundError):
        load("thing", tmp_path)


def test_configs_are_compared_as_json_has_them():
    from taskalgebra.paper.experiments.slips import Config

    config = as_json(Config())
    assert config == json.loads(json.dumps(config))
    assert config["slip_probabilities"] == [0.0, 0.1, 0.2, 0.3]
