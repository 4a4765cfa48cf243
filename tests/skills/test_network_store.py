"""Networks on disk: what comes back, what is refused, and that nothing good is overwritten."""

import hashlib
import json
import subprocess
import sys
import threading
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from safetensors.numpy import load, save

import taskalgebra as ta
from deep_worlds import Corridor, corridor_world, digest, short, small_boxman
from taskalgebra.folder import StoreError, digest_of
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.family import weights_of
from taskalgebra.learning.deep.networks import egocentric, paper
from taskalgebra.skills import store
from taskalgebra.theory.reach import ExtremeBounds, ReachBounds

WORLD = corridor_world()
SEEN = np.eye(10, dtype=np.float32)


def trained(world=WORLD, settings=None, tasks=None, network=egocentric):
    settings = short() if settings is None else settings
    tasks = world.tasks if tasks is None else tasks
    family, _ = deep.train(world, tasks, network, settings, score=lambda _: 0.0)
    return family


@pytest.fixture(scope="module")
def family():
    return trained()


@pytest.fixture
def saved(tmp_path, family):
    store.write(tmp_path / "skills", family, None, {"seed": 0})
    return tmp_path / "skills"


def rewrite(folder, **changes):
    """Change entries of the manifest; None removes one."""
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text()) | changes
    entries = {k: v for k, v in manifest.items() if v != "REMOVED"}
    file.write_text(json.dumps({**entries, "digest": digest_of(entries)}))


def data_file(folder):
    (file,) = folder.glob("networks-*.safetensors")
    return file


