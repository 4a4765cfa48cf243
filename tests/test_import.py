"""What importing the package costs, and what it offers."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import taskalgebra

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def modules_after(statement):
    script = f"import sys; {statement}; import json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_importing_the_package_imports_nothing_heavy():
    loaded = modules_after("import taskalgebra")
    assert "taskalgebra" in loaded
    assert not loaded & {"torch", "numba", "gymnasium", "scipy", "matplotlib"}


def test_expressions_need_neither_numba_nor_gymnasium():
    loaded = modules_after("import taskalgebra; taskalgebra.parse('a & b')")
    assert "taskalgebra.logic.expression" in loaded
    assert not loaded & {"torch", "numba", "gymnasium"}


def test_planning_does_not_import_torch():
    loaded = modules_after("import taskalgebra as ta; ta.solve(ta.FourRooms())")
    assert "numba" in loaded
    assert "torch" not in loaded


@pytest.mark.parametrize("name", taskalgebra.__all__)
def test_every_public_name_resolves_to_something_of_that_name(name):
    value = getattr(taskalgebra, name)
    assert value.__name__ == name
    assert value.__module__.startswith("taskalgebra.")
    assert value.__doc__


def test_a_star_import_brings_exactly_the_public_names():
    names = {}
    exec("from taskalgebra import *", names)
    assert set(names) - {"__builtins__"} == set(taskalgebra.__all__)
    assert len(set(taskalgebra.__all__)) == len(taskalgebra.__all__)


def test_public_names_are_listed_before_they_are_imported():
    script = "import taskalgebra; print(sorted(taskalgebra.__all__) == sorted("
    script += "n for n in dir(taskalgebra) if n in taskalgebra.__all__))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("use", ["pass", "ta.solve(ta.FourRooms())['top'].evaluate(5)"])
def test_dir_holds_public_names_and_no_modules(use):
    script = f"import taskalgebra as ta; {use}; print(*(n for n in dir(ta) if n[:2] != '__'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == taskalgebra.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"taskalgebra.*'Telepathy'$"):
        _ = taskalgebra.Telepathy
    with pytest.raises(AttributeError, match=r"'Fourrooms'\. Did you mean 'FourRooms'"):
        _ = taskalgebra.Fourrooms


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "taskalgebra", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"taskalgebra {taskalgebra.__version__}\n")


def test_the_version_is_that_of_the_project():
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    assert taskalgebra.__version__ == project["version"]
