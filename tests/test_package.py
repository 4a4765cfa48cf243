"""Wheel and sdist hold what is needed to build and run, and nothing else.

`make test-wheel` installs them into a clean environment and runs them there.
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import taskalgebra as ta

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/taskalgebra"
NAME = f"taskalgebra-{ta.__version__}"
MOST = 10 * 2**20
"""Bytes; half of it are networks that are shipped."""
BESIDE = """
    .gitignore CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE PAPER.md PKG-INFO README.md
    constraints.txt pyproject.toml
""".split()


def build(tree, kind, out):
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = [path for path in out.iterdir() if path.suffix == (".whl", ".gz")[kind == "sdist"]]
    assert made.stat().st_size < MOST
    return made


def contents(wheel):
    """Names and bytes in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    return build(ROOT, "wheel", out), build(ROOT, "sdist", out)


@pytest.fixture(scope="module")
def in_package():
    """All files of the package, without what Python and numba keep beside them."""
    files = [path for path in PACKAGE.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(PACKAGE.parent)) for path in files if "__pycache__" not in path.parts
    }


def test_the_wheel_is_the_package_and_the_index_of_the_paper(made, in_package):
    found = contents(made[0])
    inner = {name for name in found if ".dist-info/" not in name}
    assert inner == in_package | {"taskalgebra/paper/report/PAPER.md"}
    assert found["taskalgebra/paper/report/PAPER.md"] == (ROOT / "PAPER.md").read_bytes()
    for data in ("py.typed", "apps/playground/static/index.html", "paper/report/style.css"):
        assert found[f"taskalgebra/{data}"] is not None
    assert sum(name.endswith(".safetensors") for name in found) >= 5
    metadata = found[f"{NAME}.dist-info/METADATA"].decode()
    assert "Typing :: Typed" in metadata and "Requires-Python: >=3.11" in metadata
    needs = {line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")}
    always = {line.split(": ")[1].split(">")[0] for line in needs if "extra ==" not in line}
    assert always == {"numpy", "numba", "gymnasium"}
    assert b"taskalgebra = taskalgebra.apps.cli:main" in found[f"{NAME}.dist-info/entry_points.txt"]


def test_the_sdist_is_what_the_wheel_is_built_from(made, in_package, tmp_path):
    with tarfile.open(made[1]) as archive:
        names = {member.name.removeprefix(f"{NAME}/") for member in archive if member.isfile()}
        assert names == {f"src/{name}" for name in in_package} | set(BESIDE)
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "dist").mkdir()
    again = build(tmp_path / NAME, "wheel", tmp_path / "dist")
    assert contents(again) == contents(made[0])
