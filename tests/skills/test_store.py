"""Skills on disk: damaged, foreign and half-written files."""

import hashlib
import io
import json
import os
from contextlib import suppress

import numpy as np
import pytest

from taskalgebra import files
from taskalgebra.folder import StoreError
from taskalgebra.skills.making import load, solve
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.grid import from_text


def small_skills(goal="A", step_reward=-0.125):
    space = TaskSpace(from_text("A.B", step_reward=step_reward))
    return solve(space, {"a": [goal], "b": ["B"]})


@pytest.fixture
def folder(tmp_path):
    """A folder with skills in it."""
    path = tmp_path / "skills"
    small_skills().save(path)
    return path


def refused(path):
    with pytest.raises(StoreError) as caught:
        load(path)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def data_file(folder):
    (path,) = folder.glob("*.npz")
    return path


def rewrite_manifest(folder, **changes):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= changes
    (folder / "manifest.json").write_text(json.dumps(manifest))


def rewrite_data(folder, **changes):
    """Change arrays, with a hash that fits: a forger, or a program of another version."""
    with np.load(data_file(folder)) as arrays:
        held = dict(arrays) | changes
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in held.items() if array is not None})
    data_file(folder).write_bytes(buffer.getvalue())
    rewrite_manifest(folder, sha256=hashlib.sha256(buffer.getvalue()).hexdigest())


def test_a_folder_holds_a_manifest_and_one_data_file(folder):
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".npz"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["tasks"] == ["a", "b"]
    assert manifest["goals"] == ["A", "B"]
    digest = hashlib.sha256(data_file(folder).read_bytes()).hexdigest()
    assert manifest["sha256"] == digest
    assert manifest["data"] == data_file(folder).name
    with np.load(data_file(folder), allow_pickle=False) as arrays:
        assert arrays["q_universal"].shape == (5, 2, 5)


def test_nothing_at_all_is_refused(tmp_path):
    message = refused(tmp_path / "nowhere")
    assert "nowhere" in message
    assert "there is no such directory" in message


def test_an_empty_folder_is_refused(tmp_path):
    assert "manifest.json" in refused(tmp_path)


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("hello")
    assert "file" in refused(tmp_path / "file")


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "not json", "\x00\x01", "[" * 100_000])
def test_a_manifest_that_is_not_json_is_refused(folder, text):
    (folder / "manifest.json").write_text(text)
    assert "not valid JSON" in refused(folder)


def test_a_manifest_that_is_not_text_is_refused(folder):
    (folder / "manifest.json").write_bytes(b"\xff\xfe\x00\xd8")
    assert "manifest.json" in refused(folder)


@pytest.mark.parametrize(
    "content", [[], 3, "skills", {}, {"format": "other 7"}, {"format": [7]}, None]
)
def test_a_foreign_manifest_is_refused(folder, content):
    (folder / "manifest.json").write_text(json.dumps(content))
    assert "taskalgebra skills 1" in refused(folder)


@pytest.mark.parametrize(
    "key", ["data", "sha256", "tasks", "goals", "actions", "tables", "r_bar_min", "error_bound"]
)
def test_a_manifest_that_lacks_an_entry_is_refused(folder, key):
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest[key]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    message = refused(folder)
    assert repr(key) in message
    assert "save the skills again" in message


@pytest.mark.parametrize(
    "changes",
    [
        {"data": 5},
        {"data": None},
        {"data": ""},
        {"sha256": None},
        {"tasks": ["a"]},
        {"tasks": ["a", "b", "c"]},
        {"tasks": ["a", "a"]},
        {"tasks": 2},
        {"tasks": None},
        {"goals": ["A"]},
        {"goals": None},
        {"goals": 7},
        {"actions": ["up"]},
        {"r_bar_min": "low"},
        {"r_bar_min": [1]},
        {"r_bar_min": 10**400},
        {"world": {"id": [1]}},
        {"world": {"id": "TaskAlgebra/FourRooms-v0", "arguments": {"goals": 5}}},
        {"error_bound": {}},
    ],
    ids=str,
)
def test_a_manifest_with_odd_entries_is_refused(folder, changes):
    rewrite_manifest(folder, **changes)
    refused(folder)


def test_a_penalty_may_be_unknown(folder):
    """As in tables that a learner of the user's own made."""
    rewrite_manifest(folder, r_bar_min=None)
    assert load(folder).family.r_bar_min is None


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_truncated_data_is_refused(folder, keep):
    path = data_file(folder)
    path.write_bytes(path.read_bytes()[:keep])
    message = refused(folder)
    assert path.name in message
    assert "damaged or truncated" in message
    assert "save the skills again" in message


@pytest.mark.parametrize("place", [0, 200, -30])
def test_data_with_one_wrong_byte_is_refused(folder, place):
    path = data_file(folder)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(bytes(data))
    assert "damaged" in refused(folder)


def test_missing_data_is_refused(folder):
    data_file(folder).unlink()
    assert "save the skills again" in refused(folder)


def test_data_that_is_no_archive_is_refused_though_its_hash_fits(folder):
    data_file(folder).write_bytes(b"hello")
    rewrite_manifest(folder, sha256=hashlib.sha256(b"hello").hexdigest())
    assert "consistent" in refused(folder)


@pytest.mark.parametrize("place", range(0, 1000, 50))
def test_a_damaged_archive_raises_no_other_error_though_its_hash_fits(folder, place):
    data = bytearray(data_file(folder).read_bytes())
    data[place] ^= 255
    data_file(folder).write_bytes(data)
    rewrite_manifest(folder, sha256=hashlib.sha256(data).hexdigest())
    with suppress(StoreError):  # a byte that does not matter does no harm
        load(folder)


