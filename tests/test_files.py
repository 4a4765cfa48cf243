"""Files and archives: written whole or not at all, read without waiting and within bounds."""

import errno
import io
import os
import resource
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest

from taskalgebra import files, npz


def names(directory):
    return sorted(path.name for path in directory.iterdir())


# Writing


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
def test_an_error_names_the_file_and_leaves_the_old_one(tmp_path, monkeypatch, number, call):
    path = tmp_path / "kept"
    files.replace(path, b"old")

    def failing(*_):
        raise OSError(number, os.strerror(number), "a temporary file")

    monkeypatch.setattr(files.os, call, failing)
    with pytest.raises(OSError, match="kept") as caught:
        files.replace(path, b"new")
    monkeypatch.undo()
    assert (caught.value.errno, caught.value.filename) == (number, str(path))
    assert (names(tmp_path), path.read_bytes()) == (["kept"], b"old")


def test_short_writes_are_continued(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(files.os, "write", lambda handle, data: write(handle, data[:3]))
    files.replace(tmp_path / "kept", b"hello, world")
    assert (tmp_path / "kept").read_bytes() == b"hello, world"


def test_a_limit_of_the_system_is_an_error_with_the_path(tmp_path):
    script = (
        "import resource, sys; from pathlib import Path; from taskalgebra import files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))\n"
        "try: files.replace(Path(sys.argv[1]), bytes(20000))\n"
        "except OSError as error: print(error.errno, error.filename)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "x")], capture_output=True, text=True
    )
    assert done.stdout.split() == [str(errno.EFBIG), str(tmp_path / "x")], done.stderr
    assert names(tmp_path) == []


def leftover(directory):
    path = directory / f".taskalgebra-{'0' * 32}.tmp"
    path.write_bytes(b"half")
    return path


def test_the_next_writer_clears_what_a_killed_one_left(tmp_path):
    leftover(tmp_path)
    (tmp_path / ".taskalgebra-mine.tmp").write_text("another's")
    (tmp_path / "notes.tmp").write_text("another's")
    files.replace(tmp_path / "kept", b"")
    assert names(tmp_path) == [".taskalgebra-mine.tmp", "kept", "notes.tmp"]


def test_what_a_living_writer_holds_is_not_cleared(tmp_path):
    with files._temporary(tmp_path / "slow", b"half") as held:
        files.replace(tmp_path / "quick", b"")
        assert held.exists()
    assert names(tmp_path) == ["quick"]


def test_writers_of_one_directory_do_not_disturb_each_other(tmp_path):
    errors = []

    def write(i):
        try:
            for _ in range(30):
                files.replace(tmp_path / f"{i % 2}", bytes([i]) * 100)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert names(tmp_path) == ["0", "1"]
    assert len(set((tmp_path / "0").read_bytes())) == 1


def test_whether_a_directory_can_be_written_to_is_seen_without_a_trace(tmp_path, monkeypatch):
    files.require_writable(tmp_path / "a" / "b")
    assert names(tmp_path) == []
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("x" * 300)):
        with pytest.raises(OSError):
            files.require_writable(wrong)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(OSError, match=r"No space left on device: .*new"):
        files.require_writable(tmp_path / "new")
    assert names(tmp_path) == ["file"]


# Reading


@pytest.mark.parametrize(
    "way",
    [os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/zero", p), lambda p: os.symlink(p, p)],
    ids=["pipe", "directory", "device", "loop"],
)
def test_only_regular_files_are_read_and_nothing_is_waited_for(tmp_path, way):
    way(tmp_path / "x")
    start = time.monotonic()
    with pytest.raises(OSError):
        files.read(tmp_path / "x")
    assert time.monotonic() - start < 5


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert files.read(tmp_path / "x", 5) == b"12345"
    with pytest.raises(OSError, match="5 bytes, expected at most 4"):
        files.read(tmp_path / "x", 4)
    os.truncate(tmp_path / "x", 2**40)
    with pytest.raises(OSError, match="expected at most"):
        files.read(tmp_path / "x")


# Archives


ARRAYS = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "word": np.array("r̄_MIN"),
    "nothing": np.zeros((0, 3)),
    "one": np.array(True),
}


def archive(save=np.savez_compressed, **arrays):
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def test_arrays_come_back_as_they_were():
    found = npz.read(io.BytesIO(npz.write(ARRAYS)))
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)
    assert npz.write(ARRAYS) == archive(**ARRAYS)


def test_what_is_not_known_is_not_read():
    data = archive(a=np.zeros(2), bomb=np.zeros(10_000_000))
    assert list(npz.read(io.BytesIO(data), {"a"}.__contains__)) == ["a"]


def test_a_bomb_is_refused_before_it_is_inflated():
    data = archive(a=np.zeros(20_000_000))
    assert len(data) < 200_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="160,000,128 bytes, more than can be right"):
        npz.read(io.BytesIO(data))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_what_is_as_even_as_a_bomb_can_be_written_and_read():
    even = {"a": np.zeros(20_000_000)}
    assert np.array_equal(npz.read(io.BytesIO(npz.write(even)))["a"], even["a"])


def member(contents, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as made:
        made.writestr("a.npy", contents)
    return buffer.getvalue()


def npy(array, **changes):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    data = buffer.getvalue()
    for old, new in changes.items():
        assert data.count(old.encode()) == 1
        data = data.replace(old.encode(), new.encode())
    return data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        member(b""),
        member(b"hello"),
        member(npy(np.zeros(3))[:-1]),
        member(npy(np.zeros(3)) + b"x"),
        member(npy(np.zeros(3)), zipfile.ZIP_BZIP2),
        member(npy(np.zeros(3)), zipfile.ZIP_LZMA),
        member(npy(np.array([{}], object))),
        member(npy(np.zeros(3, complex))),
        member(npy(np.zeros(3), **{"(3,)": "(9,)"})),
        member(npy(np.zeros(3), **{"(3,), ": "(-3,),"})),
        member(npy(np.zeros(3)).replace(b"NUMPY\x01", b"NUMPY\x09")),
    ],
)
def test_what_is_no_archive_of_arrays_is_a_value_error(data):
    with pytest.raises(ValueError):
        npz.read(io.BytesIO(data))


def test_a_flipped_bit_is_found_or_does_no_harm():
    data = npz.write(ARRAYS)
    for bit in range(0, 8 * len(data), 7):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            found = npz.read(io.BytesIO(bytes(changed)))
        except ValueError:
            continue
        for name, array in found.items():
            if name in ARRAYS:
                assert np.array_equal(array, ARRAYS[name]), bit
