"""Trainings on disk: resumed to the same bits, also after a kill, and in their own world only."""

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from safetensors.numpy import load, save_file
from torch import nn

from deep_worlds import (
    Corridor,
    corridor_world,
    corridors,
    digest,
    short,
    short_trainer,
    small_boxman,
)
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.deep import checkpoint
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.checkpoint import Progress
from taskalgebra.learning.deep.dqn import DivergedError
from taskalgebra.learning.deep.family import weights_of
from taskalgebra.learning.deep.networks import egocentric

SETTINGS = short(n_updates=40, epsilon_end=0.1)
AVERAGED = short(n_updates=40, epsilon_end=0.1, averaging=0.1)


def boxmen():
    return small_boxman(layout="random").vector(8, max_episode_steps=50)


def contents(trainer):
    """All that a training carries on, as arrays."""
    arrays = {f"n.{k}": v for k, v in weights_of(trainer.network).items()}
    arrays |= {f"t.{k}": v for k, v in weights_of(trainer.target).items()}
    arrays |= {f"k.{k}": v for k, v in weights_of(trainer.kept).items()}
    for i, parameter in enumerate(trainer.network.parameters()):
        for key, value in trainer.optimiser.state[parameter].items():
            arrays[f"o.{i}.{key}"] = value.numpy()
    for name in ("states", "next_states", "actions", "rewards", "goals", "telling"):
        arrays[f"r.{name}"] = getattr(trainer.replay, name)
    arrays["goals"] = np.array(trainer.goals.numbers)
    arrays["frames"] = np.stack(trainer.goals.observations)
    arrays["counts"] = np.array([trainer.n_iterations, trainer.n_updates, trainer.n_steps])
    return arrays


@pytest.mark.parametrize("make", [boxmen, lambda: corridors(8)], ids=["boxman", "corridor"])
@pytest.mark.parametrize(
    ("stop_after", "settings"), [(1, SETTINGS), (2, SETTINGS), (4, SETTINGS), (2, AVERAGED)]
)
def test_a_saved_training_resumes_bit_for_bit(tmp_path, make, stop_after, settings):
    whole = short_trainer(make(), settings, 3)
    list(whole.iterations())
    half = short_trainer(make(), settings, 3)
    for _ in half.iterations():
        if half.n_iterations == stop_after:
            break
    checkpoint.save(tmp_path / "t.safetensors", half, Progress())
    resumed = short_trainer(make(), settings, 3)
    checkpoint.resume(tmp_path / "t.safetensors", resumed)
    assert resumed.n_updates == 8 * stop_after
    numbers = [resumed.n_iterations for _ in resumed.iterations()]
    assert numbers == list(range(stop_after + 1, 6))
    assert digest(contents(resumed)) == digest(contents(whole))
    assert whole.replay.n_added > whole.replay.capacity  # the ring has turned over


def test_saving_in_the_middle_changes_nothing(tmp_path):
    whole, watched = (short_trainer(boxmen(), SETTINGS, 3) for _ in range(2))
    list(whole.iterations())
    for _ in watched.iterations():
        checkpoint.save(tmp_path / "t.safetensors", watched, Progress())
    assert digest(contents(watched)) == digest(contents(whole))


KILLED = """
    import sys, time
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from deep_worlds import short, small_boxman
    from taskalgebra.learning.deep import training as deep
    from taskalgebra.learning.deep.dqn import Trainer
    from taskalgebra.learning.deep.networks import egocentric

    update = Trainer._update

    def slowly(self, rng):
        if self.n_updates == 20:  # in the middle of the third iteration, which has 8
            print("in the middle", flush=True)
            time.sleep(600)
        return update(self, rng)

    Trainer._update = slowly
    world = small_boxman(layout="random")
    settings = short(n_updates=40, epsilon_end=0.1)
    score = lambda family: float(family.reaches[0].returns(frames).mean())
    frames = world.vector(4).reset(seed=0)[0]
    folder = Path(sys.argv[1])
    deep.train(world, world.tasks, egocentric, settings, seed=7, folder=folder, score=score)
"""


def test_a_training_that_is_killed_resumes_to_the_same_bits(tmp_path):
    world = small_boxman(layout="random")
    frames = world.vector(4).reset(seed=0)[0]

    def score(family):
        return float(family.reaches[0].returns(frames).mean())

    whole, went = deep.train(world, world.tasks, egocentric, SETTINGS, seed=7, score=score)
    tests = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), str(tests)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "in the middle\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert [file.name for file in tmp_path.iterdir()] == ["all.safetensors"]
    heard = []
    resumed, went_on = deep.train(
        world,
        world.tasks,
        egocentric,
        SETTINGS,
        seed=7,
        folder=tmp_path,
        score=score,
        listener=lambda event: heard.append(event.n_updates),
    )
    assert heard == [24, 32, 40]
    weights = [digest(weights_of(f.reaches[0].network)) for f in (whole, resumed)]
    assert weights[0] == weights[1]
    assert went_on["all"].scores == went["all"].scores
    assert digest(went_on["all"].best) == digest(went["all"].best)


