"""Returns in files: the same ones, whoever plans them, and never wrong ones."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import taskalgebra as ta
from maze import maze_world
from taskalgebra.folder import DIGEST, StoreError, digest_of
from taskalgebra.planning.exact import PlannedFamily, PositiveCycleError, plan, return_to_goal
from taskalgebra.planning.storage import (
    missing_blocks,
    plan_block,
    plan_numbered,
    prepare,
    stored_returns,
)
from taskalgebra.sweeps.cells import Cell
from taskalgebra.sweeps.processes import Processes
from taskalgebra.sweeps.running import run
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.build import from_arrays


def maze():
    return maze_world(31, 31, 70)


@pytest.fixture
def stored(tmp_path):
    stored_returns(maze(), tmp_path / "far")
    return tmp_path / "far"


def blocks(place):
    return sorted(path for path in place.iterdir() if path.suffix == ".bin")


def test_stored_returns_are_those_held_in_memory_and_are_mapped(stored):
    found = stored_returns(maze(), stored)
    expected = return_to_goal(maze())
    assert np.array_equal(found.to_goal, expected.to_goal)
    assert len(blocks(stored)) == 3
    for block in found.held.blocks:
        assert not block.flags.writeable and not block.flags.owndata
    rng = np.random.default_rng(0)
    rewards = rng.random(70)
    states = np.arange(50)
    assert np.array_equal(found.q_bar(rewards, -9.0, states), expected.q_bar(rewards, -9.0, states))


def test_rewards_that_differ_are_stored_as_they_are(tmp_path):
    rng = np.random.default_rng(3)
    next_state = rng.integers(0, 300, (300, 3))
    mdp = from_arrays(next_state, -rng.integers(1, 9, (300, 3)) / 8, np.arange(20))
    found = stored_returns(mdp, tmp_path / "far")
    assert np.array_equal(found.to_goal, return_to_goal(mdp).to_goal)
    hashes = [path.read_bytes() for path in blocks(tmp_path / "far")]
    prepare(tmp_path / "other", mdp)
    for number in missing_blocks(tmp_path / "other"):
        plan_block(tmp_path / "other", number)
    assert [path.read_bytes() for path in blocks(tmp_path / "other")] == hashes


def test_blocks_are_planned_in_any_order_by_any_process(tmp_path, stored):
    place = tmp_path / "elsewhere"
    prepare(place, maze())
    assert missing_blocks(place) == [0, 1, 2]
    plan_block(place, 2)
    code = (
        "import sys; from taskalgebra.planning.storage import plan_block\n"
        "print(plan_block(sys.argv[1], 0))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True
    )
    assert missing_blocks(place) == [1]
    assert plan_block(place, 0) == other.stdout.strip()
    before = {path: path.stat().st_mtime_ns for path in blocks(place)}
    stored_returns(maze(), place)
    assert missing_blocks(place) == []
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    for one, two in zip(blocks(place), blocks(stored), strict=True):
        assert one.read_bytes() == two.read_bytes()
    with pytest.raises(ValueError, match="the number of the block"):
        plan_block(place, 3)


@pytest.mark.parametrize("harm", ["flip", "cut", "record", "gone"])
def test_a_damaged_block_is_named_and_planned_again(stored, harm, caplog):
    block = blocks(stored)[1]
    record = block.with_suffix(".json")
    good = block.read_bytes()
    if harm == "flip":
        data = bytearray(good)
        data[1000] ^= 1
        block.write_bytes(data)
    elif harm == "cut":
        block.write_bytes(good[:-1])
    elif harm == "record":
        record.write_text(record.read_text().replace("uint8", "uint16"))
    else:
        block.unlink()
    assert missing_blocks(stored) == [1]
    assert str(block) in caplog.text and "planned again" in caplog.text
    found = stored_returns(maze(), stored)
    assert np.array_equal(found.to_goal, return_to_goal(maze()).to_goal)
    assert block.read_bytes() == good
    assert missing_blocks(stored) == []


def test_a_block_under_the_name_of_another_is_planned_again(stored, caplog):
    one, two, _ = blocks(stored)
    good = two.read_bytes()
    for ending in (".bin", ".json"):
        two.with_suffix(ending).write_bytes(one.with_suffix(ending).read_bytes())
    assert missing_blocks(stored) == [1]
    assert "another block" in caplog.text
    found = stored_returns(maze(), stored)
    assert np.array_equal(found.to_goal, return_to_goal(maze()).to_goal)
    assert two.read_bytes() == good


def test_a_block_of_another_shape_is_planned_again(stored, caplog):
    record = blocks(stored)[2].with_suffix(".json")
    words = json.loads(record.read_text())
    del words[DIGEST]
    words["shape"].reverse()
    record.write_text(json.dumps({**words, DIGEST: digest_of(words)}))
    assert missing_blocks(stored) == [2]
    assert "its shape is" in caplog.text


@pytest.mark.parametrize("harm", ["array", "gone", "manifest"])
def test_what_prepare_wrote_is_written_anew_where_it_is_damaged(stored, harm):
    file = stored / ("returns.json" if harm == "manifest" else "next_state.npy")
    good, kept = file.read_bytes(), [path.stat().st_mtime_ns for path in blocks(stored)]
    file.write_bytes(good[:-9] + b"damaged!!")
    if harm == "manifest":
        with pytest.raises(StoreError, match="remove it, and prepare again"):
            prepare(stored, maze())
    if harm != "array":
        file.unlink()
    prepare(stored, maze())
    assert file.read_bytes() == good
    assert missing_blocks(stored) == []
    assert [path.stat().st_mtime_ns for path in blocks(stored)] == kept


def test_blocks_are_cells_of_a_sweep(tmp_path):
    world, place = maze(), tmp_path / "far"
    prepare(place, world)
    cells = [Cell(plan_numbered, (place, number)) for number in missing_blocks(place)]
    with Processes(2) as engine:
        hashes = run(cells, engine)
    assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in blocks(place)] == hashes
    space = TaskSpace(world)
    task, states = space.task([1, 40, 69]), np.arange(world.n_states)
    mapped, direct = (plan(space, [task], storage=where) for where in (place, None))
    one, two = (each.policy(each.values[0]).actions(states) for each in (mapped, direct))
    assert np.array_equal(one, two)
    returns = stored_returns(world, place)
    assert np.array_equal(returns.to_goal, return_to_goal(world).to_goal)
    assert not any(block.flags.owndata for block in returns.held.blocks)


def test_planning_that_was_killed_goes_on_with_what_is_missing(tmp_path):
    code = (
        "import os, sys\nfrom maze import maze_world\n"
        "from taskalgebra.planning import storage\n"
        "mdp = maze_world(31, 31, 70)\nstorage.prepare(sys.argv[1], mdp)\n"
        "storage.plan_block(sys.argv[1], 1)\nos.kill(os.getpid(), 9)\n"
    )
    place = tmp_path / "far"
    path = os.pathsep.join(sys.path)
    killed = subprocess.run(
        [sys.executable, "-c", code, str(place)],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert killed.returncode == -9
    kept = blocks(place)[0].stat().st_mtime_ns
    assert missing_blocks(place) == [0, 2]
    found = stored_returns(maze(), place)
    assert np.array_equal(found.to_goal, return_to_goal(maze()).to_goal)
    assert blocks(place)[1].stat().st_mtime_ns == kept


def test_no_room_is_an_error_that_names_the_file_and_keeps_what_is_complete(tmp_path):
    code = (
        "import resource, sys\nfrom maze import maze_world\nimport signal\n"
        "from taskalgebra.planning import storage\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "mdp = maze_world(31, 31, 70)\nstorage.prepare(sys.argv[1], mdp)\n"
        "storage.plan_block(sys.argv[1], 2)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))\n"
        "storage.plan_block(sys.argv[1], 0)\n"
    )
    place = tmp_path / "far"
    full = subprocess.run(
        [sys.executable, "-c", code, str(place)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 1
    assert f"StoreError: cannot write {place / 'block-000000.bin'}: File too large" in full.stderr
    assert missing_blocks(place) == [0, 1]


MAPPED_WITH_FEW_FILES = """
import os, resource, sys
from maze import maze_world
from taskalgebra.planning import storage
mdp = maze_world(31, 31, 225)
few, most = len(os.listdir("/proc/self/fd")) + 5, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for files in (few, few + 100):
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    try:
        found = storage.stored_returns(mdp, sys.argv[1])
    except storage.StoreError as error:
        print(error)
