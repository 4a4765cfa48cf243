"""Running a command in this process, and a map to run it on."""

from __future__ import annotations

import json

import pytest

from taskalgebra.apps.cli import main

MAZE = """
#########
#A..#..B#
#...#...#
#.......#
#C..#..D#
#########

upper = A, B
west = A, C
"""


@pytest.fixture
def maze(tmp_path):
    """A file with a map of four goals and two named tasks."""
    path = tmp_path / "maze.txt"
    path.write_text(MAZE)
    return str(path)


@pytest.fixture
def run(capsys):
    """Run a command; returns its exit code, and what it wrote to stdout and stderr."""

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def document(run):
    """Run a command that succeeds with --json; returns the document, which is all it prints."""

    def document(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return document