def test_a_finished_training_is_not_trained_again(tmp_path):
    world, heard = corridor_world(), []
    arguments = {"seed": 1, "folder": tmp_path, "score": lambda _: 0.5}
    first, went = deep.train(world, world.tasks, egocentric, short(), **arguments)
    before = (tmp_path / "all.safetensors").read_bytes()
    again, went_again = deep.train(
        world, world.tasks, egocentric, short(), **arguments, listener=heard.append
    )
    assert heard == []
    assert (tmp_path / "all.safetensors").read_bytes() == before
    assert went_again["all"].scores == went["all"].scores == [(8, 0.5), (16, 0.5), (20, 0.5)]
    one, two = (weights_of(family.reaches[0].network) for family in (first, again))
    assert digest(one) == digest(two)


@pytest.fixture
def saved(tmp_path):
    """A training after its first iteration, on disk."""
    trainer = short_trainer(corridors(8), short(), 3)
    next(trainer.iterations())
    path = tmp_path / "t.safetensors"
    checkpoint.save(path, trainer, Progress())
    return path


class Own(nn.Module):
    """A network of one's own, linear in the state."""

    def __init__(self, shape, n_actions, n_outputs):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.last = nn.Linear(shape[0], n_actions * n_outputs)

    def forward(self, states, goals):
        values = self.last(states).view(len(states), 1, *self.sizes)
        return values.expand(-1, len(goals), -1, -1)


class Longer(Corridor):
    """Looks the same, but the middle goal lies elsewhere."""

    GOALS = (0, 2, 6)


class Dearer(Corridor):
    """Looks the same, but steps cost more."""

    def step(self, action):
        seen, reward, *rest = super().step(action)
        return (seen, 2 * reward, *rest)


OTHERS = {
    "other goals": (
        lambda: short_trainer(SyncVectorEnv([Longer] * 8), short(), 3),
        "another environment",
    ),
    "other rewards": (
        lambda: short_trainer(SyncVectorEnv([Dearer] * 8), short(), 3),
        "another environment",
    ),
    "another network": (
        lambda: short_trainer(corridors(8), short(), 3, network=Own),
        "started with a VectorNetwork, not a UserNetwork",
    ),
    "another seed": (lambda: short_trainer(corridors(8), short(), 4), "seed 3, not 4"),
    "other settings": (
        lambda: short_trainer(corridors(8), short(batch_size=9), 3),
        "started with batch_size = 8, not 9",
    ),
}


@pytest.mark.parametrize(("make", "words"), OTHERS.values(), ids=OTHERS.keys())
def test_a_training_of_another_kind_is_refused(saved, make, words):
    before = saved.read_bytes()
    with pytest.raises(CheckpointError, match=words):
        checkpoint.resume(saved, make())
    assert saved.read_bytes() == before


def rewritten(path, change_record=None, **change_arrays):
    """The same file with a changed record or changed arrays, and the checksum that they have."""
    arrays = load(path.read_bytes())
    record = json.loads(arrays.pop("record").tobytes())
    record.pop("checksum")
    record = change_record(record) if change_record else record
    for name, change in change_arrays.items():
        name = name.replace("__", ".")
        arrays[name] = np.ascontiguousarray(change(arrays[name]))
    if isinstance(record, dict):
        record["checksum"] = checkpoint._checksum(arrays, record)
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), np.uint8)
    save_file(arrays, path)


def test_a_file_written_again_unchanged_is_read(saved):
    rewritten(saved)
    trainer = short_trainer(corridors(8), short(), 3)
    checkpoint.resume(saved, trainer)
    assert trainer.n_updates > 0


def test_a_file_without_its_checksum_is_refused(saved):
    saved.write_bytes(saved.read_bytes().replace(b'"checksum"', b'"chebksum"'))
    with pytest.raises(CheckpointError, match="is damaged; remove it, and train from the start"):
        checkpoint.resume(saved, short_trainer(corridors(8), short(), 3))


def without(key):
    return lambda record: {k: v for k, v in record.items() if k != key}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p: p.unlink(), "does not hold a training"),
        (lambda p: p.write_bytes(p.read_bytes()[:-100]), "does not hold a training"),
        (lambda p: p.write_bytes(b""), "does not hold a training"),
        (lambda p: p.write_text("not a training"), "does not hold a training"),
        (lambda p: save_file({"a": np.zeros(3)}, p), "does not hold a training: 'record'"),
        (lambda p: rewritten(p, lambda r: {**r, "format": "2"}), "not of the format"),
        (lambda p: rewritten(p, lambda r: [1]), "not of the format"),
        (lambda p: rewritten(p, without("world")), "'world' is missing"),
        (lambda p: rewritten(p, without("n_steps")), "consistent training: 'n_steps'"),
        (lambda p: rewritten(p, lambda r: {**r, "scores": 5}), "does not hold a consistent"),
        (lambda p: rewritten(p, network__last__bias=lambda a: a[:-1]), "consistent training"),
        (lambda p: rewritten(p, replay__actions=lambda a: a[:-1, None]), "consistent training"),
    ],
    ids=[
        "missing",
        "cut",
        "empty",
        "words",
        "foreign",
        "format",
        "list",
        "no world",
        "no counter",
        "no scores",
        "short weights",
        "odd memory",
    ],
)
def test_damaged_files_are_refused_in_words(saved, damage, words):
    damage(saved)
    with pytest.raises(CheckpointError, match=words):
        checkpoint.resume(saved, short_trainer(corridors(8), short(), 3))


