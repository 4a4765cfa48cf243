"""Skills on disk: damaged, foreign and half-written files."""

import errno
import hashlib
import io
import json
import os
import shutil
import tempfile
import time
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from taskalgebra import files
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.folder import StoreError, digest_of
from taskalgebra.skills import store
from taskalgebra.skills.making import load, solve
from taskalgebra.theory.reach import Reach
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
    write_manifest(folder, manifest | changes)


def write_manifest(folder, manifest):
    """Write a manifest whose digest fits: a forger, or a program of another version."""
    signed = {**manifest, "digest": digest_of(manifest)}
    (folder / "manifest.json").write_text(json.dumps(signed))


def rewrite_data(folder, **changes):
    """Change arrays, with a hash that fits: a forger, or a program of another version."""
    with np.load(data_file(folder)) as arrays:
        held = dict(arrays) | changes
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in held.items() if array is not None})
    data_file(folder).write_bytes(buffer.getvalue())
    sign_data(folder)


def sign_data(folder):
    """Make the manifest fit the data again."""
    data = data_file(folder).read_bytes()
    rewrite_manifest(folder, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


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
    assert "taskalgebra skills 2" in refused(folder)


@pytest.mark.parametrize(
    "key",
    ["data", "size", "sha256", "tasks", "goals", "actions", "tables", "r_bar_min", "error_bound"],
)
def test_a_manifest_that_lacks_an_entry_is_refused(folder, key):
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest[key]
    write_manifest(folder, manifest)
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
    sign_data(folder)
    assert "consistent" in refused(folder)


@pytest.mark.parametrize("place", range(0, 1000, 50))
def test_a_damaged_archive_raises_no_other_error_though_its_hash_fits(folder, place):
    data = bytearray(data_file(folder).read_bytes())
    data[place] ^= 255
    data_file(folder).write_bytes(data)
    sign_data(folder)
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
    with pytest.raises(StoreError, match="plug"):
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
    assert not (tmp_path / "skills").exists()
    small_skills().save(tmp_path / "skills")
    assert list(load(tmp_path / "skills")) == ["a", "b"]


def test_a_first_save_interrupted_between_its_two_files_can_be_repeated(tmp_path, monkeypatch):
    move = os.replace

    def failing(source, target):
        if str(target).endswith(".json"):
            raise OSError("the plug was pulled")
        move(source, target)

    monkeypatch.setattr(files.os, "replace", failing)
    with pytest.raises(StoreError, match="plug"):
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


# Damage that nobody signed again


def test_every_flipped_bit_of_a_manifest_is_refused_or_does_no_harm(folder):
    file = folder / "manifest.json"
    data, whole = file.read_bytes(), load(folder)
    words = store.manifest(folder)
    harmless = 0
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        try:
            found = load(folder)
        except StoreError:
            continue
        harmless += 1
        assert store.manifest(folder) == words, bit
        assert np.array_equal(found["a ^ b"].values.table, whole["a ^ b"].values.table)
    assert harmless < len(data)  # white space


def test_the_digest_is_the_hash_of_all_other_entries(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    digest = manifest.pop("digest")
    canonical = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    assert digest == hashlib.sha256(canonical.encode()).hexdigest()
    assert manifest["size"] == data_file(folder).stat().st_size


def test_white_space_and_order_do_not_matter(folder):
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps(dict(reversed(manifest.items())), indent=7))
    assert list(load(folder)) == ["a", "b"]


def test_a_manifest_without_its_digest_is_refused(folder):
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest["digest"]
    file.write_text(json.dumps(manifest))
    assert "'digest' is missing" in refused(folder)
    file.write_text(json.dumps({**manifest, "digest": 0}))
    assert "digest does not fit" in refused(folder)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "taskalgebra skills 2", "format": "taskalgebra skills 2"}',
        '{"a": 1e999}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1' + "0" * 5000 + "}",
        '{"a":' * 50_000,
        "[" * 900 + "]" * 900 + "x",
        "\ufeff{}",
    ],
    ids=lambda text: text[:20],
)
def test_json_that_this_library_does_not_write_is_refused(folder, text):
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    assert "not valid JSON" in refused(folder)


