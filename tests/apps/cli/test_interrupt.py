"""Ctrl-C: a clean stop of every command, a KeyboardInterrupt in Python, soon, and true words."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

import taskalgebra as ta

SOON = 4.0  # CPU seconds; a chunk of compiled work takes a tenth of one, a kernel some to compile
MANY = str(10_000_000)


def process(*command, **options):
    return subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def computed(running):
    """The seconds for which a process has computed."""
    with open(f"/proc/{running.pid}/stat") as stat:
        ticks = stat.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def ended_children():
    """The CPU seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def work(running, seconds):
    """Let a process compute for so long: on a busy machine that takes many times as long."""
    enough, latest = computed(running) + seconds, time.monotonic() + 20 * seconds
    while running.poll() is None and computed(running) < enough and time.monotonic() < latest:
        time.sleep(0.02)


def stopped(running, after):
    """Exit code, stdout, stderr and CPU seconds until the end of a process that gets Ctrl-C.

    The clock would tell how busy the machine is.
    """
    try:
        ended = ended_children()
        work(running, after)
        assert running.poll() is None, running.communicate()
        before = computed(running)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
        return running.returncode, out, err, ended_children() - ended - before
    finally:
        running.kill()
        running.communicate()


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "top", "--slip", "0.1", "--episodes", MANY),
        ("solve", "top ^ left", "--slip", "0.1", "--episodes", MANY),
    ],
)
def test_a_command_stops_cleanly(arguments):
    code, out, err, seconds = stopped(process("-m", "taskalgebra.apps.cli", *arguments), 2.5)
    assert (code, out, err.strip()) == (130, "", "stopped")
    assert seconds < SOON


@pytest.mark.parametrize("after", [0.4, 0.8])
def test_it_stops_cleanly_while_it_is_still_starting(after):
    running = process("-m", "taskalgebra.apps.cli", "evaluate", "--slip", "0.1", "--episodes", MANY)
    code, out, err, _ = stopped(running, after)
    assert (out, err.strip()) == ("", "stopped")
    assert code in (130, -signal.SIGINT)  # which shells call 130 as well


HALF_MADE = """
import sys
import taskalgebra.apps.cli as cli
from llvmlite.binding.ffi import ObjectRef
class Ours:
    def __del__(self):
        raise ValueError("ours")
def command(*_, **__):
    for kind in (ObjectRef, Ours):
        kind.__new__(kind)  # as Ctrl-C leaves it before __init__
    raise KeyboardInterrupt
import taskalgebra.apps.cli.app as module
module.app = command
sys.exit(cli.main([]))
"""


def test_what_the_compiler_had_half_made_says_nothing_as_it_goes():
    ended = subprocess.run(
        [sys.executable, "-c", HALF_MADE], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 130
    assert "ObjectRef" not in ended.stderr and "_as_parameter_" not in ended.stderr
    assert "ValueError: ours" in ended.stderr and ended.stderr.endswith("stopped\n")


PYTHON = """
import taskalgebra as ta
world = ta.FourRooms(40, slip_probability={slip})
skills = ta.solve(world)
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""


@pytest.mark.parametrize(
    ("slip", "call"),
    [
        (0.1, "skills['x1'].evaluate(10_000_000)"),
        (0.1, "ta.learn(world, ['x1'], learner=ta.QLearning(steps=10**11))"),
        (0.0, "ta.learn(world, learner=ta.FewSteps(patience=10**11))"),
    ],
)
def test_in_python_it_is_a_keyboard_interrupt_and_comes_soon(slip, call):
    starts = "ta.FourRooms(40, slip_probability={slip})"
    script = PYTHON.format(slip=slip, call=call)
    if "patience" in call:  # a room that no start leads to: it looks for it for ever
        script = script.replace(starts.format(slip=slip), "ta.from_text('A..B#.', starts=[(0, 1)])")
        script = script.replace("ta.solve(world)", "ta.solve(world, {'a': ['A']})")
        script = script.replace("learn(world, ", "learn(world, {'a': ['A']}, ")
    running = process("-c", script)
    assert running.stdout.readline().strip() == "ready"
    code, out, err, seconds = stopped(running, 1.0)
    assert (code, out.strip(), err) == (0, "KeyboardInterrupt", "")
    assert seconds < SOON


def learning(out, *more):
    return process("-m", "taskalgebra.apps.cli", "learn", "--out", out, "--slip", "0.1", *more)


def stopped_within(out):
    """What learning says that was stopped when it had begun; a busy machine takes its time."""
    for after in (2.5, 8.0, 16.0):
        code, _, err, _ = stopped(learning(out, "--steps", 10**11), after)
        assert code == 130 and "Traceback" not in err
        if err.strip() != "stopped":
            break
    return err


def test_what_learn_says_is_there_is_there_and_resumes(tmp_path):
    out, folder = tmp_path / "rooms", tmp_path / "rooms.training"
    assert stopped_within(out).strip() == (
        f"stopped; what was learned is in {folder}, and the same command resumes from there"
    )
    saved = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert list(saved) == ["0 M_U.npz"]
    assert f"resuming from {folder}" in stopped_within(out)
    assert (folder / "0 M_U.npz").read_bytes() != saved["0 M_U.npz"]
    assert not out.exists()


def test_learn_stopped_before_it_has_begun_leaves_nothing_and_says_so(tmp_path):
    code, _, err, _ = stopped(learning(tmp_path / "rooms", "--steps", 10**11), 0.6)
    assert code == 130 and "Traceback" not in err
    if not (tmp_path / "rooms.training").exists():
        assert err.strip().startswith("stopped") and "resumes" not in err
        assert not list(tmp_path.iterdir())


def test_stopped_while_it_plays_its_skills_they_are_saved(run, tmp_path, monkeypatch):
    from taskalgebra.apps.cli import evaluate

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "played", stop)
    out = tmp_path / "rooms"
    code, _, err = run("learn", "--out", out, "--steps", "60000")
    assert code == 130 and err.strip() == f"stopped; the skills are saved in {out}"
    assert list(ta.load(out)) == ["top", "left"]


@pytest.mark.skipif(not os.path.isdir("benchmarks"), reason="run in a clone")
def test_a_benchmark_is_stopped_without_words_of_its_own():
    """A terminal sends Ctrl-C to the whole group of processes."""
    running = process("-m", "taskalgebra.apps.cli", "bench", "planning", start_new_session=True)
    try:
        time.sleep(3.0)
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=60)
    finally:
        running.kill()
        running.communicate()
    assert (running.returncode, err.strip()) == (130, "stopped")


SWALLOWED = """
import ctypes, signal, sys, time
from taskalgebra.apps.cli import commands, main
from taskalgebra.apps.cli.app import app

def deaf():
    callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
    callback()  # as a compiler calls back: exceptions are ignored there
    for _ in range(1000):
        time.sleep(0.01)
    return 0

commands.add(app, deaf, ())
sys.exit(main(["deaf"]))
"""


def test_a_ctrl_c_that_a_callback_swallows_is_not_lost():
    running = process("-c", SWALLOWED)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "stopped")
