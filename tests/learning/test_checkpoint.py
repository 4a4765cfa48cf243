"""Runs on disk: resumed bit for bit, and only in their own world."""

import errno
import os

import numpy as np
import pytest

import taskalgebra as ta
from deep_worlds import corridor_world
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.checkpoint import CheckpointError, fingerprint, load, save
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning


@pytest.mark.parametrize(("slip", "alpha"), [(0.0, 0.7), (0.2, None)])
def test_a_saved_run_resumes_bit_for_bit(tmp_path, slip, alpha):
    task = FourRooms(slip_probability=slip).tasks["top"]
    settings = Settings(epsilon=0.5, learning_rate=alpha)
    whole = goal_oriented_q_learning(task, Stop(steps=5000), settings=settings, seed=9)
    half = goal_oriented_q_learning(task, Stop(steps=2222), settings=settings, seed=9)
    save(tmp_path / "run.npz", half, fingerprint(task))
    resumed = load(tmp_path / "run.npz", fingerprint(task))
    resumed = goal_oriented_q_learning(task, Stop(steps=5000), settings=settings, run=resumed)
    assert np.array_equal(resumed.q, whole.q)
    assert np.array_equal(resumed.stream, whole.stream)
    assert resumed.n_episodes == whole.n_episodes


def test_a_run_of_another_world_or_task_is_refused(tmp_path, four_rooms):
    task = four_rooms.tasks["top"]
    run = goal_oriented_q_learning(task, Stop(steps=10))
    save(tmp_path / "run.npz", run, fingerprint(task))
    others = (four_rooms.tasks["left"], FourRooms(slip_probability=0.1).tasks["top"])
    for other in (*others, FourRooms(step_reward=-0.2).tasks["top"]):
        with pytest.raises(CheckpointError, match="another world or for another task"):
            load(tmp_path / "run.npz", fingerprint(other))