def replace_data(folder, change):
    """Change the arrays, and make the manifest fit them again."""
    arrays = load(data_file(folder).read_bytes())
    change(arrays)
    data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    data_file(folder).write_bytes(data)
    rewrite(folder, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def snapshot(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# Round trips


def test_a_directory_holds_words_and_weights_named_after_their_contents(saved):
    manifest = json.loads((saved / "manifest.json").read_text())
    digest_ = hashlib.sha256(data_file(saved).read_bytes()).hexdigest()
    assert manifest["sha256"] == digest_
    assert manifest["data"] == data_file(saved).name == f"networks-{digest_[:16]}.safetensors"
    assert manifest["tasks"] == ["edge", "early"]
    assert manifest["goals"] == ["west", "middle", "east"]
    assert manifest["training"] == {"seed": 0}
    assert len(list(saved.iterdir())) == 2


def test_weights_come_back_in_half_precision_and_all_else_as_it_was(saved, family):
    read, env = store.read(saved, WORLD)
    assert env is WORLD
    assert store.manifest(saved)["n_networks"] == 1
    (one,), (two,) = family.reaches, read.reaches
    before, after = weights_of(one.network), weights_of(two.network)
    assert before.keys() == after.keys()
    for name, weight in before.items():
        exact = weight if name.endswith("_mean") else weight.astype(np.float16)
        assert np.array_equal(after[name], exact.astype(np.float32)), name
    for name in ("goals", "numbers", "included", "n_goals"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert one.goals.dtype == two.goals.dtype
    assert (read.settings, read.shared) == (family.settings, family.shared)
    assert (read.network, read.r_bar_min) == (family.network, family.r_bar_min)
    assert read.tasks == family.tasks
    assert np.array_equal(read.goal_rewards, family.goal_rewards)
    np.testing.assert_allclose(two.returns(SEEN), one.returns(SEEN), atol=0.02)


def test_what_was_read_is_written_to_the_same_bits(saved, tmp_path):
    read, _ = store.read(saved, WORLD)
    store.write(tmp_path / "again", read, None, {"seed": 0})
    assert snapshot(tmp_path / "again") == snapshot(saved)


def test_most_of_a_file_is_in_half_precision(tmp_path):
    world = small_boxman()
    family = trained(world)
    store.write(tmp_path / "s", family, None, {})
    n_weights = sum(w.size for w in weights_of(family.reaches[0].network).values())
    assert data_file(tmp_path / "s").stat().st_size < 2 * n_weights + 40_000


@pytest.mark.parametrize(
    ("world", "network", "settings", "bounds"),
    [
        (small_boxman(), paper, short("paper"), ReachBounds),
        (small_boxman(collect="touch"), egocentric, short(), ExtremeBounds),
        (small_boxman(layout="random"), egocentric, short(categorical=False), ReachBounds),
    ],
    ids=["paper", "touch", "scalar"],
)
def test_skills_come_back_with_their_world_and_act_the_same(
    tmp_path, world, network, settings, bounds
):
    skills = ta.Skills(trained(world, settings, network=network), world)
    skills.save(tmp_path / "skills")
    loaded = ta.load(tmp_path / "skills")
    assert isinstance(loaded.family.bounds, bounds)
    assert (list(loaded.tasks), loaded.space.world) == (list(skills.tasks), world.space.world)
    assert (loaded.env.layout, loaded.env.collect) == (world.layout, world.collect)
    frames = world.vector(60).reset(seed=0)[0]
    assert np.array_equal(loaded.env.vector(60).reset(seed=0)[0], frames)
    for text in ("blue", "~blue", "blue ^ circle"):
        q, again = skills[text].q_bar(frames), loaded[text].q_bar(frames)
        np.testing.assert_allclose(again, q, atol=0.03)
        best = np.sort(q.max(1), axis=1)
        clear = best[:, -1] - best[:, -2] > 0.06
        same = skills[text].policy.actions(frames) == loaded[text].policy.actions(frames)
        assert same[clear].all()
    loaded.save(tmp_path / "again")
    twice = ta.load(tmp_path / "again")
    assert np.array_equal(twice["blue"].q_bar(frames), loaded["blue"].q_bar(frames))


def test_a_world_of_ones_own_is_given_when_loading(saved):
    skills = ta.load(saved, env=WORLD)
    assert skills.env is WORLD
    assert skills["edge & ~early"].evaluate(5).episodes == 5
    without = ta.load(saved)
    assert without.env is None
    actions = [s["~edge"].policy.actions(SEEN).tolist() for s in (skills, without)]
    assert actions[0] == actions[1]
    with pytest.raises(ValueError, match=r"no environment .*; give one: load\(path, env=...\)"):
        without["edge"].evaluate(5)


def test_a_described_world_need_not_be_given_and_may_be(tmp_path):
    world = small_boxman(
        objects={"purple circle": (np.int64(2), np.int64(3)), "blue square": [5, 5]}
    )
    ta.Skills(trained(world), world).save(tmp_path / "s")
    loaded = ta.load(tmp_path / "s")
    assert np.array_equal(loaded.env.places, world.places)
    assert ta.load(tmp_path / "s", env=world).env is world


def test_an_objects_table_that_changes_later_does_not_change_the_description():
    objects = {"purple circle": (2, 3)}
    world = small_boxman(objects=objects)
    objects["blue square"] = (1, 1)
    assert store.describe(world)["arguments"]["objects"] == {"purple circle": [2, 3]}
    names = small_boxman(layout="random", objects=("purple circle", "blue square"))
    assert store.describe(names)["arguments"]["objects"] == ["purple circle", "blue square"]


def test_loading_warns_of_nothing(saved):
    script = f"import taskalgebra as ta; print(ta.load({str(saved)!r}).space.n_goals)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == ("3", "")


def test_means_of_vectors_keep_their_precision_and_large_weights_their_size(tmp_path):
    family = trained()
    network = family.first
    with torch.no_grad():
        network.state_mean[0] = 1000.3
        network.goal_mean[1] = 1e6
        network.last.bias[0] = 1e5
    store.write(tmp_path / "s", family, None, {})
    read = store.read(tmp_path / "s")[0].first
    assert float(read.state_mean[0]) == pytest.approx(1000.3, abs=1e-3)
    assert float(read.goal_mean[1]) == 1e6
    assert read.last.bias[0].item() == 1e5


# Writing


def test_saving_again_replaces_the_old_networks(saved):
    first = data_file(saved)
    other = trained(settings=short(batch_size=9))
    store.write(saved, other, None, {})
    assert data_file(saved) != first
    assert len(list(saved.iterdir())) == 2
    read, _ = store.read(saved)
    assert read.settings.batch_size == 9


def broken(family):
    (source,) = family.reaches
    network = type(source.network)((10,), 3, source.head.n_outputs)
    network.load_state_dict(source.network.state_dict())
    with torch.no_grad():
        network.second.bias[3] = np.inf
    reach = type(source)(network, source.head, source.goals, source.numbers, 3, source.included)
    return replace(family, reaches=(reach,))


@pytest.mark.parametrize(
    ("change", "notes", "words"),
    [
        (broken, {}, "weights of 'second.bias' are not finite; nothing was saved"),
        (lambda n: n, {"id": object()}, "cannot be written as JSON"),
    ],
    ids=["infinite weights", "notes without words"],
)
def test_what_cannot_be_saved_leaves_what_was_there(saved, family, change, notes, words):
    before = snapshot(saved)
    for folder in (saved, saved.parent / "new"):
        with pytest.raises(StoreError, match=words):
            store.write(folder, change(family), None, notes)
    assert snapshot(saved) == before
    assert not (saved.parent / "new").exists()


@pytest.mark.parametrize("failing", [1, 2], ids=["of the data", "of the manifest"])
def test_an_interrupted_save_leaves_readable_networks(saved, monkeypatch, failing):
    import os

    calls, move = [], os.replace

    def fail(*paths):
        calls.append(paths)
        if len(calls) == failing:
            raise OSError("disk full")
        return move(*paths)

    before = digest(weights_of(store.read(saved)[0].first))
    other = trained(settings=short(batch_size=9))
    monkeypatch.setattr("taskalgebra.files.os.replace", fail)
    with pytest.raises(StoreError, match="disk full"):
        store.write(saved, other, None, {})
    monkeypatch.undo()
    assert not list(saved.glob("*.tmp"))
    assert digest(weights_of(store.read(saved)[0].first)) == before
    store.write(saved, other, None, {})
    assert store.read(saved)[0].settings.batch_size == 9


def test_directories_of_others_are_not_touched(tmp_path, family):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("important")
    with pytest.raises(StoreError, match=r"holds other files, such as 'notes.txt'"):
        store.write(mine, family, None, {})
    with pytest.raises(StoreError, match="is a file; give a directory"):
        store.write(mine / "notes.txt", family, None, {})
    ta.solve(ta.FourRooms()).save(tmp_path / "tables")
    before = snapshot(tmp_path / "tables")
    with pytest.raises(StoreError, match=r"does not have the format.*new or empty directory"):
        store.write(tmp_path / "tables", family, None, {})
    assert snapshot(tmp_path / "tables") == before
    assert snapshot(mine) == {"notes.txt": b"important"}
    with pytest.raises(StoreError, match="cannot create the directory"):
        store.write(mine / "notes.txt" / "below", family, None, {})


def test_tables_are_not_saved_over_networks(saved):
    before = snapshot(saved)
    with pytest.raises(StoreError, match="does not have the format"):
        ta.solve(ta.FourRooms()).save(saved)
    assert snapshot(saved) == before


def test_what_an_interrupted_first_save_left_is_in_nobodys_way(tmp_path, family):
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / f"networks-{'0' * 16}.safetensors").write_bytes(b"half")
    (folder / ".networks-ab12.tmp").write_bytes(b"half")
    store.write(folder, family, None, {})
    assert store.read(folder)[0].tasks.keys() == family.tasks.keys()


def test_readers_see_the_old_networks_or_the_new_ones(saved, family):
    other = trained(settings=short(batch_size=9))
    stop, seen, failures = threading.Event(), set(), []

    def read():
        while not stop.is_set():
            try:
                seen.add(store.read(saved)[0].settings.batch_size)
            except StoreError as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(40):
        store.write(saved, other if i % 2 else family, None, {})
    stop.set()
    reader.join()
    assert not failures
    assert seen <= {8, 9}


# Reading


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d[:-1],
        lambda d: d[: len(d) // 2],
        lambda d: b"",
        lambda d: d + b" ",
        lambda d: d[:-5] + bytes([d[-5] ^ 1]) + d[-4:],
    ],
    ids=["cut by one", "cut in half", "empty", "longer", "altered"],
)
def test_a_damaged_data_file_is_refused(saved, damage):
    data_file(saved).write_bytes(damage(data_file(saved).read_bytes()))
    with pytest.raises(StoreError, match="damaged or truncated; save the skills again"):
        ta.load(saved)


def test_a_missing_data_file_is_refused(saved):
    data_file(saved).unlink()
    with pytest.raises(StoreError, match="cannot read the data of"):
        ta.load(saved)


def test_a_data_file_that_is_no_safetensors_is_refused(saved):
    data_file(saved).write_bytes(b"hello")
    rewrite(saved, sha256=hashlib.sha256(b"hello").hexdigest(), size=5)
    with pytest.raises(StoreError, match="does not hold consistent skills"):
        ta.load(saved)


ARRAYS = {
    "a missing weight": lambda a: a.pop("0.weights.last.bias"),
    "a short weight": lambda a: a.update({"0.weights.last.bias": a["0.weights.last.bias"][1:]}),
    "missing goals": lambda a: a.pop("0.goals"),
    "a missing task": lambda a: a.update({"tasks": a["tasks"][:1]}),
    "another network": lambda a: a.update({"1.goals": a["0.goals"]}),
    "no rewards": lambda a: a.pop("goal_rewards"),
    "odd bounds": lambda a: a.update({"r_empty": a["r_universal"]}),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_that_do_not_fit_each_other_are_refused(saved, change):
    replace_data(saved, change)
    with pytest.raises(StoreError, match="does not hold consistent skills"):
        ta.load(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"data": "../../etc/passwd"},
        {"data": None},
        {"sha256": 5},
        {"tasks": []},
        {"goals": ["west", "west", "east"]},
        {"actions": "abc"},
        {"n_networks": 0},
        {"n_networks": True},
        {"shared": "yes"},
        {"world": "Boxman"},
        {"settings": None},
        *({key: "REMOVED"} for key in ("data", "tasks", "n_networks", "shared", "world")),
        {"settings": "REMOVED"},
    ],
    ids=str,
)
def test_a_manifest_with_a_senseless_entry_is_refused(saved, changes):
    rewrite(saved, **changes)
    (key,) = changes
    with pytest.raises(StoreError, match=f"the entry '{key}' is (missing|invalid)"):
        ta.load(saved)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_networks": 2}, "does not hold 2 networks"),
        ({"settings": {}}, "consistent skills: 'network'"),
        ({"settings": {"network": "resnet"}}, "names the network 'resnet', expected one of"),
        ({"settings": {"network": "egocentric", "speed": 3}}, "speed"),
        ({"settings": {"network": "egocentric", "n_updates": -1}}, "n_updates is -1"),
        ({"goals": ["west", "middle"]}, "consistent"),
        ({"actions": ["left", "right"]}, "consistent"),
        ({"tasks": ["edge", "early", "late"]}, "consistent"),
        ({"world": {"id": "Chess"}}, r"unknown environment .*Chess.*load\(path, env=...\)"),
        ({"world": {"id": "TaskAlgebra/Boxman-v0"}}, "arguments that are never saved"),
        (
            {"world": {"id": "TaskAlgebra/Boxman-v0", "arguments": {"layout": "round"}}},
            "cannot be made: layout is 'round'",
        ),
        (
            {"world": {"id": "TaskAlgebra/Boxman-v0", "arguments": {"colour": 1}}},
            "cannot be made: .*colour",
        ),
    ],
    ids=str,
)
def test_a_manifest_that_does_not_fit_its_data_is_refused(saved, changes, words):
    rewrite(saved, **changes)
    with pytest.raises(StoreError, match=words):
        ta.load(saved)