print(len(found.held.blocks))
"""


def test_more_blocks_than_files_that_may_be_open_are_said_and_not_taken_for_damaged(tmp_path):
    mdp, place = maze_world(31, 31, 225), tmp_path / "far"
    assert len(stored_returns(mdp, place).held.blocks) == 8
    before = {path: path.stat().st_mtime_ns for path in blocks(place)}
    done = subprocess.run(
        [sys.executable, "-c", MAPPED_WITH_FEW_FILES, str(place)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    said, n_blocks = done.stdout.splitlines()
    assert f"cannot map the 8 blocks of {place}: Too many open files" in said
    assert "ulimit -n" in said and n_blocks == "8" and "damaged" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in blocks(place)} == before


def test_directories_of_other_things_are_refused(tmp_path, stored):
    with pytest.raises(StoreError, match="returns of another world"):
        stored_returns(maze_world(31, 31, 69), stored)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match=r"other files, such as 'letter\.txt'"):
        prepare(tmp_path / "mine", maze())
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        prepare(tmp_path / "file", maze())
    with pytest.raises(StoreError, match="holds no returns"):
        plan_block(tmp_path / "nowhere", 0)
    graph_file = stored / "next_state.npy"
    graph_file.write_bytes(graph_file.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="damaged"):
        plan_block(stored, 0)
    (stored / "returns.json").write_text("{}")
    with pytest.raises(StoreError, match="digest does not fit"):
        missing_blocks(stored)


def test_only_what_can_be_stored_is_asked_for(tmp_path):
    slippery = ta.FourRooms(slip_probability=0.1)
    with pytest.raises(ValueError, match="storage= keeps the returns of a deterministic world"):
        ta.solve(slippery, storage=tmp_path / "far")
    with pytest.raises(ValueError, match="only deterministic worlds"):
        prepare(tmp_path / "far", slippery.space.mdp)
    with pytest.raises(ValueError, match="without a horizon"):
        ta.solve(ta.FourRooms(), horizon=5, storage=tmp_path / "far")
    space = ta.FourRooms().space
    dense = space.from_rewards(space.r_universal, np.full(space.mdp.step_reward.shape, -1.0))
    with pytest.raises(ValueError, match="dense tasks need tables, which storage="):
        plan(space, [dense], storage=tmp_path / "far")
    earning = from_arrays([[0, 1], [1, 1]], [[1, -1], [0, 0]], goals=[1])
    with pytest.raises(PositiveCycleError):
        prepare(tmp_path / "far", earning)
    assert not (tmp_path / "far").exists()


def test_solve_with_storage_acts_as_solve_does(tmp_path):
    world = ta.FourRooms(40)
    tables, mapped = ta.solve(world), ta.solve(world, storage=tmp_path / "far")
    assert isinstance(mapped.family, PlannedFamily)
    for text in ("top", "~left & top", "top ^ left", "~(top | left)"):
        names = list(world.tasks)
        expression = text.replace("top", names[0]).replace("left", names[1])
        assert np.array_equal(mapped[expression].actions, tables[expression].actions)
        assert mapped[expression].evaluate(20) == tables[expression].evaluate(20)
    again = ta.solve(world, storage=tmp_path / "far")
    assert np.array_equal(again[names[0]].v, tables[names[0]].v)
    assert isinstance(plan(TaskSpace(world.space.mdp), [], storage=tmp_path / "far"), PlannedFamily)