def test_no_flipped_bit_goes_unnoticed(saved):
    data = saved.read_bytes()
    rng = np.random.default_rng(0)
    before = contents_of(data)
    record = data.index(b'"format"')
    places = [*rng.integers(0, len(data), 40), *rng.integers(record, len(data), 40)]
    for place in (*places, *rng.integers(8, 3000, 40)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(bytes(flipped))
        trainer = short_trainer(corridors(8), short(), 3)
        try:
            checkpoint.resume(saved, trainer)
        except CheckpointError:
            continue
        assert contents_of(bytes(flipped)) == before  # it was in the padding of the header


def contents_of(data):
    return digest(load(data))


def test_an_interrupted_save_leaves_the_old_training(saved, monkeypatch):
    before = saved.read_bytes()
    trainer = short_trainer(corridors(8), short(), 3)
    list(trainer.iterations())

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("taskalgebra.files.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(saved, trainer, Progress())
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


class Failing(Corridor):
    """After this many steps of all copies, observations are not finite any more."""

    steps = 0

    def step(self, action):
        Failing.steps += 1
        seen, reward, *rest = super().step(action)
        if Failing.steps >= 700:
            seen = np.full_like(seen, np.nan)
        return (seen, reward, *rest)


def test_a_training_that_diverges_leaves_the_last_good_checkpoint(tmp_path):
    Failing.steps = 0
    world = corridor_world(lambda n: SyncVectorEnv([Failing] * n))
    files = {}

    def listen(event):
        files[event.n_updates] = (tmp_path / "all.safetensors").read_bytes()

    settings = short(n_updates=400)
    with pytest.raises(DivergedError):
        deep.train(
            world,
            world.tasks,
            egocentric,
            settings,
            folder=tmp_path,
            score=lambda _: 0.0,
            listener=listen,
        )
    assert 1 <= len(files) < 50
    assert (tmp_path / "all.safetensors").read_bytes() == files[max(files)]
    arrays = load(files[max(files)])
    assert all(np.isfinite(a).all() for n, a in arrays.items() if n.startswith("network."))


def test_progress_keeps_the_best_weights_and_of_equals_the_later():
    progress, weights = Progress(), {"w": np.zeros(1)}
    kept = []
    for step, score in enumerate([0.2, 0.5, 0.4, 0.5, 0.1]):
        weights["w"][:] = step
        progress.add(10 * step, score, weights)
        kept.append(float(progress.best["w"][0]))
    assert kept == [0.0, 1.0, 1.0, 3.0, 3.0]
    assert progress.scores == [(0, 0.2), (10, 0.5), (20, 0.4), (30, 0.5), (40, 0.1)]


def test_a_fingerprint_is_that_of_the_world_not_of_the_moment():
    env = corridors(8)
    first = checkpoint.fingerprint(env)
    env.reset(seed=5)
    env.step(np.zeros(8, np.int64))
    assert checkpoint.fingerprint(env) == first == checkpoint.fingerprint(corridors(8))
    assert checkpoint.fingerprint(corridors(7)) != first
    world = small_boxman()
    of_task = [checkpoint.fingerprint(world.vector(64, task=t)) for t in ("blue", "circle")]
    assert of_task[0] != of_task[1]


def test_the_settings_of_a_resumed_training_must_all_be_known(saved):
    rewritten(saved, lambda r: {**r, "settings": {}})
    with pytest.raises(CheckpointError, match="started with categorical = None"):
        checkpoint.resume(saved, short_trainer(corridors(8), short(), 3))


def test_a_training_from_before_a_setting_was_added_resumes(tmp_path):
    added = {
        "averaging": 0.0,
        "directed": False,
        "pessimism": 0.0,
        "scoring_share": 1.0,
        "device": "auto",
    }
    path, settings = tmp_path / "t.safetensors", short(**added)
    trainer = short_trainer(corridors(8), settings, 3)
    next(trainer.iterations())
    checkpoint.save(path, trainer, Progress())

    def before(record):
        kept = {n: v for n, v in record["settings"].items() if n not in added}
        return {**record, "settings": kept}

    rewritten(path, before)
    again = short_trainer(corridors(8), settings, 3)
    checkpoint.resume(path, again)
    assert again.n_updates == trainer.n_updates