def test_a_directory_of_another_format_or_of_none_is_refused(saved, tmp_path):
    (saved / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match="not valid JSON"):
        store.read(saved)
    (saved / "manifest.json").write_text('{"format": "taskalgebra networks 3"}')
    with pytest.raises(StoreError, match=r"does not have the format.*a newer version .*: upgrade"):
        store.read(saved)
    with pytest.raises(StoreError, match="no skills at"):
        store.read(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="no skills at"):
        ta.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (small_boxman(), "goals west, middle, east and the actions left, right, take, not to the"),
        (corridor_world(r_universal=5.0), "other rewards r_U and r_∅"),
        (corridor_world(r_universal=1.0), "other rewards r_U and r_∅"),
    ],
    ids=["other goals", "richer", "poorer"],
)
def test_networks_of_another_world_are_refused(saved, world, words):
    with pytest.raises(StoreError, match=words):
        ta.load(saved, env=world)


# Names of version 0.1


OLD = {
    "updates_per_iteration": "chapter",
    "tau": "target_rate",
    "target_interval": "target_every",
    "v_min": "low",
    "v_max": "high",
}


def test_settings_under_their_names_of_version_0_1_are_read(saved, family):
    settings = json.loads((saved / "manifest.json").read_text())["settings"]
    assert set(OLD) < set(settings)
    rewrite(saved, settings={OLD.get(name, name): value for name, value in settings.items()})
    assert store.read(saved)[0].settings == family.settings


