"""Terminals without Unicode: an ASCII map, and no command fails for want of a sign."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from taskalgebra import extras
from taskalgebra.signs import plain, shown_in

ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}


def ascii_run(*command, **more):
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, env={**ENVIRONMENT, **more}
    )
    return done.returncode, done.stdout.decode("ascii"), done.stderr.decode("ascii")


COMMANDS = [
    (("solve", "top ^ left", "--start", "1,1"), 0),
    (("solve", "名 & é"), 2),
    (("solve", "top", "--json"), 0),
    (("evaluate", "--episodes", "1"), 0),
    (("check",), 0),
    (("check", "four-rooms", "--slip", "0.1"), 1),
    (("list",), 0),
    (("list", "tasks"), 0),
    (("--help",), 0),
    (("solve", "--help"), 0),
    (("solve",), 2),
    (("learn", "--out", "x", "--steps", "3"), 1),
]
ONE_BY_ONE = """
import runpy, sys, traceback
for arguments in {commands}:
    sys.argv = ["taskalgebra", *arguments]
    try:
        runpy.run_module("taskalgebra", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = "an error"
    sys.stdout.flush()
    print("ended with", code, file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def in_ascii(tmp_path_factory):
    """How each command ended and what it said, one after the other in one process."""
    place = str(tmp_path_factory.mktemp("ascii") / "x")
    commands = [[place if a == "x" else a for a in given] for given, _ in COMMANDS]
    code, _, err = ascii_run("-c", ONE_BY_ONE.format(commands=ascii(commands)))
    assert code == 0, err
    ended = re.findall(r"(.*?)^ended with (.*?)\n", err, re.MULTILINE | re.DOTALL)
    return {given: said for (given, _), said in zip(COMMANDS, ended, strict=True)}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    COMMANDS,
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_every_command_works_in_ascii(arguments, expected, in_ascii):
    err, code = in_ascii[arguments]
    assert code == str(expected), err
    assert "Traceback" not in err and "UnicodeEncodeError" not in err


def test_the_map_is_drawn_in_ascii():
    _, out, _ = ascii_run("-m", "taskalgebra", "solve", "top & ~left")
    rows = [line for line in out.splitlines() if line.startswith("###")]
    assert len(rows) == 13 and {len(row) for row in rows} == {39}
    assert set("".join(rows)) == set("#^>v<*o ")
    assert "* desired   o not desired" in out
    code, shown, err = ascii_run(
        "-c", "import taskalgebra as ta; ta.solve(ta.FourRooms())['top & ~left'].show()"
    )
    assert (code, err) == (0, "")
    assert shown.splitlines()[1:] == rows


def test_the_demo_works_in_ascii(tmp_path):
    code = "import taskalgebra.apps.demo as d, runpy; d._draw = None"
    assert ascii_run("-c", code)[0] == 0
    assert plain("◆ Q̄ → é 名 …") == "* Q > e ? ..."
    assert shown_in("◆", "utf-8") == "◆" and shown_in("◆", "latin-1") == "*"
    assert shown_in("◆", None) == shown_in("◆", "klingon") == "*"


def test_hints_name_the_constraint_that_keeps_torch_small():
    with open("constraints.txt", encoding="utf-8") as file:
        pinned = re.findall(r"^torch==.*$", file.read(), re.MULTILINE)
    assert pinned == [extras.TORCH]
    assert f'pip install "taskalgebra[deep]" {extras.TORCH}' in extras.missing("nets", "x", "deep")
    assert extras.missing("the window", "pygame", "window") == (
        'the window needs pygame: pip install "taskalgebra[window]"'
    )


def test_the_extras_with_torch_are_those_of_the_project():
    import tomllib

    with open("pyproject.toml", "rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]

    def needs(extra):
        own = {re.split(r"[\[><=;]", package)[0] for package in declared[extra]}
        for package in declared[extra]:
            if inner := re.match(r"taskalgebra\[(.*)\]", package):
                own |= set().union(*(needs(other) for other in inner[1].split(",")))
        return own

    assert {extra for extra in declared if "torch" in needs(extra)} == extras.WITH_TORCH