def test_a_manifest_that_is_too_large_is_neither_read_nor_written(folder):
    with (folder / "manifest.json").open("ab") as file:
        file.write(b" " * 2**22)
    assert "expected at most 4,194,304" in refused(folder)
    space = TaskSpace(from_text("A.B"))
    with pytest.raises(StoreError, match="shorten them"):
        solve(space, {"x" * 2**22: ["A"]}).save(folder.parent / "new")
    assert not (folder.parent / "new").exists()


@pytest.mark.parametrize("which", ["manifest.json", "*.npz"])
@pytest.mark.parametrize(
    "way",
    [
        os.mkfifo,
        os.mkdir,
        lambda p: os.symlink("/dev/zero", p),
        lambda p: os.symlink(p, p),
        lambda p: os.symlink("nowhere", p),
    ],
    ids=["pipe", "directory", "device", "loop", "dangling"],
)
def test_what_is_no_file_is_refused_without_waiting(folder, which, way):
    (file,) = folder.glob(which)
    file.unlink()
    way(file)
    start = time.monotonic()
    refused(folder)
    assert time.monotonic() - start < 10


def test_a_file_that_was_extended_by_far_is_refused_at_once(folder):
    os.truncate(data_file(folder), 2**40)
    assert "damaged" in refused(folder)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "pipe", "loop"])
def test_odd_paths_are_refused(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    os.symlink("loop", tmp_path / "loop")
    refused(tmp_path / name)
    with pytest.raises(ValueError):
        small_skills().save(tmp_path / name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_what_may_not_be_read_or_written_is_a_store_error():
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name) / "skills"
        small_skills().save(folder)
        for place in (data_file(folder), folder / "manifest.json", folder, folder.parent):
            before = place.stat().st_mode
            place.chmod(0)
            os.seteuid(65534)
            try:
                assert "ermission denied" in refused(folder)
                with pytest.raises(StoreError, match="ermission denied"):
                    small_skills(step_reward=-0.5).save(folder)
                with pytest.raises(StoreError, match="ermission denied"):
                    store.claim(folder, "taskalgebra skills 2")
            finally:
                os.seteuid(0)
            place.chmod(before)
        assert list(load(folder)) == ["a", "b"]
        assert len(list(folder.iterdir())) == 2


# Forged


@pytest.mark.parametrize(
    "changes",
    [
        {"q_0": np.full((5, 2, 5), np.inf)},
        {"q_0": np.full((5, 2, 5), np.nan)},
        {"q_0": np.zeros((5, 2, 5), np.int64)},
        {"q_0": np.zeros((5, 2, 5), np.float32)},
        {"offset": np.arange(26.0)},
        {"successor": np.zeros(25)},
        {"starts": np.array([1.0])},
        {"tasks": np.ones((2, 2), bool)},
        {"r_universal": np.array([2, 2])},
    ],
    ids=lambda changes: ", ".join(f"{k}: {v.dtype}" for k, v in changes.items()),
)
def test_arrays_of_other_types_are_refused(folder, changes):
    rewrite_data(folder, **changes)
    assert "consistent" in refused(folder)


def test_states_without_a_way_to_a_goal_keep_their_infinite_values(tmp_path):
    space = TaskSpace(from_text("A.#.\n.B#."))
    solve(space, {"a": ["A"]}).save(tmp_path / "skills")
    table = load(tmp_path / "skills")["a"].values.table
    assert np.isneginf(table).any()


def test_members_that_are_not_known_are_not_read(folder):
    rewrite_data(folder, **{"unknown": np.zeros(10**7)})  # of a known member, a bomb
    assert list(load(folder)) == ["a", "b"]


def test_a_bomb_is_refused(folder):
    held = data_file(folder).read_bytes()
    buffer = io.BytesIO(held)
    bomb = io.BytesIO()
    np.save(bomb, np.zeros(10**7))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("q_0.npy", bomb.getvalue())
    data_file(folder).write_bytes(buffer.getvalue())
    sign_data(folder)
    assert "more than can be right" in refused(folder)


@pytest.mark.parametrize("form", [str, str.split], ids=["text", "rows"])
def test_a_map_with_more_cells_than_the_data_has_states_is_refused_unread(
    tmp_path, monkeypatch, form
):
    solve(FourRooms(text="A.B")).save(tmp_path)
    assert list(load(tmp_path))
    world = json.loads((tmp_path / "manifest.json").read_text())["world"]
    drawn = "\n".join(["A" + "." * 1899, *["." * 1900] * 1899])
    world["arguments"] |= {"text": form(drawn), "slip_probability": 0.1}
    rewrite_manifest(tmp_path, world=world)

    def built(*_, **__):
        raise AssertionError("it should not have come to this")

    monkeypatch.setattr(store.registry, "make", built)
    assert "3,610,000 cells, and the data 5 states" in refused(tmp_path)


def test_a_penalty_that_solve_refuses_is_refused(folder):
    rewrite_manifest(folder, tables=False, r_bar_min=1e308)
    assert "above r_∅" in refused(folder)


# What is there instead


def test_messages_name_what_is_there_and_the_way_out(folder, tmp_path):
    assert "the directory 'skills' in it has; load that one" in refused(tmp_path)
    (tmp_path / "empty").mkdir()
    assert "is empty" in refused(tmp_path / "empty")
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "0 M_U.npz").write_bytes(b"")
    assert "checkpoints, such as '0 M_U.npz'; learn with this folder" in refused(
        tmp_path / "training"
    )
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "main.tex").write_text("")
    assert "other files, such as 'main.tex'" in refused(tmp_path / "thesis")
    rewrite_manifest(folder, format="taskalgebra skills 7")
    assert "'taskalgebra skills 7'; a newer version of taskalgebra" in refused(folder)
    rewrite_manifest(folder, format="taskalgebra dreams 1")
    assert "'taskalgebra dreams 1'" in refused(folder)


