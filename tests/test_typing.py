"""The types of the public API, as mypy sees them from outside: in a user's own, strict file."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILE = TESTS / "user_typing.py"
WRONG = """
import taskalgebra as ta

skills = ta.solve(ta.FourRooms(), ["top", "left"])
skills.for_task("top").evaluate(episodes="many")
skills.for_task("top").evaluat()
name: str = skills.for_task("top").evaluate().mean_return
"""


def mypy(path, cache, **options):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    command += ["--cache-dir", str(cache), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_a_users_strict_file_has_the_types_that_it_asserts(cache, tmp_path):
    done = mypy(FILE, cache, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_types_rule_out_is_found(cache, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    done = mypy(wrong, cache, cwd=tmp_path)
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == ["5", "6", "7"], done.stdout + done.stderr


def test_the_file_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, str(FILE)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