# Networks of one's own


class Product(torch.nn.Module):
    """Linear in the product of state and goal."""

    def __init__(self, shape, n_actions, n_outputs):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.last = torch.nn.Linear(shape[0], n_actions * n_outputs)

    def forward(self, states, goals):
        return self.last(states[:, None] * goals[None]).view(len(states), len(goals), *self.sizes)


def test_a_network_of_ones_own_is_saved_and_handed_over_again(tmp_path):
    family = trained(network=Product)
    ta.Skills(family, WORLD).save(tmp_path / "s")
    assert store.manifest(tmp_path / "s")["settings"]["network"] is None
    with pytest.raises(StoreError, match=r"pass it: load\(path, network=...\)"):
        ta.load(tmp_path / "s", WORLD)
    loaded = ta.load(tmp_path / "s", WORLD, network=Product)
    assert loaded.family.network is Product
    np.testing.assert_allclose(loaded["edge"].q_bar(SEEN), family["edge"].q_bar(SEEN), atol=0.02)
    loaded.save(tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "s")


def test_what_need_not_be_handed_over_is_refused(saved, tmp_path):
    with pytest.raises(
        StoreError, match="the network of these skills is the library's own, 'egocentric'"
    ):
        ta.load(saved, network=Product)
    ta.solve(ta.FourRooms()).save(tmp_path / "tables")
    with pytest.raises(StoreError, match="without networks; leave out network="):
        ta.load(tmp_path / "tables", network=Product)


class Far(Corridor):
    """The same corridor, seen as a small array of large numbers."""

    observation_space = gym.spaces.Box(0.0, 2e4, (2, 5), np.float32)

    def seen(self):
        return (10_000.3 + 0.1 * super().seen()).reshape(2, 5).astype(np.float32)


def test_large_numbers_in_arrays_of_any_shape_are_saved_as_they_are(tmp_path):
    world = corridor_world(lambda n: SyncVectorEnv([Far] * n))
    family = trained(world, network=networks.vector)
    store.write(tmp_path / "skills", family, None)
    again, _ = store.read(tmp_path / "skills", world)
    seen = (10_000.3 + 0.1 * SEEN).reshape(-1, 2, 5).astype(np.float32)
    for before, after in zip(family.values, again.values, strict=True):
        assert np.abs(before.q_bar(seen) - after.q_bar(seen)).max() < 0.01