# Earlier versions


@pytest.mark.parametrize("kind", ["tables", "planned", "reach", "networks"])
def test_folders_of_format_1_are_read_and_renewed(tmp_path, kind):
    shutil.copytree(Path(__file__).parent / "format_1" / kind, tmp_path / kind)
    own = {}
    if kind == "reach":
        own = {"reach": type("Stay", (Reach,), {"returns": lambda self, seen: None})()}
    if kind == "networks":
        pytest.importorskip("torch")
    before = load(tmp_path / kind, **own)
    data = {f.name: f.read_bytes() for f in (tmp_path / kind).iterdir() if f.suffix != ".json"}
    store.renew(tmp_path / kind)
    after = contents(tmp_path / kind)
    assert json.loads(after.pop("manifest.json"))["format"].endswith(" 2")
    assert after == data
    assert list(load(tmp_path / kind, **own)) == list(before)
    if kind in ("tables", "planned"):
        seen = np.arange(5)
        assert np.array_equal(before["a ^ b"].q_bar(seen), small_skills()["a ^ b"].q_bar(seen))


def test_skills_of_format_1_are_replaced_like_others(tmp_path):
    shutil.copytree(Path(__file__).parent / "format_1" / "tables", tmp_path / "skills")
    small_skills(step_reward=-0.5).save(tmp_path / "skills")
    assert load(tmp_path / "skills").space.mdp.step_reward[0, 0] == -0.5
    assert len(names := list((tmp_path / "skills").iterdir())) == 2, names


# No room


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize("fails_at", [1, 2])
def test_no_space_left_is_a_store_error_with_the_path(folder, monkeypatch, call, fails_at):
    before, calls, real = contents(folder), [], getattr(os, call)

    def full(*arguments):
        calls.append(arguments)
        if len(calls) >= fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments)

    monkeypatch.setattr(files.os, call, full)
    for path in (folder, folder.parent / "new" / "below"):
        with pytest.raises(StoreError, match=f"cannot write {path}.*No space left on device"):
            small_skills(step_reward=-0.5).save(path)
        calls.clear()
    monkeypatch.undo()
    assert contents(folder) == before
    assert not (folder.parent / "new").exists()


def test_the_next_writer_clears_what_killed_ones_left(folder):
    for name in (f".taskalgebra-{'a' * 32}.tmp", ".skills-0f.tmp", f"skills-{'0' * 16}.npz"):
        (folder / name).write_bytes(b"half")
    (folder / "mine.tmp").write_text("precious")
    small_skills(step_reward=-0.5).save(folder)
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".npz", ".tmp"]
    assert (folder / "mine.tmp").exists()
