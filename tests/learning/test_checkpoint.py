"""Runs on disk: resumed bit for bit, and only in their own world."""

import numpy as np
import pytest

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning.checkpoint import CheckpointError, fingerprint, load, save
from taskalgebra.learning.q_learning import Settings, Stop, goal_oriented_q_learning


def test_a_saved_run_resumes_bit_for_bit(tmp_path, four_rooms):
    task = four_rooms.tasks["top"]
    settings = Settings(epsilon=0.5, learning_rate=0.7)
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