def test_pickled_data_is_refused_though_its_hash_fits(folder):
    rewrite_data(folder, goals=np.array([{"a": 1}, None], dtype=object))
    assert "consistent" in refused(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"goals": None},
        {"q_0": None},
        {"q_universal": None},
        {"tasks": None},
        {"offset": None},
        {"successor": None},
        {"q_0": np.zeros((5, 2, 4))},
        {"q_universal": np.zeros((4, 2, 5))},
        {"successor": np.full(25, 99)},
        {"step_reward": np.full((5, 5), np.nan)},
        {"step_reward": np.zeros(5)},
        {"goals": np.array([3, 3])},
        {"tasks": np.full((2, 2), 50.0)},
        {"tasks": np.zeros((1, 2))},
        {"r_universal": np.zeros(3)},
        {"q_0": np.array([["x"]])},
    ],
    ids=lambda changes: ", ".join(f"{k}: {np.shape(v)}" for k, v in changes.items()),
)
def test_arrays_that_do_not_fit_are_refused_though_their_hash_fits(folder, changes):
    rewrite_data(folder, **changes)
    assert str(folder) in refused(folder)


def test_data_outside_the_folder_is_never_read(folder, tmp_path):
    outside = tmp_path / "outside.npz"
    data_file(folder).rename(outside)
    rewrite_manifest(folder, data="../outside.npz")
    refused(folder)


def test_a_file_is_not_overwritten(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(StoreError, match=r"notes\.txt is a file; give a directory"):
        small_skills().save(path)
    assert path.read_text() == "precious"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "files",
    [
        {"thesis.tex": "precious"},
        {"weights.npz": "precious"},
        {"manifest.json": '{"name": "my web app"}'},
        {"manifest.json": "[]", "weights.npz": "precious"},
        {"manifest.json": "precious, not even JSON"},
    ],
    ids=lambda files: " and ".join(files),
)
def test_a_folder_of_someone_else_is_not_written_to(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(StoreError, match="new or empty directory"):
        small_skills().save(tmp_path)
    assert contents(tmp_path) == before


def test_other_files_next_to_the_skills_are_left_alone(folder):
    (folder / "mine.npz").write_text("precious")
    (folder / "README").write_text("about these skills")
    small_skills("B").save(folder)
    assert (folder / "mine.npz").read_text() == "precious"
    assert (folder / "README").read_text() == "about these skills"


def test_saving_again_replaces_the_old_skills_and_their_data(folder):
    old = data_file(folder)
    small_skills(step_reward=-0.5).save(folder)
    assert not old.exists()
    assert load(folder).space.mdp.step_reward[0, 0] == -0.5


def test_saving_the_same_skills_twice_writes_the_same_bytes(folder):
    before = contents(folder)
    small_skills().save(folder)
    assert contents(folder) == before


@pytest.mark.parametrize("fails_at", [1, 2])
def test_an_interrupted_save_leaves_the_old_skills_and_no_litter(folder, monkeypatch, fails_at):
    old = load(folder)["a ^ b"].values.table
    calls = []
    move = os.replace

    def failing(source, target):
        calls.append(target)
        if len(calls) == fails_at:
            raise OSError("the plug was pulled")
        move(source, target)

    monkeypatch.setattr(files.os, "replace", failing)
    with pytest.raises(OSError, match="plug"):
        small_skills(step_reward=-0.5).save(folder)
    monkeypatch.undo()
    assert len(calls) == fails_at
    assert [p.name for p in folder.iterdir() if p.name.startswith(".") or ".tmp" in p.name] == []
    again = load(folder)
    assert again.space.mdp.step_reward[0, 0] == -0.125
    assert np.array_equal(again["a ^ b"].values.table, old)
    small_skills(step_reward=-0.5).save(folder)
    assert load(folder).space.mdp.step_reward[0, 0] == -0.5
    assert len(list(folder.iterdir())) == 2


def test_an_interrupted_first_save_leaves_nothing_to_be_read(tmp_path, monkeypatch):
    def failing(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        small_skills().save(tmp_path / "skills")
    monkeypatch.undo()
    assert list((tmp_path / "skills").iterdir()) == []
    small_skills().save(tmp_path / "skills")
    assert list(load(tmp_path / "skills")) == ["a", "b"]


def test_a_first_save_interrupted_between_its_two_files_can_be_repeated(tmp_path, monkeypatch):
    move = os.replace

    def failing(source, target):
        if str(target).endswith(".json"):
            raise OSError("the plug was pulled")
        move(source, target)

    monkeypatch.setattr(files.os, "replace", failing)
    with pytest.raises(OSError, match="plug"):
        small_skills().save(tmp_path / "skills")
    monkeypatch.undo()
    refused(tmp_path / "skills")
    small_skills().save(tmp_path / "skills")
    assert list(load(tmp_path / "skills")) == ["a", "b"]


def test_names_in_any_script_come_back(tmp_path):
    space = TaskSpace(from_text("...", {"Ziel ✓": (0, 0), "目標": (0, 2)}))
    solve(space, {"größe": ["目標"]}).save(tmp_path / "skills")
    loaded = load(tmp_path / "skills")
    assert loaded.space.mdp.goal_names == ("Ziel ✓", "目標")
    assert list(loaded) == ["größe"]