def test_missing_and_damaged_files_are_refused(tmp_path, four_rooms):
    task = four_rooms.tasks["top"]
    with pytest.raises(CheckpointError, match="does not hold a run"):
        load(tmp_path / "nothing.npz", fingerprint(task))
    save(tmp_path / "run.npz", goal_oriented_q_learning(task, Stop(steps=10)), fingerprint(task))
    data = (tmp_path / "run.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(data[: len(data) // 2])
    (tmp_path / "words.npz").write_text("not a run")
    np.save(tmp_path / "lone.npy", np.zeros(3))
    rng = np.random.default_rng(0)
    for _ in range(60):
        flipped = bytearray(data)
        flipped[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        (tmp_path / "flipped.npz").write_bytes(bytes(flipped))
        try:
            load(tmp_path / "flipped.npz", fingerprint(task))
        except CheckpointError:
            continue
    for name in ("cut.npz", "words.npz", "lone.npy"):
        with pytest.raises(CheckpointError, match="does not hold a run"):
            load(tmp_path / name, fingerprint(task))


def test_an_interrupted_save_leaves_the_old_run(tmp_path, four_rooms, monkeypatch):
    task = four_rooms.tasks["top"]
    path = tmp_path / "run.npz"
    save(path, goal_oriented_q_learning(task, Stop(steps=10)), fingerprint(task))

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("taskalgebra.files.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save(path, goal_oriented_q_learning(task, Stop(steps=99)), fingerprint(task))
    assert load(path, fingerprint(task)).n_steps == 10
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def files_of(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "learner", [ta.QLearning(steps=2000), ta.FewSteps(), ta.DeepQ(n_updates=1)], ids=type
)
@pytest.mark.parametrize(
    "there", ["thesis.tex", "weights.npz", "manifest.json", "few steps.npz", "notes", "sub/file"]
)
def test_a_directory_with_other_things_is_not_taken_for_checkpoints(tmp_path, learner, there):
    pytest.importorskip("torch")
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("precious")
    before = files_of(tmp_path)
    env = corridor_world() if isinstance(learner, ta.DeepQ) else ta.FourRooms()
    with pytest.raises(CheckpointError, match="besides checkpoints of this learner"):
        ta.learn(env, learner=learner, folder=tmp_path)
    assert files_of(tmp_path) == before


def test_checkpoints_of_another_learner_and_saved_skills_are_refused(tmp_path):
    room = ta.from_text("A..B")
    tasks = {"a": ["A"]}
    ta.learn(room, tasks, learner=ta.QLearning(steps=2000), folder=tmp_path / "tables")
    ta.learn(room, tasks, learner=ta.FewSteps(), folder=tmp_path / "few")
    ta.solve(room, tasks).save(tmp_path / "skills")
    for wrong in ("few", "skills"):
        with pytest.raises(CheckpointError, match="such as"):
            ta.learn(room, tasks, learner=ta.QLearning(steps=2000), folder=tmp_path / wrong)
    for wrong in ("tables", "skills"):
        with pytest.raises(CheckpointError, match="such as"):
            ta.learn(room, tasks, learner=ta.FewSteps(), folder=tmp_path / wrong)


def test_a_folder_that_cannot_be_written_to_is_refused_before_learning(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    def learned(*_, **__):
        raise AssertionError("it should not have come to this")

    monkeypatch.setattr("taskalgebra.files.os.write", full)
    monkeypatch.setattr("taskalgebra.learning.tabular.goal_oriented_q_learning", learned)
    with pytest.raises(OSError, match=r"No space left on device: .*new"):
        ta.learn(ta.FourRooms(), learner=ta.QLearning(steps=2000), folder=tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_the_next_checkpoint_clears_what_a_killed_learner_left(tmp_path):
    (tmp_path / f".taskalgebra-{'0' * 32}.tmp").write_bytes(b"half")
    ta.learn(ta.from_text("A..B"), {"a": ["A"]}, learner=ta.FewSteps(), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["few-steps.npz"]


@pytest.mark.parametrize(
    "change",
    [
        {"q": np.full((108, 4, 5), np.nan)},
        {"q": np.zeros((108, 4, 5), np.float32)},
        {"q": np.zeros((108, 4))},
        {"q": np.zeros((108, 4, 5), ">f8")},
        {"seen_goals": np.zeros(4, ">i4")},
        {"stream": np.zeros(2, ">u8")},
        {"n_steps": np.array(-5)},
        {"n_episodes": np.array(-1)},
        {"seen_goals": np.full(4, 9, np.int32)},
        {"seen_goals": np.zeros(3, np.int32)},
        {"stream": np.zeros(2)},
        {"stream": np.zeros(1, np.uint64)},
        {"position": np.array(10**6)},
        {"n_steps": np.array(1.5)},
        {"n_steps": np.zeros(3, np.int64)},
        {"converged": np.array("yes")},
    ],
    ids=str,
)
def test_runs_of_other_types_or_shapes_are_refused(tmp_path, four_rooms, change):
    task = four_rooms.tasks["top"]
    save(tmp_path / "run.npz", goal_oriented_q_learning(task, Stop(steps=10)), "here")
    with np.load(tmp_path / "run.npz") as arrays:
        held = dict(arrays)
    np.savez(tmp_path / "run.npz", **{**held, **change})
    with pytest.raises(CheckpointError, match="does not hold a run"):
        load(tmp_path / "run.npz", "here")


@pytest.mark.parametrize("way", [os.mkfifo, os.mkdir, lambda path: os.truncate(path, 2**40)])
def test_what_is_no_checkpoint_is_refused_without_waiting(tmp_path, four_rooms, way):
    task = four_rooms.tasks["top"]
    path = tmp_path / "run.npz"
    save(path, goal_oriented_q_learning(task, Stop(steps=10)), "here")
    if way in (os.mkfifo, os.mkdir):
        path.unlink()
    way(path)
    with pytest.raises(CheckpointError, match="does not hold a run"):
        load(path, "here")
