"""The cache of compiled kernels: whatever becomes of it, kernels work, and one line says why."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib import invalidate_caches
from pathlib import Path

import numba
import pytest

from taskalgebra import compiled

CALLED = """
from taskalgebra.compiled import kernel

ONE = {one}

@kernel
def inner(x):
    return {scale} * x
"""
CALLING = """
from called_kernels import ONE, inner
from taskalgebra.compiled import kernel

@kernel
def outer(x):
    return inner(x) + ONE
"""
CALL = "from calling_kernels import outer; print(outer(20), outer(0.5))"
NOBODY = 65534
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
FRESH = ["41", "2.0", "0"]
CACHED = ["41", "2.0", "2"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with two modules of kernels, and a place for their cache."""
    write(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


@pytest.fixture
def start(place, monkeypatch, caplog):
    """Import the kernels as a new process would, and call them: what came out, what was logged."""

    def called():
        for name in ("called_kernels", "calling_kernels"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        invalidate_caches()
        monkeypatch.setattr(compiled, "_said", False)
        caplog.clear()
        from calling_kernels import outer

        out = [str(outer(20)), str(outer(0.5)), str(sum(outer.stats.cache_hits.values()))]
        return out, [record.getMessage() for record in caplog.records if "numba" not in record.name]

    return called


def write(place, one=1, scale=2):
    (place / "called_kernels.py").write_text(CALLED.format(one=one, scale=scale))
    (place / "calling_kernels.py").write_text(CALLING)


def files(place):
    return sorted(file for file in (place / "cache").rglob("*") if file.is_file())


def test_a_second_start_compiles_nothing(place, start):
    assert start() == (FRESH, [])
    assert len(files(place)) == 4  # two kernels with two signatures
    assert start() == (CACHED, [])


def test_kernels_are_compiled_again_when_what_they_call_or_read_has_changed(place, start):
    """Numba looks at the file of the caller alone, and would run the old machine code."""
    for one, scale, expected in ((1, 2, "41"), (1, 3, "61"), (5, 3, "65")):
        write(place, one, scale)
        assert start()[0][0] == expected
    assert len(files(place)) == 4  # what is out of date is replaced


DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "random": lambda data: bytes(range(256)) * 20,
    "one bit of the code": lambda data: data[:-200] + bytes([data[-200] ^ 1]) + data[-199:],
    "one bit of the digest": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "another pickle": lambda data: sha256(b"\x80\x04N.").digest() + b"\x80\x04N.",
    "a pickle of what is gone": lambda data: sha256(b"cno\nsuch\n.").digest() + b"cno\nsuch\n.",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_mended_and_said_once(place, start, damage):
    start()
    before = files(place)
    for file in before:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    out, lines = start()
    assert out == FRESH
    assert len(lines) == 1 and "damaged" in lines[0] and str(place / "cache") in lines[0]
    assert files(place) == before
    assert start() == (CACHED, [])


def test_the_code_of_another_signature_is_not_run(place, start):
    start()
    integer, real = (file for file in files(place) if "outer" in file.name)
    kept = integer.read_bytes()
    integer.write_bytes(real.read_bytes())
    real.write_bytes(kept)
    assert start()[0] == FRESH
    assert start()[0] == CACHED


def test_what_cannot_be_mended_is_said_once(place, start):
    start()
    for file in files(place):
        file.unlink()
        file.mkdir()
    out, lines = start()
    assert out == FRESH and len(lines) == 1 and "cannot be written" in lines[0]


def test_a_cache_that_vanishes_is_made_again(place, start):
    start()
    shutil.rmtree(place / "cache")
    assert start() == (FRESH, [])
    assert start() == (CACHED, [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_in_place_of_a_file_does_not_hang(place, start):
    start()
    for file in files(place):
        file.unlink()
        os.mkfifo(file)
    assert start() == (FRESH, [])
    assert start() == (CACHED, [])


def test_what_a_killed_writer_left_is_cleared(place, start):
    start()
    kept = files(place)
    for file in kept:
        file.unlink()
    stop = "import os; os.replace = lambda *_: os._exit(9); "
    killed = process(place, stop + CALL)
    assert killed.communicate(timeout=300) == ("", "") and killed.returncode == 9
    (left,) = files(place)
    assert left.suffix == ".tmp"
    assert start() == (FRESH, [])
    assert files(place) == kept


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_no_space_left_is_said_once(place, start, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    out, lines = start()
    monkeypatch.undo()
    assert out == FRESH and not files(place)
    assert len(lines) == 1 and os.strerror(errno.ENOSPC) in lines[0]


def process(place, script, user=None, **environment):
    """Run a script in a process of its own: its output, and its lines of errors."""
    source = str(Path(compiled.__file__).parents[1])
    paths = {"PYTHONPATH": os.pathsep.join([str(place), source])}
    command = [sys.executable, "-B", "-c", script]
    if user is not None:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    return subprocess.Popen(
        command,
        cwd=place,
        env=os.environ | paths | {"NUMBA_CACHE_DIR": str(place / "cache")} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="directories there are not read-only")
def test_a_read_only_installation_without_a_home_compiles_without_a_cache(place):
    if ROOT and not shutil.which("setpriv"):
        pytest.skip("for root, nothing is read-only")
    for above in place.parents:
        above.chmod(above.stat().st_mode | 0o055)
        if above.name.startswith("pytest-of-"):
            break
    place.chmod(0o555)
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "NUMBA_CACHE_DIR": ""}
    try:
        out, err = process(place, CALL, NOBODY if ROOT else None, **nowhere).communicate(
            timeout=300
        )
    finally:
        place.chmod(0o755)
    assert out.split() == FRESH[:2], err
    assert err.count("\n") == 1 and "NUMBA_CACHE_DIR" in err


def test_many_processes_at_once_share_the_cache(place, start):
    """Each begins with another signature, and leaves the files of the others alone."""
    scripts = [f"from calling_kernels import outer; print(outer({x}))" for x in ("20", "0.5", "1j")]
    running = [process(place, script) for script in scripts]
    ended = [one.communicate(timeout=300) for one in running]
    assert ended == [("41\n", ""), ("2.0\n", ""), ("(1+2j)\n", "")]
    assert start() == (CACHED, [])


def test_without_compilation_kernels_are_plain_functions(place):
    ended = process(place, CALL, NUMBA_DISABLE_JIT="1").communicate(timeout=300)
    assert ended == ("41 2.0\n", "") and not (place / "cache").exists()
